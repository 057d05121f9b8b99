//! Headlines: what an event is called where a run is followed live. A stream is about one run, so what happens to the run
//! itself goes without saying whose; everything else says what it happened to.
//!
//! Pure and total: every kind of entry has a headline, and no two have the same. The kind itself stays in the entry.

use std::borrow::Cow;

/// Where whoever follows thinks in actions, and the record in permits and jobs.
const SAID_OTHERWISE: &[(&str, &str)] = &[("permit.redeemed", "action_started"), ("job.completed", "action_finished")];

/// `run.checkpoint_reached` is `checkpoint_reached`, `action.proposed` is `action_proposed`.
pub fn headline(kind: &str) -> Cow<'_, str> {
    if let Some((_, name)) = SAID_OTHERWISE.iter().find(|(said, _)| *said == kind) {
        return Cow::Borrowed(name);
    }
    match kind.strip_prefix("run.") {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(kind.replace('.', "_")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_to_the_run_goes_without_saying_whose() {
        for (kind, name) in [
            ("run.checkpoint_reached", "checkpoint_reached"),
            ("run.completed", "completed"),
            ("permit.redeemed", "action_started"),
            ("job.completed", "action_finished"),
            ("job.lease_lapsed", "job_lease_lapsed"),
            ("evidence.kept", "evidence_kept"),
            ("refused", "refused"),
        ] {
            assert_eq!(headline(kind), name);
        }
    }
}
