//! Phases: what of a run has a beginning and an end, and which entries those are. A table, so that it can be read in one look.

/// One thing that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) opens: &'static [&'static str],
    pub(super) closes: &'static [&'static str],
    /// Whether it is the time that people take.
    pub(super) waits: bool,
}

const fn work(name: &'static str, opens: &'static [&'static str], closes: &'static [&'static str]) -> Phase {
    Phase { name, opens, closes, waits: false }
}

const fn wait(name: &'static str, opens: &'static [&'static str], closes: &'static [&'static str]) -> Phase {
    Phase { name, opens, closes, waits: true }
}

/// What ends a run, for now or for good.
pub(super) const ENDS_OF_RUNS: &[&str] = &["run.completed", "run.failed", "run.cancelled"];

/// Of a run. Each is open at most once at a time.
pub(super) const OF_RUNS: &[Phase] = &[
    wait("plan", &["run.submitted"], &["run.plan_approved", "run.plan_rejected", "run.cancelled"]),
    work("spawn", &["run.started"], &["run.attached", "run.failed", "run.cancelled"]),
    wait(
        "checkpoint",
        &["run.checkpoint_reached"],
        &[
            "run.checkpoint_passed",
            "run.checkpoint_lapsed",
            "run.checkpoint_settled",
            "run.checkpoint_rejected",
            "run.rolled_back",
            "run.failed",
            "run.cancelled",
        ],
    ),
    wait("pause", &["run.paused", "run.exhausted"], &["run.resumed", "run.rolled_back", "run.failed", "run.cancelled"]),
    work("rollback", &["run.rolled_back"], &["run.restored", "run.cancelled"]),
    work("collection", &["run.finished"], &["run.collected", "run.completed", "run.failed", "run.cancelled"]),
    wait("results", &["run.finished"], &["run.completed", "run.results_rejected", "run.rolled_back", "run.cancelled"]),
    work("destruction", &["run.completed", "run.cancelled"], &["run.destroyed"]),
];

/// What happens in one moment.
pub(super) const MOMENTS: &[(&str, &str)] = &[("run.snapshot_kept", "snapshot"), ("run.step_finished", "step")];

/// What ends an action.
pub(super) const ENDS_OF_ACTIONS: &[&str] = &[
    "job.completed",
    "action.rejected",
    "action.superseded",
    "action.withdrawn",
    "action.expired",
    "action.rehearsed",
    "action.resolved",
];

/// Of an action, below its own span.
pub(super) const OF_ACTIONS: &[Phase] = &[
    wait(
        "approval",
        &["action.judged"],
        &["action.approved", "action.rejected", "action.superseded", "action.withdrawn", "action.expired"],
    ),
    work("job", &["job.leased"], &["job.completed", "job.lease_lapsed", "evidence.quarantined"]),
];
