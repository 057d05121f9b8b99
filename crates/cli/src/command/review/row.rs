//! What waits, as rows that stay where they are: known ones keep their order, new ones come last, until somebody asks for the order
//! anew. Pure.

use placet_domain::action::ActionStatus;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, RunId};
use placet_wire::api::{AttentionView, InboxView, StandingView, StandsFor, TwinView, WaitingView};

use crate::span::ms;

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Action(ActionId),
    Run(RunId, StandsFor),
}

impl Subject {
    /// The id of what it is about.
    pub(crate) fn id(self) -> String {
        match self {
            Self::Action(id) => id.to_string(),
            Self::Run(id, _) => id.to_string(),
        }
    }

    /// Where a browser shows it.
    pub(crate) fn page(self) -> String {
        match self {
            Self::Action(id) => format!("/actions/{id}"),
            Self::Run(id, _) => format!("/runs/{id}"),
        }
    }
}

/// How a row says that whoever looks set it aside.
const ASIDE: &str = "aside";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) subject: Subject,
    /// A letter, for an action.
    pub(crate) tier: Option<String>,
    /// What would be done, or what a run is for.
    pub(crate) what: String,
    pub(crate) agent: String,
    pub(crate) since_ms: i64,
    pub(crate) until_ms: Option<i64>,
    /// Identical ones, as far as the list names them.
    pub(crate) twins: Vec<TwinView>,
    /// How many of them there are.
    pub(crate) identical: u64,
    /// For whom it is, or that it was set aside, in a word.
    pub(crate) mark: Option<String>,
    /// The digest that stands now, where the list tells it.
    pub(crate) review: Option<Digest>,
    /// It broke off: whether it is run again is what is asked.
    pub(crate) is_interrupted: bool,
    /// Came since the order was last made.
    pub(crate) is_new: bool,
    /// Waits no more; stays until somebody looks elsewhere.
    pub(crate) is_gone: bool,
}

impl Row {
    /// What was set aside counts for others only.
    pub(crate) fn is_aside(&self) -> bool {
        self.mark.as_deref() == Some(ASIDE)
    }
}

/// What waits and has no row here, because it is for others or was set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unlisted {
    pub(crate) others: u64,
    pub(crate) aside: u64,
}

impl Unlisted {
    /// Of so many that wait, and so many that were set aside. Where one's own are not all fetched yet, those come first: nothing is said.
    pub(crate) fn beside(rows: &[Row], inbox: &InboxView) -> Self {
        if inbox.next.is_some() {
            return Self::default();
        }
        let questions = |is_aside: bool| {
            let of_actions = rows.iter().filter(|row| row.tier.is_some() && !row.is_interrupted);
            of_actions.filter(|row| row.is_aside() == is_aside).map(|row| 1 + row.identical).sum::<u64>()
        };
        let others = inbox.waiting.saturating_sub(questions(false));
        Self { others, aside: inbox.aside.saturating_sub(questions(true)) }
    }

    /// In words; nothing where everything has a row.
    pub(crate) fn told(self) -> Vec<String> {
        let others = (self.others > 0).then(|| format!("{} more of others", self.others));
        let aside = (self.aside > 0).then(|| format!("{} more aside", self.aside));
        others.into_iter().chain(aside).collect()
    }
}

/// What was interrupted; then actions, riskiest first, and runs that stand still, oldest first: as the control plane orders them.
pub(crate) fn rows(inbox: &InboxView) -> Vec<Row> {
    let interrupted = inbox.interrupted.iter().map(|waiting| Row { until_ms: None, ..of_action(waiting) });
    interrupted.chain(inbox.actions.iter().map(of_action)).chain(inbox.runs.iter().map(of_run)).collect()
}

fn of_action(waiting: &WaitingView) -> Row {
    let WaitingView { action, since, agent, goal: _, twins, more_twins, attention } = waiting;
    Row {
        subject: Subject::Action(action.id),
        tier: Some(action.verdict.tier.clone()),
        what: action.title.clone().unwrap_or_else(|| action.tool.clone()),
        agent: agent.clone(),
        since_ms: ms(since),
        until_ms: Some(ms(&action.deadline)),
        twins: twins.clone(),
        identical: twins.len() as u64 + more_twins,
        mark: mark(attention),
        review: Some(action.review),
        is_interrupted: action.status == ActionStatus::Interrupted,
        is_new: false,
        is_gone: false,
    }
}

fn of_run(run: &StandingView) -> Row {
    let StandingView { run, goal, agent, since, why } = run;
    let (subject, what, agent, since_ms) = (Subject::Run(*run, *why), goal.clone(), agent.clone(), ms(since));
    let (tier, until_ms, review, twins, mark) = (None, None, None, Vec::new(), None);
    Row {
        subject,
        tier,
        what,
        agent,
        since_ms,
        until_ms,
        twins,
        identical: 0,
        mark,
        review,
        is_interrupted: false,
        is_new: false,
        is_gone: false,
    }
}

/// What whoever looks set aside says so, whoever else should look.
fn mark(attention: &AttentionView) -> Option<String> {
    if attention.aside.iter().any(|aside| aside.is_yours) {
        return Some(ASIDE.to_owned());
    }
    let assigned = attention.assigned.as_ref()?;
    Some(if assigned.is_yours { "for you".to_owned() } else { format!("for {}", assigned.to) })
}

/// What was listed and what is listed now: nothing moves, what came is at the end, what is gone goes unless somebody looks at it.
pub(crate) fn merged(before: &[Row], now: Vec<Row>, chosen: Option<Subject>) -> Vec<Row> {
    let found = |subject: Subject| now.iter().find(|row| row.subject == subject);
    let kept = before.iter().filter_map(|row| match found(row.subject) {
        Some(now) => Some(Row { is_new: row.is_new, ..now.clone() }),
        None if Some(row.subject) == chosen => Some(Row { is_gone: true, ..row.clone() }),
        None => None,
    });
    let is_known = |row: &Row| before.iter().any(|known| known.subject == row.subject);
    // The first list is no news.
    let is_new = !before.is_empty();
    let come = now.iter().filter(|row| !is_known(row)).map(|row| Row { is_new, ..row.clone() });
    kept.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32) -> Row {
        let subject = Subject::Action(format!("act_{number:032x}").parse().unwrap());
        let (what, agent, tier) = ("sh".to_owned(), "tom".to_owned(), Some("B".to_owned()));
        let (since_ms, until_ms, review, twins, mark) = (0, None, None, Vec::new(), None);
        Row {
            subject,
            tier,
            what,
            agent,
            since_ms,
            until_ms,
            twins,
            identical: 0,
            mark,
            review,
            is_interrupted: false,
            is_new: false,
            is_gone: false,
        }
    }

    #[test]
    fn b4_nothing_moves_under_the_hand_and_what_comes_is_marked() {
        let before = [row(1), row(2), row(3)];
        let after = merged(&before, vec![row(9), row(3), row(1)], Some(row(2).subject));
        let seen: Vec<_> = after.iter().map(|row| (row.subject, row.is_new, row.is_gone)).collect();
        let of = |number| row(number).subject;
        let meant = [(of(1), false, false), (of(2), false, true), (of(3), false, false), (of(9), true, false)];
        assert_eq!(seen, meant);
    }

    #[test]
    fn the_first_list_is_no_news_and_what_nobody_looks_at_goes() {
        assert!(merged(&[], vec![row(1)], None).iter().all(|row| !row.is_new));
        assert_eq!(merged(&[row(1)], Vec::new(), None), []);
    }
}
