//! The inbox: what waits for a person. Actions by risk, then age, those that are identical as one row; then the runs that stand still.

use maud::{Markup, html};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, RunId};
use placet_domain::time::Timestamp;
use placet_wire::api::{ActionDetail, ActionView};

use crate::action::ActionPage;
use crate::brief::card_or_beginning;
use crate::card::title;
use crate::lang::Lang;
use crate::layout::{Here, Live, Viewer, page};
use crate::parts::{moment, parsed, tier};
use crate::text;

/// Everything that waits, as far as it is shown.
#[derive(Debug, Clone, Default)]
pub struct Inbox {
    pub actions: Vec<Waiting>,
    /// How many actions wait in all.
    pub waiting: u64,
    pub runs: Vec<Standing>,
    /// Only actions of this tier, if one was chosen.
    pub tier: Option<String>,
    /// Who is away until when, for whom the viewer stands in.
    pub absent: Vec<(String, Timestamp)>,
    /// What is looked at.
    pub chosen: Option<Box<ActionPage>>,
    /// Whether somebody chose it; otherwise it is what comes first.
    pub was_chosen: bool,
}

/// An action that waits, and those that are identical.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub detail: ActionDetail,
    pub since: Timestamp,
    pub agent: String,
    pub goal: String,
    pub twins: Twins,
}

/// Other waiting actions of the project of which the same would be done, and about which people are asked for the same reasons.
#[derive(Debug, Clone, Default)]
pub struct Twins(pub Vec<Twin>);

/// One of them: whose it is, and in which undertaking.
#[derive(Debug, Clone)]
pub struct Twin {
    pub id: ActionId,
    pub review: Digest,
    pub agent: String,
    pub goal: String,
}

impl Twins {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The action itself and its twins, each with what is decided on.
    pub(crate) fn all(&self, action: &ActionView) -> impl Iterator<Item = (ActionId, Digest)> {
        std::iter::once((action.id, action.review)).chain(self.0.iter().map(|twin| (twin.id, twin.review)))
    }
}

/// A run that stands still until somebody decides.
#[derive(Debug, Clone)]
pub struct Standing {
    pub run: RunId,
    pub goal: String,
    pub agent: String,
    pub since: Timestamp,
    pub why: Still,
}

/// For what a run stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Still {
    Plan,
    Checkpoint,
    Results,
    Wish,
}

impl Still {
    const fn told(self, lang: Lang) -> &'static str {
        match self {
            Self::Plan => lang.plan_waits(),
            Self::Checkpoint => lang.checkpoint_waits(),
            Self::Results => lang.results_wait(),
            Self::Wish => lang.wish_waits(),
        }
    }
}

pub fn inbox(viewer: &Viewer, inbox: &Inbox) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        // Where there is no room for both, the list is shown until somebody chooses, and then the card.
        div.split data-shows=(if inbox.was_chosen { "card" } else { "list" }) {
            section.list aria-labelledby="inbox" #list data-live="list" {
                h1 #inbox { (lang.nav_inbox()) " " small { (lang.waiting(viewer.waiting)) } }
                @for (name, until) in &inbox.absent {
                    p.note { (lang.you_stand_in_for()) " " strong { (text::line(lang, name)) } ", " (lang.away_until()) " " (moment(lang, *until, viewer.now)) }
                }
                (filters(lang, inbox.tier.as_deref()))
                @if inbox.waiting == 0 && inbox.runs.is_empty() { (empty(lang)) }
                (actions(viewer, inbox))
                (runs(viewer, &inbox.runs))
                p.keys { (lang.keys_hint()) }
            }
            div.detail {
                p.back { a href=(back(inbox.tier.as_deref())) { "← " (lang.nav_inbox()) } }
                @match &inbox.chosen {
                    Some(chosen) => (card_or_beginning(viewer, chosen)),
                    None => @if !inbox.actions.is_empty() { p.note { (lang.choose_left()) } },
                }
            }
        }
    };
    page(viewer, Here::Inbox, lang.nav_inbox(), &Live::of_all(), &content)
}

/// To the list, as it was.
fn back(tier: Option<&str>) -> String {
    tier.map_or_else(|| "/".to_owned(), |tier| format!("/?tier={tier}"))
}

fn filters(lang: Lang, chosen: Option<&str>) -> Markup {
    html! {
        p.filters {
            a href="/" aria-current=[chosen.is_none().then_some("true")] { (lang.filter_all()) }
            @for tier in ["B", "C"] {
                a href={ "/?tier=" (tier) } aria-current=[(chosen == Some(tier)).then_some("true")] { (lang.filter_tier()) " " (tier) }
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

fn actions(viewer: &Viewer, inbox: &Inbox) -> Markup {
    let lang = viewer.lang;
    let here = inbox.chosen.as_ref().map(|chosen| chosen.detail.action.id);
    let rows: u64 = inbox.actions.iter().map(|row| 1 + row.twins.len() as u64).sum();
    html! {
        @if !inbox.actions.is_empty() {
            h2.quiet { (lang.actions_waiting()) }
            ol.rows {
                @for row in &inbox.actions { li { (self::row(viewer, row, here, inbox.tier.as_deref())) } }
            }
            @if inbox.tier.is_none() && inbox.waiting > rows { p.note { (lang.number(inbox.waiting - rows)) " " (lang.more_wait()) } }
        }
    }
}

fn row(viewer: &Viewer, row: &Waiting, here: Option<ActionId>, chosen: Option<&str>) -> Markup {
    let (lang, action) = (viewer.lang, &row.detail.action);
    let query = chosen.map(|tier| format!("&tier={tier}")).unwrap_or_default();
    html! {
        a.row href={ "/?action=" (action.id) (query) } aria-current=[(here == Some(action.id)).then_some("true")] {
            (tier(lang, &action.verdict.tier))
            span.what { (text::line(lang, &title(&row.detail.spec))) }
            span.risk { (lang.decimal(action.verdict.risk)) }
            span.meta {
                (text::line(lang, &row.agent)) " · " (text::line(lang, &row.goal)) " · " (moment(lang, row.since, viewer.now))
                " · " (lang.decide_before()) " " (moment(lang, parsed(&action.deadline), viewer.now))
            }
            @if !row.twins.is_empty() { span.twins { "+" (row.twins.len()) " " (lang.identical()) } }
        }
    }
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
                            span.tier data-tier="run" { (run.why.told(lang)) }
                            span.what { (text::line(lang, &run.goal)) }
                            span.meta { (text::line(lang, &run.agent)) " · " (moment(lang, run.since, viewer.now)) }
                        }
                    }
                }
            }
        }
    }
}
