//! The inbox: what waits for a person. Actions by risk, then age, those that are identical as one row; what was interrupted; what waits for
//! others; then the runs that stand still. How its parts are addressed is in [`crate::markup::listing`].

use maud::{Markup, html};
use placet_control::read::standing::{Standing, Still};
use placet_control::read::waiting::Waiting;
use placet_domain::action::ActionStatus;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use crate::markup::action::ActionPage;
use crate::markup::brief::card_or_beginning;
use crate::markup::icons::{self, Icon, icon, ring};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::listing::{Listing, Part};
use crate::markup::parts::{exactly, moment, parsed, tier_word};
use crate::markup::{attention, text};

/// Everything that waits, as far as it is shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox {
    /// Which part of it is listed, and how.
    pub(crate) listing: Listing,
    /// What of that part is on this page.
    pub(crate) actions: Vec<Waiting>,
    /// Where the pages before and after this one begin, if there are any.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// What was interrupted, where all parts are shown.
    pub(crate) interrupted: Vec<Waiting>,
    /// What somebody named the viewer for, where all parts are shown.
    pub(crate) named: Vec<Waiting>,
    /// What waits for others, where all parts are shown and nothing else comes before.
    pub(crate) others: Vec<Waiting>,
    /// What the viewer set aside, under the same conditions.
    pub(crate) aside: Vec<Waiting>,
    /// How many actions wait in all.
    pub(crate) waiting: u64,
    pub(crate) runs: Vec<Standing>,
    /// The projects to choose from, where there are several.
    pub(crate) projects: Vec<(ProjectId, String)>,
    /// Who is away until when, for whom the viewer stands in.
    pub(crate) absent: Vec<(String, Timestamp)>,
    /// What the viewer has just decided.
    pub(crate) just: Option<Just>,
    /// What is looked at.
    pub(crate) chosen: Option<Box<ActionPage>>,
    /// Whether somebody chose it; otherwise it is what comes first.
    pub(crate) was_chosen: bool,
}

/// What the viewer has just decided.
#[derive(Debug, Clone)]
pub(crate) struct Just {
    pub(crate) id: ActionId,
    /// The kind of the entry.
    pub(crate) kind: String,
    pub(crate) title: String,
    /// How many were decided by that one word: it, and those that were identical.
    pub(crate) count: u64,
    /// The order that was given with it.
    pub(crate) order: Option<Given>,
    /// Whether somebody else is asked too.
    pub(crate) is_awaited: bool,
}

/// An order that the viewer has just given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    pub(crate) run: RunId,
    pub(crate) number: u32,
    /// How many more it approves.
    pub(crate) times: u32,
}

const fn told(still: Still, lang: Lang) -> &'static str {
    match still {
        Still::Plan => lang.plan_waits(),
        Still::Checkpoint => lang.checkpoint_waits(),
        Still::Results => lang.results_wait(),
        Still::Wish => lang.wish_waits(),
    }
}

const fn icon_of(still: Still) -> Icon {
    match still {
        Still::Plan => icons::BOOK,
        Still::Checkpoint => icons::PLAY,
        Still::Results => icons::TRAY,
        Still::Wish => icons::SLIDERS,
    }
}

pub(crate) fn inbox(viewer: &Viewer, inbox: &Inbox) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        @if let Some(just) = &inbox.just { (just_decided(lang, just)) }
        // Where there is no room for both, the list is shown until somebody chooses, and then the card.
        div.split data-shows=(if inbox.was_chosen { "card" } else { "list" }) {
            section.list aria-labelledby="inbox" #list data-live="list" {
                h1 #inbox { (lang.nav_inbox()) " " small { (lang.waiting(viewer.waiting)) } }
                @for (name, until) in &inbox.absent {
                    p.note { (lang.you_stand_in_for()) " " strong { (text::line(lang, name)) } ", " (lang.away_until()) " " (exactly(*until)) }
                }
                (filters(lang, inbox))
                (lists(viewer, inbox))
                p.keys { (lang.keys_hint()) }
            }
            div.detail {
                p.back { a href=(inbox.listing.link()) { "← " (lang.nav_inbox()) } }
                @match &inbox.chosen {
                    Some(chosen) => (card_or_beginning(&going_on(viewer, inbox), chosen)),
                    None => @if !inbox.actions.is_empty() { p.note { (lang.choose_left()) } },
                }
            }
        }
    };
    page(viewer, Here::Inbox, lang.nav_inbox(), &Live::of_all(), &content)
}

/// The viewer, who goes on with the neighbour of what they decide.
fn going_on(viewer: &Viewer, inbox: &Inbox) -> Viewer {
    let here = inbox.chosen.as_ref().map(|chosen| chosen.detail.action.id);
    let rows: Vec<ActionId> = [&inbox.interrupted, &inbox.named, &inbox.actions]
        .into_iter()
        .flatten()
        .map(|row| row.detail.action.id)
        .collect();
    let at = rows.iter().position(|id| Some(*id) == here);
    let neighbour = at.and_then(|at| rows.get(at + 1).or_else(|| rows.get(at.checked_sub(1)?)));
    let onward = neighbour.map_or_else(|| inbox.listing.query(), |next| inbox.listing.query_at(*next));
    Viewer { onward: Some(onward), ..viewer.clone() }
}

fn just_decided(lang: Lang, just: &Just) -> Markup {
    let did = match just.kind.as_str() {
        "action.rejected" => lang.you_rejected(),
        "action.superseded" => lang.you_amended(),
        "action.resolved" => lang.you_resolved(),
        _ => lang.you_approved(),
    };
    html! {
        p.notice #just role="status" {
            (did) " " @if just.count > 1 { (lang.number(just.count)) " " (lang.identical_actions()) " " }
            a href={ "/actions/" (just.id) } { (text::line(lang, &just.title)) }
            @if let Some(Given { run, number, times }) = just.order {
                " · " a href={ "/runs/" (run) "#orders" } { (lang.you_gave_order()) " " (number) } " (" (lang.number(times.into())) " " (lang.n_more_of_its_like(times.into())) ")"
            }
            @if just.is_awaited { " · " (lang.more_needed()) }
        }
    }
}

fn filters(lang: Lang, inbox: &Inbox) -> Markup {
    let (all, here) = (Listing { project: inbox.listing.project, ..Listing::default() }, &inbox.listing);
    let tiers = ["B", "C"].map(|tier| Listing { tier: Some(tier.to_owned()), ..all.clone() });
    let parts = [
        (Part::Others, lang.others_decide()),
        (Part::Aside, lang.set_aside()),
        (Part::Interrupted, lang.filter_interrupted()),
    ];
    let chip = |to: &Listing, name: &str| html! { a href=(to.link()) aria-current=[to.is_like(here).then_some("true")] { (name) } };
    html! {
        p.filters {
            (chip(&all, lang.filter_all()))
            @for to in &tiers { (chip(to, &format!("{} {}", lang.filter_tier(), to.tier.as_deref().unwrap_or_default()))) }
            @for (part, name) in parts { (chip(&Listing { part, ..all.clone() }, name)) }
        }
        @if inbox.projects.len() > 1 {
            p.filters {
                (chip(&Listing { project: None, from: None, ..here.clone() }, lang.all_projects()))
                @for (id, name) in &inbox.projects { (chip(&Listing { project: Some(*id), from: None, ..here.clone() }, name)) }
            }
        }
    }
}

fn lists(viewer: &Viewer, inbox: &Inbox) -> Markup {
    let (lang, part) = (viewer.lang, inbox.listing.part);
    let heading = match part {
        Part::Mine => lang.actions_waiting(),
        Part::Named => lang.named_for_you(),
        Part::Others => lang.others_decide(),
        Part::Aside => lang.set_aside(),
        Part::Interrupted => lang.interrupted_ones(),
    };
    let all = [&inbox.actions, &inbox.named, &inbox.interrupted, &inbox.others, &inbox.aside];
    let nothing = all.iter().all(|rows| rows.is_empty());
    let more = |part| Some(Listing { part, ..inbox.listing.clone() }.link());
    html! {
        @if nothing && inbox.runs.is_empty() {
            @if viewer.waiting == 0 { (empty(lang)) } @else { p.note { (lang.none_of_these()) } }
        }
        (rows(viewer, inbox, &inbox.interrupted, (lang.interrupted_ones(), None), more(Part::Interrupted)))
        (rows(viewer, inbox, &inbox.named, (lang.named_for_you(), None), more(Part::Named)))
        (rows(viewer, inbox, &inbox.actions, (heading, (part == Part::Others).then_some(lang.others_decide_hint())), None))
        (ways_on(lang, inbox))
        (rows(viewer, inbox, &inbox.others, (lang.others_decide(), Some(lang.others_decide_hint())), more(Part::Others)))
        (runs(viewer, &inbox.runs))
        (rows(viewer, inbox, &inbox.aside, (lang.set_aside(), Some(lang.set_aside_hint())), more(Part::Aside)))
    }
}

/// To the pages before and after.
fn ways_on(lang: Lang, inbox: &Inbox) -> Markup {
    html! {
        @if inbox.before.is_some() || inbox.after.is_some() {
            p.pages {
                @if let Some(spot) = &inbox.before { a #before rel="prev" href=(inbox.listing.before(spot).link()) { "← " (lang.ones_before()) } " " }
                @if let Some(spot) = &inbox.after { a #after rel="next" href=(inbox.listing.after(spot).link()) { (lang.next_ones()) " →" } }
            }
        }
    }
}

fn empty(lang: Lang) -> Markup {
    html! {
        div.empty {
            p { strong { (lang.nothing_waits()) } }
            p { (lang.nothing_waits_hint()) }
            pre { code { "placet run plan 'Summarise notes.txt' --scope notes" } }
        }
    }
}

/// Rows under a heading, with a way to all of them where these may not be all.
fn rows(
    viewer: &Viewer,
    inbox: &Inbox,
    rows: &[Waiting],
    (heading, hint): (&str, Option<&str>),
    all: Option<String>,
) -> Markup {
    let here = inbox.chosen.as_ref().map(|chosen| chosen.detail.action.id);
    html! {
        @if !rows.is_empty() {
            h2.quiet { (heading) @if let Some(all) = &all { " " a href=(all) { (viewer.lang.all_of_them()) } } }
            @if let Some(hint) = hint { p.note { (hint) } }
            ol.rows { @for row in rows { li { (self::row(viewer, row, here, &inbox.listing)) } } }
        }
    }
}

fn row(viewer: &Viewer, row: &Waiting, here: Option<ActionId>, listing: &Listing) -> Markup {
    let (lang, action) = (viewer.lang, &row.detail.action);
    let letter = &action.verdict.tier;
    html! {
        a.row href=(listing.link_at(action.id)) aria-current=[(here == Some(action.id)).then_some("true")] {
            b.letter data-tier=(letter) { (letter) }
            span.what { (text::line(lang, &row.detail.spec.title())) }
            span.aside { (lang.decimal(action.verdict.risk)) @if action.status == ActionStatus::PendingApproval { (ring(left(viewer, row))) } }
            span.meta {
                (tier_word(lang, letter))
                @if !action.approvals.is_empty() { " · " strong.ask { (action.approvals.len()) " " (lang.of_approvals()) " " (action.approvals.len() + action.approvals_missing) } }
                " · " strong { (text::line(lang, &row.agent)) } " · " (text::line(lang, &row.goal)) " · " (moment(lang, row.since, viewer.now))
                @if action.status == ActionStatus::PendingApproval {
                    " · " (lang.expires()) " " (moment(lang, parsed(&action.deadline), viewer.now))
                }
            }
            (attention::line(viewer, &row.attention))
            @if !row.twins.is_empty() { span.twins { "+" (lang.number(row.twins.count)) " " (lang.n_identical(row.twins.count)) } }
        }
    }
}

/// How much of the time in which it can be decided is left, in hundredths.
fn left(viewer: &Viewer, row: &Waiting) -> u64 {
    let (now, deadline) = (viewer.now.unix_ms(), parsed(&row.detail.action.deadline).unix_ms());
    let whole = row.since.unix_ms().abs_diff(deadline).max(1);
    if now < deadline { now.abs_diff(deadline).saturating_mul(100) / whole } else { 0 }
}

fn runs(viewer: &Viewer, runs: &[Standing]) -> Markup {
    let lang = viewer.lang;
    html! {
        @if !runs.is_empty() {
            h2.quiet { (lang.runs_waiting()) }
            ol.rows {
                @for run in runs {
                    li {
                        a.row href={ "/runs/" (run.run) } {
                            b.letter { (icon(icon_of(run.why))) }
                            span.what { (text::line(lang, &run.goal)) }
                            span.meta { (told(run.why, lang)) " · " strong { (text::line(lang, &run.agent)) } " · " (moment(lang, run.since, viewer.now)) }
                        }
                    }
                }
            }
        }
    }
}
