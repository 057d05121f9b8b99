//! OpenTelemetry: what the ledger says of runs, as traces for whoever collects them (one run is one trace), and the metrics that
//! Prometheus reads too.
//!
//! ```text
//! ledger ─► event meta (what begins and ends what) ─► trace (spans, pure) ─► otlp (JSON) ─► pumps/traces (sends, with a cursor)
//! telemetry ─► text of /metrics ─► exposition (reads it) ─► metrics (JSON) ─► pumps/metrics (sends, at intervals)
//! ```
//!
//! Of traces nothing is measured beside the ledger, so that a restart loses nothing. No goal, argument, output, reason or other text of
//! people and agents is ever part of a span: ids, names of tools and agents, kinds and outcomes are all.

mod exposition;
mod local;
mod metrics;
mod otlp;
mod send;
#[cfg(test)]
mod told;
mod trace;

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

pub(crate) use metrics::{Counted, metrics_request};
pub(crate) use otlp::request;
pub(crate) use send::{Sender, Taken};
pub(crate) use trace::{Span, Told, spans};

use local::LocalUrl;
pub use local::NotLocal;

/// Where traces and metrics go: an OTLP/HTTP collector on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector(LocalUrl);

impl Collector {
    /// Traces have a path of their own below the endpoint.
    pub(crate) fn traces(&self) -> Url {
        self.below("v1/traces")
    }

    /// And so have metrics.
    pub(crate) fn metrics(&self) -> Url {
        self.below("v1/metrics")
    }

    fn below(&self, path: &str) -> Url {
        let mut url = self.0.as_url().clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

impl FromStr for Collector {
    type Err = NotLocal;

    fn from_str(text: &str) -> Result<Self, NotLocal> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_url().as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_below_the_endpoint_and_never_off_this_machine() {
        for (endpoint, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("http://[::1]:4318/otel/", "http://[::1]:4318/otel/v1/traces"),
        ] {
            let collector = endpoint.parse::<Collector>().unwrap();
            assert_eq!(collector.traces().as_str(), traces);
            assert_eq!(collector.metrics().as_str(), traces.replace("traces", "metrics"));
        }
        for elsewhere in ["https://127.0.0.1:4318", "http://collector.example:4318", "4318"] {
            assert!(elsewhere.parse::<Collector>().is_err(), "{elsewhere}");
        }
    }
}
