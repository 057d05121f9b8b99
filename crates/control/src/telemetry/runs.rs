//! Metrics of runs: how long they take and wait, what they use up, where they stand still and what people decide there. All of
//! it is read off what was just recorded; no ids, no names, no contents.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use placet_domain::action::ActionStatus;
use placet_domain::event_meta::{DecisionOutcome, Metric};
use placet_domain::evidence::Usage;
use placet_domain::id::ActionId;
use placet_domain::record::Event;
use placet_domain::run::{Question, Run};
use placet_domain::time::Timestamp;
use placet_store::Receipt;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    /// `COMPLETED`, `FAILED` or `CANCELLED`.
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Checkpoint {
    /// `TIME`, `STEP`, `ACTION`, `COST` or `QUESTIONS`.
    kind: &'static str,
    /// `reached`, `approved`, `rejected`, `lapsed` or `unanswered`.
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    /// `plan`, `results`, a kind of checkpoint, or `action` for one that no checkpoint waits for.
    about: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Came {
    /// The status that actions came to.
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Became {
    /// `given`, `used` or `revoked`.
    event: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Decided {
    /// `allowed` or `refused`.
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Went {
    /// As seen from the cage: `up` or `down`.
    direction: &'static str,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// From a second to three days.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(1.0, 4.0, 10))
}

/// Beyond this, those that wait longest are no longer timed: memory stays bounded.
const MOST_WAITING: usize = 50_000;

/// All metrics of runs.
#[derive(Debug)]
pub(crate) struct RunMetrics {
    duration: Histograms<Ended>,
    worked: Histograms<Ended>,
    tokens: Counter,
    cost_usd_micros: Counter,
    checkpoints: Family<Checkpoint, Counter>,
    waited: Histograms<Asked>,
    rollbacks: Counter,
    actions: Family<Came, Counter>,
    orders: Family<Became, Counter>,
    cpu_ms: Counter,
    peak_memory_bytes: Histogram,
    network_requests: Family<Decided, Counter>,
    network_bytes: Family<Went, Counter>,
    /// Since when actions wait for people, of those that were proposed since the start.
    waiting: Mutex<HashMap<ActionId, Timestamp>>,
}

impl RunMetrics {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self {
            duration: Family::new_with_constructor(seconds),
            worked: Family::new_with_constructor(seconds),
            tokens: Counter::default(),
            cost_usd_micros: Counter::default(),
            checkpoints: Family::default(),
            waited: Family::new_with_constructor(seconds),
            rollbacks: Counter::default(),
            actions: Family::default(),
            orders: Family::default(),
            cpu_ms: Counter::default(),
            // From a megabyte to half a terabyte.
            peak_memory_bytes: Histogram::new(exponential_buckets(1_048_576.0, 4.0, 10)),
            network_requests: Family::default(),
            network_bytes: Family::default(),
            waiting: Mutex::default(),
        };
        metrics.register(registry);
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        let runs = "from the making of a run to its end";
        registry.register_with_unit("runs_duration", runs, Unit::Seconds, self.duration.clone());
        registry.register_with_unit(
            "runs_worked",
            "time at work of runs that ended",
            Unit::Seconds,
            self.worked.clone(),
        );
        registry.register("runs_tokens", "tokens that runs used", self.tokens.clone());
        registry.register(
            "runs_cost_usd_micros",
            "millionths of a dollar that runs cost",
            self.cost_usd_micros.clone(),
        );
        registry.register("checkpoints", "checkpoints by kind and what came of them", self.checkpoints.clone());
        let waited = "how long people took to decide, by what they were asked about";
        registry.register_with_unit("approval_wait", waited, Unit::Seconds, self.waited.clone());
        registry.register("runs_rollbacks", "how often runs went back to a snapshot", self.rollbacks.clone());
        registry.register("actions", "how often actions came to a status", self.actions.clone());
        let orders = "standing orders: given, used for an action that nobody looked at, revoked";
        registry.register("orders", orders, self.orders.clone());
        registry.register("sandbox_cpu_ms", "processor time of what was executed", self.cpu_ms.clone());
        let requests = "requests of cages to others, by what was decided";
        registry.register("sandbox_network_requests", requests, self.network_requests.clone());
        let bytes = "bytes that cages sent and were sent";
        registry.register("sandbox_network_bytes", bytes, self.network_bytes.clone());
        let peak = "the most memory that an execution used at one time";
        registry.register_with_unit("sandbox_peak_memory", peak, Unit::Bytes, self.peak_memory_bytes.clone());
    }

    /// Counts what was just recorded; what is only answered again is not counted again.
    pub(crate) fn observe(&self, receipt: &Receipt) {
        if receipt.replayed {
            return;
        }
        for record in &receipt.records {
            for metric in record.event.meta().metrics {
                self.count(metric, &record.event, receipt);
            }
        }
    }

    fn count(&self, metric: Metric, event: &Event, receipt: &Receipt) {
        let at = receipt.at;
        let run = || receipt.loaded.run.as_ref().filter(|run| matches!(event, Event::Run(id, _) if *id == run.id));
        match metric {
            Metric::Decision(outcome) => run().into_iter().for_each(|run| self.decided(outcome, run, at)),
            Metric::Checkpoint { kind, outcome } => self.checkpoint(kind.as_str(), outcome),
            Metric::Rollback => drop(self.rollbacks.inc()),
            Metric::RunEnd => run().into_iter().for_each(|run| self.ended(run, at)),
            Metric::Spent(spent) => {
                self.tokens.inc_by(spent.tokens);
                self.cost_usd_micros.inc_by(spent.usd_micros);
            }
            Metric::Order(event) => drop(self.orders.get_or_create(&Became { event }).inc()),
            Metric::Status { status, by_person } => {
                if let Event::Action(id, _) = event {
                    self.reached(*id, status, by_person, at);
                }
            }
            Metric::Usage(usage) => self.used(&usage),
            // Counted with the decisions.
            Metric::QuestionRefused(_) => {}
        }
    }

    /// What an execution used, as its worker reports it.
    fn used(&self, usage: &Usage) {
        self.cpu_ms.inc_by(usage.cpu_ms);
        self.peak_memory_bytes.observe(lossy(usage.peak_memory_bytes));
        let Some(traffic) = usage.network else { return };
        for (decision, count) in [("allowed", traffic.requests), ("refused", traffic.refused)] {
            self.network_requests.get_or_create(&Decided { decision }).inc_by(count);
        }
        for (direction, bytes) in [("up", traffic.bytes_up), ("down", traffic.bytes_down)] {
            self.network_bytes.get_or_create(&Went { direction }).inc_by(bytes);
        }
    }

    fn checkpoint(&self, kind: &'static str, outcome: &'static str) {
        self.checkpoints.get_or_create(&Checkpoint { kind, outcome }).inc();
    }

    /// What was decided at the standstill that a run just left. Silence is no decision, and its length says nothing of people.
    fn decided(&self, outcome: DecisionOutcome, run: &Run, at: Timestamp) {
        let Some(stood) = run.stood else { return };
        if let Question::Checkpoint(kind) = stood.asks {
            self.checkpoint(kind.as_str(), outcome.as_str());
        }
        if outcome != DecisionOutcome::Lapsed {
            self.wait(stood.asks.as_str(), stood.since, at);
        }
    }

    fn ended(&self, run: &Run, at: Timestamp) {
        let labels = Ended { status: run.status.as_str() };
        if let Some(created) = run.milestones.created_at {
            self.duration.get_or_create(&labels).observe(seconds_between(created, at));
        }
        self.worked.get_or_create(&labels).observe(lossy(run.clock.worked_ms(at)) / 1_000.0);
    }

    fn wait(&self, about: &'static str, since: Timestamp, until: Timestamp) {
        self.waited.get_or_create(&Asked { about }).observe(seconds_between(since, until));
    }

    /// Counts the status that an action reaches, and how long a person took to decide.
    fn reached(&self, id: ActionId, status: ActionStatus, by_person: bool, at: Timestamp) {
        self.actions.get_or_create(&Came { status: status.as_str() }).inc();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if status == ActionStatus::PendingApproval {
            if waiting.len() >= MOST_WAITING {
                waiting.clear();
            }
            waiting.insert(id, at);
            return;
        }
        let since = waiting.remove(&id);
        if let Some(since) = since.filter(|_| by_person) {
            self.wait("action", since, at);
        }
    }
}

fn seconds_between(since: Timestamp, until: Timestamp) -> f64 {
    let millis = u64::try_from(until.unix_ms().saturating_sub(since.unix_ms())).unwrap_or(0);
    lossy(millis) / 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floating-point numbers; nothing is decided by them")]
fn lossy(amount: u64) -> f64 {
    amount as f64
}
