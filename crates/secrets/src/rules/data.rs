//! Databases and services that hold data. Addresses with a password are found by [`crate::address`].

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "databricks-token",
        "Databricks token",
        &["dapi[a-f0-9]{32}", "dapi[a-f0-9]{32}-[0-9]", "dose[a-f0-9]{32}", "dkea[a-f0-9]{32}"],
    )
    .bits(3.0),
    token(
        "planetscale-token",
        "PlanetScale password or token",
        &[
            "pscale_pw_[A-Za-z0-9=._-]{32,64}",
            "pscale_tkn_[A-Za-z0-9=._-]{32,64}",
            "pscale_oauth_[A-Za-z0-9=._-]{32,64}",
        ],
    )
    .bits(3.3),
    token("supabase-key", "Supabase key", &["sbp_[a-f0-9]{40}", "sb_secret_[A-Za-z0-9_-]{30,40}"]).bits(3.0),
    token("neon-key", "Neon API key", &["napi_[a-z0-9]{60,70}"]).bits(3.5),
    token("mongodb-key", "MongoDB Atlas key", &["mdb_sa_sk_[A-Za-z0-9_-]{40}"]).bits(3.5),
    token("aiven-token", "Aiven token", &["AVNS_[A-Za-z0-9_-]{19,24}", "aivenv1[A-Za-z0-9+/=]{200,400}"]).bits(3.0),
    token("airtable-token", "Airtable token", &["pat[A-Za-z0-9]{14}.[a-f0-9]{64}"]).bits(3.3),
    named(
        "airtable-key",
        "Airtable key",
        &["airtable"],
        &["key[A-Za-z0-9]{14}", "[A-Za-z0-9]{17}", "pat[A-Za-z0-9]{14}.[a-f0-9]{64}"],
    )
    .bits(3.0),
    named("algolia-key", "Algolia key", &["algolia"], &["[a-f0-9]{32}", "[a-z0-9]{32}"]).bits(3.0),
    named(
        "confluent-secret",
        "Confluent secret",
        &["confluent", "kafka"],
        &["[A-Za-z0-9+/]{64}", "cflt[A-Za-z0-9+/]{60}", "[A-Z0-9]{16}"],
    )
    .bits(3.3),
    token("confluent-new-secret", "Confluent secret", &["cflt[A-Za-z0-9+/]{60}"]).bits(4.0),
    token("contentful-token", "Contentful token", &["CFPAT-[A-Za-z0-9_-]{43}"]).bits(3.5),
    named("contentful-delivery-token", "Contentful delivery token", &["contentful"], &["[A-Za-z0-9=_-]{43}"]).bits(3.5),
    token(
        "hubspot-token",
        "HubSpot token",
        &[
            "pat-na1-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "pat-eu1-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "pat-na2-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ],
    )
    .bits(3.0),
    named(
        "hubspot-key",
        "HubSpot key",
        &["hubspot"],
        &["[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"],
    ),
    token(
        "salesforce-token",
        "Salesforce session or consumer key",
        &["00D[A-Za-z0-9]{12}![A-Za-z0-9_.]{80,120}", "3MVG9[A-Za-z0-9._]{75,95}"],
    )
    .bits(3.5),
    token("apify-token", "Apify or Scalingo token", &["apify_api_[A-Za-z0-9]{36}", "tk-us-[A-Za-z0-9_-]{48}"])
        .bits(3.5),
    token(
        "dbt-token",
        "dbt Cloud or Prefect token",
        &["dbtc_[A-Za-z0-9_-]{36,44}", "dbtu_[A-Za-z0-9_-]{36,44}", "pnb_[A-Za-z0-9]{36}"],
    )
    .bits(3.3),
];
