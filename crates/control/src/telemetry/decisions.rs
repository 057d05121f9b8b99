//! Metrics of how people decide, and of how much is asked of them: outcomes, how many wait, how old the oldest is, what agents were not let
//! ask. No ids, no names; every label is one of a few words.

use std::sync::atomic::AtomicI64;

use placet_domain::deciding::{Decision, Outcome};
use placet_domain::event_meta::Metric;
use placet_domain::policy::Tier;
use placet_store::Receipt;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    /// `approved`, `rejected`, `amended`, `expired` or `withdrawn`.
    outcome: &'static str,
    /// `B` or `C`.
    tier: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Untaken {
    /// `undecided`: too many wait. `lately`: too many were asked in a while.
    why: &'static str,
}

#[derive(Debug, Default)]
pub(crate) struct DecisionMetrics {
    ended: Family<Ended, Counter>,
    single_operator: Counter,
    untaken: Family<Untaken, Counter>,
    waiting: Gauge<i64, AtomicI64>,
    oldest_seconds: Gauge<i64, AtomicI64>,
}

impl DecisionMetrics {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("decisions", "how questions to people ended", metrics.ended.clone());
        let alone = "approvals by the person behind the agent, where one person works alone";
        registry.register("single_operator_approvals", alone, metrics.single_operator.clone());
        let untaken = "questions of agents that were not taken, because people are asked too much";
        registry.register("questions_untaken", untaken, metrics.untaken.clone());
        registry.register("questions_waiting", "questions that wait for people", metrics.waiting.clone());
        let oldest = "how long the oldest question has waited";
        registry.register_with_unit("questions_oldest", oldest, Unit::Seconds, metrics.oldest_seconds.clone());
        metrics
    }

    /// Counts what was just recorded; what is only answered again is not counted again.
    pub(crate) fn observe(&self, receipt: &Receipt) {
        if receipt.replayed {
            return;
        }
        receipt.ended.iter().for_each(|decision| self.decided(decision));
        for metric in receipt.records.iter().flat_map(|record| record.event.meta().metrics) {
            if let Metric::QuestionRefused(why) = metric {
                self.untaken(why);
            }
        }
    }

    /// A question that was refused and left no entry, because one is there already.
    pub(crate) fn refused(&self) {
        self.untaken("undecided");
    }

    fn untaken(&self, why: &'static str) {
        self.untaken.get_or_create(&Untaken { why }).inc();
    }

    fn decided(&self, decision: &Decision) {
        let (outcome, tier) = (decision.outcome.as_str(), if decision.tier >= Tier::C { "C" } else { "B" });
        self.ended.get_or_create(&Ended { outcome, tier }).inc();
        if decision.single_operator && decision.outcome == Outcome::Approved {
            self.single_operator.inc();
        }
    }

    /// What waits now, and for how long the oldest of it.
    pub(crate) fn waits(&self, count: u64, oldest_ms: u64) {
        self.waiting.set(i64::try_from(count).unwrap_or(i64::MAX));
        self.oldest_seconds.set(i64::try_from(oldest_ms / 1_000).unwrap_or(i64::MAX));
    }
}
