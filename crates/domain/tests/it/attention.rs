//! ATTENTION: who should look at a question, and who set it aside. Nobody gets or loses a right by it.

use placet_domain::action::{ActionCommand, ActionStatus as Status, LONGEST_NOTE};
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;

use crate::people::Who;
use crate::scenario::{DAY_MS, HOUR_MS, Outcome, World};

fn pending(words: &str) -> World {
    World::new().with_action(words, Status::PendingApproval)
}

impl World {
    fn assigns(&mut self, who: Who, to: Option<Who>, note: &str) -> Outcome {
        let to = to.and_then(Who::id).map(|id| Box::new(self.identities[&id].clone()));
        self.by(who).act(ActionCommand::Assign { to, note: note.to_owned() })
    }

    fn defers(&mut self, who: Who, until: Option<Timestamp>) -> Outcome {
        self.by(who).act(ActionCommand::Defer { until })
    }

    fn named(&self) -> Option<Who> {
        self.action().attention.assigned.as_ref().and_then(|assigned| Who::from_id(assigned.to))
    }

    fn later(&self, millis: i64) -> Option<Timestamp> {
        Some(self.now.plus_ms(u64::try_from(millis).expect("a time to come")))
    }
}

#[test]
fn b4_somebody_is_named_told_why_named_otherwise_and_not_any_more() {
    let mut world = pending("build it");
    let before = (world.action().review(), world.action().deadline);
    let records = world.assigns(Who::Reviewer, Some(Who::SecondReviewer), "you know this tool").unwrap();
    assert_eq!(records.iter().map(|record| record.kind()).collect::<Vec<_>>(), ["action.assigned"]);
    let assigned = world.action().attention.assigned.clone().unwrap();
    assert_eq!((Some(assigned.to), Some(assigned.by)), (Who::SecondReviewer.id(), Who::Reviewer.id()));
    assert_eq!(assigned.note, "you know this tool");
    assert_eq!((world.action().review(), world.action().deadline), before, "it is the same question, for as long");
    let again = world.assigns(Who::Reviewer, Some(Who::SecondReviewer), "you know this tool");
    assert_eq!(again.unwrap_err().code(), "not_now", "nobody is told the same again");
    world.assigns(Who::Operator, Some(Who::Creator), "").unwrap();
    assert_eq!(world.named(), Some(Who::Creator));
    world.assigns(Who::SecondReviewer, None, "").unwrap();
    assert_eq!(world.named(), None);
    assert_eq!(world.assigns(Who::SecondReviewer, None, "").unwrap_err().code(), "not_now");
}

#[test]
fn b4_only_somebody_is_named_who_could_say_yes_to_it() {
    for (words, to, code) in [
        ("build it", Who::Stranger, "unknown"),
        ("build it", Who::Operator, "invalid"),
        ("build it", Who::Agent, "invalid"),
        ("build it", Who::Worker, "invalid"),
        ("build it", Who::Parent, "kin"),
        ("delete it", Who::Grandparent, "kin"),
    ] {
        let refused = pending(words).assigns(Who::Reviewer, Some(to), "").unwrap_err();
        assert_eq!(refused.code(), code, "{to:?}: {refused}");
    }
    let mut alone = World::single_operator().with_action("build it", Status::PendingApproval);
    alone.assigns(Who::Reviewer, Some(Who::Parent), "").expect("who works alone decides it, and can be named");
    let mut world = pending("delete it");
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.assigns(Who::Reviewer, Some(Who::SecondReviewer), "").unwrap_err().code(), "invalid");
    let gone = world.identities.get_mut(&Who::Creator.id().unwrap()).unwrap();
    gone.revoked = true;
    assert_eq!(world.assigns(Who::Reviewer, Some(Who::Creator), ""), Err(Refusal::Unknown { what: "identity" }));
}

#[test]
fn b4_naming_somebody_gives_no_right_and_takes_none() {
    let mut world = pending("build it");
    world.assigns(Who::Operator, Some(Who::SecondReviewer), "").unwrap();
    assert_eq!(world.by(Who::Operator).approves().unwrap_err().code(), "role");
    world.reviewer().approves().expect("whoever was not named decides as before");
    assert_eq!(
        (world.status(), world.action().attention.is_none()),
        (Status::Approved, true),
        "it ended with the question"
    );
}

#[test]
fn b4_agents_workers_and_auditors_name_nobody_and_set_nothing_aside() {
    for who in [Who::Agent, Who::ChildAgent, Who::Worker, Who::Auditor, Who::Admin] {
        let mut world = pending("build it");
        assert_eq!(world.assigns(who, Some(Who::Reviewer), "").unwrap_err().code(), "role", "{who:?}");
        let until = world.later(HOUR_MS);
        assert_eq!(world.defers(who, until).unwrap_err().code(), "role", "{who:?}");
    }
    assert_eq!(pending("build it").assigns(Who::Stranger, Some(Who::Reviewer), "").unwrap_err().code(), "unknown");
}

#[test]
fn b4_a_note_is_one_short_line() {
    for note in ["x".repeat(LONGEST_NOTE + 1), "two\nlines".to_owned(), "\u{1b}[2J".to_owned()] {
        assert_eq!(
            pending("build it").assigns(Who::Reviewer, Some(Who::Creator), &note).unwrap_err().code(),
            "invalid"
        );
    }
    pending("build it").assigns(Who::Reviewer, Some(Who::Creator), &"x".repeat(LONGEST_NOTE)).unwrap();
}

#[test]
fn b4_what_somebody_set_aside_is_back_by_itself_and_for_others_nothing_changed() {
    let mut world = pending("build it");
    let (deadline, until) = (world.action().deadline, world.later(HOUR_MS));
    world.defers(Who::Reviewer, until).unwrap();
    let [ada, bob] = [Who::Reviewer, Who::SecondReviewer].map(|who| who.id().unwrap());
    assert_eq!(world.action().attention.aside_at(ada, world.now), until);
    assert_eq!(world.action().attention.aside_at(bob, world.now), None, "only for whoever said so");
    assert_eq!(world.action().deadline, deadline, "silence is no consent, and no delay");
    let later = world.later(2 * HOUR_MS);
    world.defers(Who::Reviewer, later).unwrap();
    assert_eq!(world.action().attention.aside.len(), 1, "again changes the time");
    world.wait_ms(2 * HOUR_MS);
    assert_eq!(world.action().attention.aside_at(ada, world.now), None, "no clockwork is needed");
    assert_eq!(world.defers(Who::Reviewer, None).unwrap_err().code(), "not_now", "it is back already");
    let later = world.later(HOUR_MS);
    world.defers(Who::Reviewer, later).unwrap();
    world.defers(Who::Reviewer, None).unwrap();
    assert!(world.action().attention.is_none());
}

#[test]
fn b4_nothing_is_set_aside_beyond_its_deadline_or_into_the_past() {
    for millis in [0, DAY_MS, 2 * DAY_MS] {
        let mut world = pending("build it");
        let until = world.later(millis);
        assert_eq!(world.defers(Who::Reviewer, until).unwrap_err().code(), "invalid", "{millis}");
    }
    let mut world = pending("build it");
    world.wait_ms(DAY_MS);
    let until = world.later(1);
    assert_eq!(world.defers(Who::Reviewer, until), Err(Refusal::Expired));
}

#[test]
fn b4_whoever_decides_has_looked_and_what_is_asked_anew_is_another_question() {
    let mut world = pending("delete it");
    let until = world.later(HOUR_MS);
    world.defers(Who::Reviewer, until).unwrap();
    world.assigns(Who::Creator, Some(Who::Reviewer), "").unwrap();
    world.assigns(Who::Creator, Some(Who::SecondReviewer), "").unwrap();
    world.reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::PendingApproval);
    assert!(world.action().attention.aside.is_empty(), "they decided");
    assert_eq!(world.named(), Some(Who::SecondReviewer), "the other yes is still theirs to look at");
    world.change_policy();
    world.by(Who::Runtime).rejudges(placet_domain::policy::Tier::B).unwrap();
    assert!(world.action().attention.is_none(), "judged by another policy it is another question");
}
