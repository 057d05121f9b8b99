//! Hosts of source code and the machines that build it.

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "github-token",
        "GitHub token",
        &[
            "ghp_[A-Za-z0-9]{36}",
            "gho_[A-Za-z0-9]{36}",
            "ghu_[A-Za-z0-9]{36}",
            "ghs_[A-Za-z0-9]{36}",
            "ghr_[A-Za-z0-9]{36,80}",
            "v1.[0-9a-f]{40}",
        ],
    )
    .bits(3.0)
    .unlike(&[
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_tooShort",
        "ghp_000000000000000000000000000000000000",
    ]),
    token(
        "github-server-token",
        "GitHub app token in its long form",
        &["ghs_[A-Za-z0-9_-]{100,}", "ghs_[0-9]{1,12}_eyJ[A-Za-z0-9_.-]{60,}"],
    )
    .bits(3.5),
    token(
        "github-fine-grained-token",
        "GitHub fine-grained token",
        &["github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_[A-Za-z0-9_]{82}"],
    )
    .bits(3.5)
    .unlike(&["github_pat_example"]),
    named("github-secret", "GitHub application secret or old token", &["github"], &["[a-f0-9]{40}"]).bits(3.0),
    token(
        "gitlab-token",
        "GitLab token",
        &[
            "glpat-[A-Za-z0-9_-]{20,22}",
            "glpat-[A-Za-z0-9_-]{27,300}.[0-9a-z]{2}.[a-z0-9]{7,9}",
            "gldt-[A-Za-z0-9_-]{20}",
            "glrt-[A-Za-z0-9_-]{20}",
            "glrt-t[0-9]_[A-Za-z0-9_-]{20}",
            "glrt-t[0-9]_[A-Za-z0-9_-]{27,300}.[0-9a-z]{2}.[a-z0-9]{7,9}",
            "glcbt-[0-9a-zA-Z]{1,5}_[A-Za-z0-9_-]{20}",
            "glptt-[a-f0-9]{40}",
            "glft-[A-Za-z0-9_-]{20}",
            "glimt-[A-Za-z0-9_-]{25}",
            "glagent-[A-Za-z0-9_-]{50}",
            "gloas-[A-Za-z0-9_-]{64}",
            "glsoat-[A-Za-z0-9_-]{20}",
            "glffct-[A-Za-z0-9_-]{20}",
            "GR1348941[A-Za-z0-9_-]{20}",
            "glwt-[A-Za-z0-9_-]{20}",
        ],
    )
    .bits(3.0)
    .unlike(&["glpat-XXXXXXXXXXXXXXXXXXXX", "glpat-short"]),
    token("gitlab-session", "session cookie of GitLab", &["_gitlab_session=<[0-9a-z]{32}>"]).bits(3.0),
    token(
        "bitbucket-token",
        "Bitbucket access token or app password",
        &["ATBB[A-Za-z0-9]{32}", "ATCTT3xFfGN0[A-Za-z0-9_=-]{160,260}", "BBDC-[A-Za-z0-9+/@_-]{40,50}"],
    )
    .bits(3.3),
    named("bitbucket-secret", "Bitbucket OAuth secret", &["bitbucket"], &["[A-Za-z0-9=_-]{32,64}"]).bits(3.3),
    token(
        "atlassian-token",
        "Atlassian API token",
        &["ATATT3xFfGF0[A-Za-z0-9_=-]{160,260}", "ATSTT3xFfG[A-Za-z0-9_=-]{160,260}"],
    )
    .bits(4.0),
    named(
        "atlassian-old-token",
        "Atlassian API token",
        &["atlassian", "jira", "confluence"],
        &["[A-Za-z0-9]{24}", "[A-Za-z0-9]{20}[A-F0-9]{4}"],
    )
    .bits(3.5),
    token(
        "sourcegraph-token",
        "Sourcegraph token",
        &["sgp_[a-f0-9]{16}_[a-f0-9]{40}", "sgp_local_[a-f0-9]{40}", "sgp_[a-f0-9]{40}", "slk_[a-f0-9]{64}"],
    )
    .bits(3.0),
    token("gitea-token", "Gitea or Forgejo token", &["gta_[a-f0-9]{40}"]).bits(3.0),
    token(
        "circleci-token",
        "CircleCI token",
        &["CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}", "CCIPRJ_[A-Za-z0-9]{22}_[a-f0-9]{40}"],
    )
    .bits(3.0),
    named("circleci-old-token", "CircleCI token", &["circle"], &["[a-f0-9]{40}"]).bits(3.0),
    named("travis-token", "Travis CI token", &["travis"], &["[A-Za-z0-9_-]{22}"]).bits(3.3),
    named("drone-token", "Drone CI token", &["drone"], &["[A-Za-z0-9]{32}"]).bits(3.3),
    named(
        "codecov-token",
        "Codecov token",
        &["codecov"],
        &["[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[a-z0-9]{32}"],
    ),
    token(
        "buildkite-token",
        "Buildkite token",
        &["bkua_[a-f0-9]{40}", "bkat_[A-Za-z0-9_-]{30,}", "bkct_[A-Za-z0-9_-]{30,}"],
    )
    .bits(3.0),
    named("jenkins-api-token", "Jenkins API token", &["jenkins"], &["11[a-f0-9]{32}", "[a-f0-9]{32}"]).bits(3.0),
    token(
        "sonar-token",
        "SonarQube token",
        &["squ_[a-f0-9]{40}", "sqp_[a-f0-9]{40}", "sqa_[a-f0-9]{40}", "sqb_[a-f0-9]{40}"],
    )
    .bits(3.0),
    named("sonar-old-token", "SonarQube token", &["sonar"], &["[a-f0-9]{40}"]).bits(3.0),
    named("snyk-token", "Snyk token", &["snyk"], &["[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"]),
    token(
        "harness-token",
        "Harness token",
        &["pat.[A-Za-z0-9_-]{22}.[a-f0-9]{24}.[A-Za-z0-9]{20}", "sat.[A-Za-z0-9_-]{22}.[a-f0-9]{24}.[A-Za-z0-9]{20}"],
    )
    .bits(3.3),
    token("octopus-key", "Octopus Deploy API key", &["API-[A-Z0-9]{26}", "API-[A-Z0-9]{32}"]).bits(3.0),
    token("codeclimate-token", "Code Climate reporter token", &["CODECLIMATE_REPO_TOKEN=<[a-f0-9]{64}>"]).bits(3.0),
    token("postman-key", "Postman API key", &["PMAK-[a-f0-9]{24}-[a-f0-9]{34}"]).bits(3.0),
    token(
        "figma-token",
        "Figma token",
        &["figd_[A-Za-z0-9_-]{40}", "figdr_[A-Za-z0-9_-]{40}", "figu_[A-Za-z0-9_-]{40}"],
    )
    .bits(3.5),
];
