//! The books of a client: everything the control plane has acknowledged, so that it can be held to it later.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::ActionStatus;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_wire::api::{ActionView, Job};

/// What was acknowledged of one action.
#[derive(Debug, Clone, Default)]
pub(crate) struct Acknowledged {
    pub(crate) approved: bool,
    /// The attempt whose permit was redeemed, and by which worker.
    pub(crate) redeemed: Option<(u32, usize)>,
    pub(crate) completed: Option<Digest>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    pub(crate) actions: BTreeMap<ActionId, Acknowledged>,
    /// Permits whose redemption was acknowledged, by the number of the worker that redeemed them.
    pub(crate) spent: Vec<(usize, Job)>,
    /// Signed heads, as they were given out.
    pub(crate) heads: Vec<placet_wire::api::HeadView>,
}

impl Books {
    pub(crate) fn of(&mut self, id: ActionId) -> &mut Acknowledged {
        self.actions.entry(id).or_default()
    }

    /// Where what stands now contradicts what was acknowledged.
    pub(crate) fn contradictions(&self, now: &BTreeMap<ActionId, ActionView>) -> Vec<String> {
        let contradiction = |(id, acknowledged): (&ActionId, &Acknowledged)| match now.get(id) {
            None => Some(format!("{id} was acknowledged and is gone")),
            Some(view) => acknowledged.contradicts(view).map(|why| format!("{id} is {}: {why}", view.status)),
        };
        self.actions.iter().filter_map(contradiction).collect()
    }
}

impl Acknowledged {
    fn contradicts(&self, view: &ActionView) -> Option<String> {
        let started = [ActionStatus::Executing, ActionStatus::Succeeded, ActionStatus::Interrupted];
        if let Some(evidence) = self.completed {
            let holds = view.status == ActionStatus::Succeeded && view.evidence == Some(evidence);
            return (!holds).then(|| format!("its completion with {evidence} was acknowledged"));
        }
        if let Some((attempt, _)) = self.redeemed {
            let holds = started.contains(&view.status) && view.attempt == attempt;
            return (!holds)
                .then(|| format!("the redemption of attempt {attempt} was acknowledged; now at {}", view.attempt));
        }
        let lost = self.approved && (view.status == ActionStatus::PendingApproval || view.approvals.is_empty());
        lost.then(|| "its approval was acknowledged".to_owned())
    }
}

/// Attempts whose permit the ledger says was redeemed more than once.
pub(crate) fn redeemed_twice(redemptions: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut seen = BTreeSet::new();
    redemptions.into_iter().filter(|attempt| !seen.insert(attempt.clone())).collect()
}

#[test]
fn the_books_notice_what_is_missing_and_what_happened_twice() {
    let mut books = Books::default();
    books.of("act_00000000000070008000000000000000".parse().unwrap()).approved = true;
    assert_eq!(books.contradictions(&BTreeMap::new()).len(), 1, "what is gone is noticed");
    let attempt = |number| ("act".to_owned(), number);
    assert_eq!(redeemed_twice([attempt(1), attempt(2)]), []);
    assert_eq!(redeemed_twice([attempt(1), attempt(2), attempt(1)]), [attempt(1)]);
}
