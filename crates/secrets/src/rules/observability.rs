//! Logs, metrics and errors: whoever has one of these can read what a system says, or make it say something else.

use crate::rule::{Shipped, named, token};

const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

pub(super) const RULES: &[Shipped] = &[
    named(
        "datadog-key",
        "Datadog API or application key",
        &["datadog", "dd_api", "dd_app", "ddog"],
        &["[a-f0-9]{32}", "[a-f0-9]{40}", "[a-z0-9]{40}"],
    )
    .bits(3.0),
    token("datadog-app-key", "Datadog key in its long form", &["ddapp_[A-Za-z0-9]{34,40}", "ddp_[A-Za-z0-9]{30,40}"])
        .bits(3.3),
    token(
        "newrelic-key",
        "New Relic key",
        &[
            "NRAK-[A-Z0-9]{27}",
            "NRII-[A-Za-z0-9_-]{32}",
            "NRJS-[a-f0-9]{19}",
            "NRAA-[a-f0-9]{27}",
            "NRIQ-[A-Za-z0-9_-]{32}",
            "NRSP-[a-z]{2}[0-9]{2}[a-f0-9]{31}",
            "NRRA-[a-f0-9]{42}",
            "[a-f0-9]{36}NRAL",
            "eu01xx[a-f0-9]{30}NRAL",
        ],
    )
    .bits(2.8),
    named(
        "newrelic-secret",
        "New Relic key",
        &["newrelic", "new_relic", "new-relic"],
        &["[a-f0-9]{40}", "[A-Za-z0-9]{64}"],
    )
    .bits(3.0),
    token(
        "sentry-token",
        "Sentry token",
        &["sntrys_[A-Za-z0-9+/=_]{60,}", "sntryu_[a-f0-9]{64}", "sntrya_[a-f0-9]{64}"],
    )
    .bits(3.0),
    named("sentry-secret", "Sentry token", &["sentry"], &["[a-f0-9]{64}", "[a-f0-9]{32}"]).bits(3.0),
    token(
        "grafana-token",
        "Grafana token",
        &["glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", "glc_[A-Za-z0-9+/=]{32,400}", "eyJrIjoi[A-Za-z0-9]{60,400}"],
    )
    .bits(3.3),
    token(
        "dynatrace-token",
        "Dynatrace token",
        &[
            "dt0c01.[A-Z0-9]{24}.[A-Z0-9]{64}",
            "dt0s01.[A-Z0-9]{8,24}.[A-Z0-9]{64}",
            "dt0s02.[A-Z0-9]{8,24}.[A-Z0-9]{64}",
        ],
    )
    .bits(3.5),
    token(
        "honeycomb-key",
        "Honeycomb key",
        &["hcaik_[a-z0-9]{58}", "hcamk_[a-z0-9]{58}", "hcaic_[a-z0-9]{58}", "hcxik_[a-z0-9]{58}"],
    )
    .bits(3.3),
    token(
        "axiom-token",
        "Axiom token",
        &[
            "xaat-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "xapt-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ],
    )
    .bits(3.0),
    token("posthog-key", "PostHog personal key", &["phx_[A-Za-z0-9]{30,60}", "phs_[A-Za-z0-9]{30,60}"]).bits(3.5),
    named("sumologic-key", "Sumo Logic key", &["sumo"], &["su[A-Za-z0-9]{12}", "[A-Za-z0-9]{64}"]).bits(3.0),
    named(
        "rollbar-token",
        "key of an error or log service",
        &[
            "rollbar",
            "bugsnag",
            "loggly",
            "logdna",
            "logzio",
            "papertrail",
            "honeybadger",
            "airbrake",
            "raygun",
            "scalyr",
            "mixpanel",
            "amplitude",
            "segment",
            "splunk",
            "pagerduty",
            "opsgenie",
            "statuspage",
            "uptimerobot",
            "pingdom",
            "instana",
            "librato",
        ],
        &["[a-f0-9]{32}", UUID, "[A-Za-z0-9]{32}", "[A-Za-z0-9_+-]{20}", "[A-Za-z]{32}"],
    )
    .bits(3.0),
    token(
        "splunk-token",
        "authorization of Splunk's collector",
        &["Splunk <[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}>"],
    )
    .bits(3.0),
    token("elastic-key", "Elastic Cloud or API key", &["essu_[A-Za-z0-9+/=]{40,}", "ApiKey <[A-Za-z0-9+/]{58}==>"])
        .bits(3.5),
    token(
        "launchdarkly-key",
        "LaunchDarkly key",
        &[
            "sdk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "api-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "mob-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ],
    )
    .bits(3.0),
    named("launchdarkly-secret", "LaunchDarkly token", &["launchdarkly"], &["[A-Za-z0-9=_-]{40}"]).bits(3.3),
    token("readme-key", "ReadMe or Rootly key", &["rdme_[a-z0-9]{70}", "rootly_[a-f0-9]{64}"]).bits(3.0),
];
