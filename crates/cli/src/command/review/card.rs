//! A card as the terminal shows it: text from what the control plane says, the digest it is bound to, and what can be decided. Pure.
//!
//! The order is that of the pages: why somebody is asked, what it touches, exactly what will run, files, history, and last what the agent
//! says, marked.

use placet_domain::action::ActionStatus;
use placet_domain::text::marked;
use placet_wire::api::{
    AttentionView, CardView, CheckpointView, HistoryView, RunView, StandsFor, TwinView, WishList, WishView,
};

use super::files;
use super::row::Subject;
use crate::card::{Before, below_head, tier_word};
use crate::command::run::{checkpoint_text, plan_text, results_text, wishes_text};
use crate::command::word::takes_name;
use crate::out::{ASK, BAD, BOLD, DIM, styled};

/// What is typed before something happens, and why it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) word: String,
    pub(crate) why: &'static str,
    /// Whoever has decided a lot looks at each by itself for a while.
    pub(crate) is_brake: bool,
}

/// What can be decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum May {
    /// Whoever looks may decide. Where two people are asked, or by whoever has decided a lot lately, a word is typed.
    Decide { typed: Option<Typed> },
    /// Not this person, or not now, and why.
    Not(String),
    /// Nothing any more: who decided, and when.
    Settled(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) subject: Subject,
    pub(crate) title: String,
    /// The digest that a decision is bound to.
    pub(crate) seen: String,
    /// Which of several: a checkpoint, a wish, an attempt that was interrupted.
    pub(crate) number: Option<u32>,
    /// What is decided is whether it is run again.
    pub(crate) is_interrupted: bool,
    pub(crate) body: String,
    /// The files alone.
    pub(crate) diff: String,
    pub(crate) may: May,
    /// The snapshots that somebody can go back to from here, the newest first.
    pub(crate) back_to: Vec<u32>,
}

impl Card {
    /// Whether something else stands there, or something else can be decided.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        self.seen != other.seen || self.may != other.may || self.number != other.number
    }

    /// The beginning of the digest, for people who compare.
    pub(crate) fn digest(&self) -> String {
        self.seen.chars().take("sha256:".len() + 12).collect()
    }
}

pub(crate) fn of_action(view: &CardView, before: Option<&Before>) -> Card {
    let (detail, action) = (&view.detail, &view.detail.action);
    let is_interrupted = action.status == ActionStatus::Interrupted;
    let diff = files::text(&view.files);
    let beside = format!("{diff}{}{}", history(view.history), bound(view));
    Card {
        subject: Subject::Action(action.id),
        title: format!("{} {}", action.verdict.tier, marked(&detail.spec.title())),
        seen: action.review.to_string(),
        number: is_interrupted.then_some(action.attempt),
        is_interrupted,
        body: head(view) + &below_head(detail, before, &beside),
        diff: if diff.is_empty() { "it is given no files".to_owned() } else { diff },
        may: may(view),
        back_to: Vec::new(),
    }
}

fn may(view: &CardView) -> May {
    let action = &view.detail.action;
    match (&view.cannot, view.may_decide, action.status) {
        (None, true, ActionStatus::PendingApproval | ActionStatus::Interrupted) => May::Decide { typed: typed(view) },
        (None, true, _) => May::Not("it is decided in the browser (o), or with `placet run perform`".to_owned()),
        (Some(why), _, _) => May::Not(marked(why)),
        (None, false, status) => May::Settled(decided(view, status.as_str())),
    }
}

/// The tool's name, where it is asked for.
fn typed(view: &CardView) -> Option<Typed> {
    let (action, word) = (&view.detail.action, view.detail.action.tool.clone());
    if takes_name(action) {
        return Some(Typed { word, why: "two people are asked", is_brake: false });
    }
    view.look_twice.then_some(Typed { word, why: "you have decided a lot lately", is_brake: true })
}

/// Who decided and when, as the ledger has it.
fn decided(view: &CardView, status: &str) -> String {
    let decisions = [
        "action_approved",
        "action_rejected",
        "action_superseded",
        "action_withdrawn",
        "action_expired",
        "action_resolved",
    ];
    let last = view.entries.iter().rev().find(|entry| decisions.contains(&entry.event.as_str()));
    match last {
        Some(entry) => format!("{status}: {} by {} at {}", entry.event, marked(&entry.by), entry.at),
        None => status.to_owned(),
    }
}

/// What it is, whose, and whether it can be taken back.
fn head(view: &CardView) -> String {
    let action = &view.detail.action;
    let tier = styled(BOLD, format!("{} {}", action.verdict.tier, tier_word(&action.verdict.tier)));
    let because = action.because.as_deref().map(|why| format!(": {}", marked(why))).unwrap_or_default();
    let undo = match view.snapshot {
        Some(number) => format!("its run can go back to snapshot {number}"),
        None => styled(ASK, "there is no snapshot to go back to"),
    };
    let approved = if view.approved_by.is_empty() {
        String::new()
    } else {
        format!("\napproved by {}", marked(&view.approved_by.join(", ")))
    };
    let (agent, goal) = (styled(BOLD, marked(&view.agent)), marked(&view.goal));
    let attention = attention_text(&view.attention);
    let brake =
        if view.look_twice { styled(ASK, "you have decided a lot lately; look twice") + "\n" } else { String::new() };
    format!(
        "{tier} {} ({})\n{}{because}\nby {agent} for {goal}\n{undo}{approved}\n{brake}{attention}",
        styled(BOLD, &action.tool),
        action.kind,
        action.status
    )
}

/// Who should look at it, and who set it aside: beside the question, and no part of what a decision is bound to.
pub(crate) fn attention_text(attention: &AttentionView) -> String {
    let note = |note: &str| if note.is_empty() { String::new() } else { format!(": {}", marked(note)) };
    let assigned = attention.assigned.iter().map(|assigned| match assigned.is_yours {
        true => format!("{}{}\n", styled(ASK, format!("for you, by {}", marked(&assigned.by))), note(&assigned.note)),
        false => {
            let (to, by) = (marked(&assigned.to), marked(&assigned.by));
            format!("{to} looks at it, asked by {by}{}\n", note(&assigned.note))
        }
    });
    let aside = attention.aside.iter().map(|aside| {
        let who = if aside.is_yours { "you".to_owned() } else { marked(&aside.who) };
        format!("{who} set it aside until {}\n", aside.until)
    });
    assigned.chain(aside).collect()
}

/// Who else would get what is approved here, and for what: above the card, for it is no part of it.
pub(crate) fn twins_text(twins: &[TwinView]) -> String {
    if twins.is_empty() {
        return String::new();
    }
    let row = |twin: &TwinView| {
        let (agent, goal) = (styled(BOLD, marked(&twin.agent)), marked(&twin.goal));
        format!("  {} by {agent} for {goal}\n", twin.id)
    };
    let rows: String = twins.iter().map(row).collect();
    format!("{}\n{rows}\n", styled(ASK, format!("Approved with it: {} identical", twins.len())))
}

/// The ids and digests, whole.
fn bound(view: &CardView) -> String {
    let action = &view.detail.action;
    let rows = [
        ("action", action.id.to_string()),
        ("digest", action.digest.to_string()),
        ("review", action.review.to_string()),
        ("run", action.run.to_string()),
        ("policy", action.verdict.policy.to_string()),
        ("since", view.since.clone()),
    ];
    let rows: String = rows.iter().map(|(name, value)| format!("  {name:<8} {}\n", styled(DIM, value))).collect();
    format!("\n{}\n{rows}", styled(BOLD, "What your decision is bound to"))
}

fn history(history: HistoryView) -> String {
    let HistoryView { approved, rejected, succeeded, failed } = history;
    let heading = styled(BOLD, "This tool in this project, in the last 30 days");
    if history == HistoryView::default() {
        return format!("\n{heading}\n  {}\n", styled(ASK, "nobody has decided about it yet"));
    }
    format!("\n{heading}\n  {approved} approved, {rejected} rejected, {succeeded} succeeded, {failed} failed\n")
}

/// A plan or results that wait, or that do no more.
pub(crate) fn of_run(run: &RunView, why: StandsFor) -> Card {
    let waits = match why {
        StandsFor::Plan => "PENDING_APPROVAL",
        StandsFor::Results => "PENDING_EXPORT",
        StandsFor::Checkpoint => "CHECKPOINT_REACHED",
        StandsFor::Wish => "EXECUTING",
    };
    let text = if why == StandsFor::Results { results_text(run) } else { plan_text(run) };
    let status = run.status.to_string();
    Card {
        subject: Subject::Run(run.id, why),
        title: format!("{} of {}", question(why), marked(&run.goal)),
        seen: run.review.to_string(),
        number: None,
        is_interrupted: false,
        body: format!("{}\n\n{text}", styled(DIM, format!("{} {status} {}", run.id, run.meaning))),
        diff: "a run has no files of its own here; `placet run show` lists them".to_owned(),
        may: if status == waits { May::Decide { typed: None } } else { settled(run) },
        back_to: Vec::new(),
    }
}

fn settled(run: &RunView) -> May {
    let because = run.because.as_deref().map(|why| format!(": {}", marked(why))).unwrap_or_default();
    May::Settled(format!("{} {}{because}", run.status, run.meaning))
}

pub(crate) const fn question(why: StandsFor) -> &'static str {
    match why {
        StandsFor::Plan => "plan",
        StandsFor::Checkpoint => "checkpoint",
        StandsFor::Results => "results",
        StandsFor::Wish => "wish",
    }
}

/// A checkpoint where a run stands; or what became of it.
pub(crate) fn of_checkpoint(run: &RunView, checkpoint: Option<&CheckpointView>) -> Card {
    let card = of_run(run, StandsFor::Checkpoint);
    let Some(seen) = checkpoint else { return Card { may: settled(run), ..card } };
    Card {
        seen: seen.review.to_string(),
        number: Some(seen.number),
        body: format!("{}\n\n{}", checkpoint_text(seen), plan_text(run)),
        may: match seen.action {
            Some(action) => May::Not(format!("decide on its action {action}")),
            None => May::Decide { typed: None },
        },
        back_to: back_to(run, seen),
        ..card
    }
}

fn back_to(run: &RunView, at: &CheckpointView) -> Vec<u32> {
    if !at.options.iter().any(|option| option == "rollback") {
        return Vec::new();
    }
    let mut numbers: Vec<u32> = run.snapshots.iter().map(|snapshot| snapshot.number).collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers
}

/// The first wish of a run that waits, among all of them.
pub(crate) fn of_wishes(run: &RunView, list: &WishList) -> Card {
    let card = of_run(run, StandsFor::Wish);
    let waiting = list.wishes.iter().find(|wish| wish.status == "WAITING");
    let all = format!("{}\n{}\n\n{}", styled(BOLD, "Everything it was refused"), wishes_text(list), plan_text(run));
    let Some(wish) = waiting else { return Card { body: all, may: settled(run), ..card } };
    let WishView { number, opening, action, asked_at, review, .. } = wish;
    let asked = format!(
        "{}\n  wish     {number}\n  opens    {}\n  for      {action}\n  asked    {asked_at}\n  lasts    one hour from your yes\n",
        styled(BAD, "It asks to reach"),
        marked(opening)
    );
    Card {
        seen: review.to_string(),
        number: Some(*number),
        body: format!("{asked}\n{all}"),
        may: May::Decide { typed: None },
        ..card
    }
}
