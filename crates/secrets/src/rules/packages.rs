//! Registries of packages: whoever has one of these can publish code that others run.

use crate::rule::{Check, Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token("npm-token", "npm access token", &["npm_[A-Za-z0-9]{36}"])
        .bits(3.3)
        .unlike(&["npm_config_registry_something_long_enough"]),
    token(
        "npm-auth",
        "credentials in an .npmrc",
        &[
            "_authToken=<[A-Za-z0-9_.+/=-]{20,}>",
            "_password=<[A-Za-z0-9+/=]{8,}>",
            "_authToken = <[A-Za-z0-9_.+/=-]{20,}>",
        ],
    )
    .bits(3.0),
    token(
        "npm-basic-auth",
        "user and password in an .npmrc",
        &["_auth=<[A-Za-z0-9+/=]{8,}>", "_auth = <[A-Za-z0-9+/=]{8,}>"],
    )
    .check(Check::Credentials),
    token(
        "pypi-token",
        "PyPI upload token",
        &["pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}", "pypi-AgENdGVzdC5weXBpLm9yZw[A-Za-z0-9_-]{50,}"],
    )
    .bits(3.5),
    token("crates-io-token", "crates.io token", &["cio[A-Za-z0-9]{32}"]).bits(3.8),
    token("rubygems-key", "RubyGems API key", &["rubygems_[a-f0-9]{48}"]).bits(3.0),
    token("nuget-key", "NuGet API key", &["oy2[a-z0-9]{43}"]).bits(3.5),
    token("docker-token", "Docker Hub token", &["dckr_pat_[A-Za-z0-9_-]{27}", "dckr_oat_[A-Za-z0-9_-]{32}"]).bits(3.3),
    token(
        "docker-auth",
        "user and password of a registry in Docker's settings",
        &[
            "\"auth\": \"<[A-Za-z0-9+/=]{8,}>",
            "\"auth\":\"<[A-Za-z0-9+/=]{8,}>",
            "\\\"auth\\\":\\\"<[A-Za-z0-9+/=]{8,}>",
        ],
    )
    .check(Check::Credentials),
    token("clojars-token", "Clojars deploy token", &["CLOJARS_[a-z0-9]{60}"]).bits(3.5),
    token(
        "artifactory-token",
        "Artifactory token or key",
        &["AKCp[A-Za-z0-9]{69}", "AKCp[A-Za-z0-9]{10,80}", "cmVmdGtuOj[A-Za-z0-9]{54}"],
    )
    .bits(3.5),
    named(
        "artifactory-key",
        "Artifactory key",
        &["artifactory", "jfrog", "bintray"],
        &["[A-Za-z0-9]{64}", "[A-Za-z0-9]{73}", "[a-f0-9]{40}"],
    )
    .bits(3.0),
    token(
        "packagist-token",
        "Packagist token",
        &["packagist_uut_[a-f0-9]{68}", "packagist_ort_[a-f0-9]{68}", "packagist_out_[a-f0-9]{68}"],
    )
    .bits(3.0),
    token("hex-pm-key", "Cloudsmith or Prefect key", &["csk_[A-Za-z0-9]{30,50}", "pnu_[a-zA-Z0-9]{36}"]).bits(3.3),
    token("gradle-publish-key", "Sonatype user token", &["NXSEC-[A-Za-z0-9+/=_-]{30,}"]).bits(3.3),
    token(
        "conda-token",
        "anaconda.org token",
        &["/t/<[a-z]{2}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}>/"],
    )
    .bits(3.0),
];
