//! One action: its card, what can be decided about it, and what came of it.

use maud::{Markup, html};
use placet_control::read::Blast;
use placet_control::read::around::{History, Who};
use placet_control::read::entries::{Decided, Yes};
use placet_control::read::files::FileShown;
use placet_control::read::waiting::Twins;
use placet_domain::action::ActionStatus;
use placet_domain::evidence::{Manifest, NotTakenBecause};
use placet_domain::id::ActionId;
use placet_domain::reason::StatusReason;
use placet_domain::time::Timestamp;
use placet_lang::{Lang, meaning};
use placet_wire::api::{ActionDetail, ActionView, OrderOffer};

use crate::markup::amend::{self, Amending};
use crate::markup::attention::{self, Attended};
use crate::markup::card::{self, Ask};
use crate::markup::files::files;
use crate::markup::forms::{Form, confirmation, reason, reason_inside};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::log::{self, LogShown};
use crate::markup::output::{Output, left_as, said};
use crate::markup::parts::{digest, exactly, fact, moment, parsed, section, short, size, status, tier};
use crate::markup::passkeys::{self, Place};
use crate::markup::stage::Stage;
use crate::markup::{order, reasons, refusals, text};

/// As many identical ones as stand beside the decision without pushing it out of sight.
const FEW: usize = 5;

/// Everything there is to see of an action.
#[derive(Debug, Clone)]
pub(crate) struct ActionPage {
    pub(crate) detail: ActionDetail,
    /// When it was proposed.
    pub(crate) since: Timestamp,
    pub(crate) agent: String,
    pub(crate) goal: String,
    pub(crate) blast: Blast,
    pub(crate) files: Vec<FileShown>,
    pub(crate) history: History,
    /// One of its run that was approved and differs only in what stands in its files.
    pub(crate) lookalike: Option<ActionId>,
    /// Who can decide, while somebody is asked.
    pub(crate) who: Option<Who>,
    /// How far its run is: the step that it works on, and how many there are.
    pub(crate) step: Option<(u32, u32)>,
    /// Who should look at it, who set it aside, and what the viewer can say about that.
    pub(crate) attended: Attended,
    pub(crate) ask: Ask,
    /// What a reviewer may make of it.
    pub(crate) amending: Amending,
    /// What a standing order on it could be, where its viewer could give one.
    pub(crate) order: Option<OrderOffer>,
    /// Who approved it so far.
    pub(crate) approved_by: Vec<Yes>,
    /// Whether the viewer has decided so much lately that they are asked to look twice.
    pub(crate) fast: bool,
    /// How it was decided, if it was: the kind of the entry, by whom, and when.
    pub(crate) decided: Option<Decided>,
    /// Others that are identical and can be decided with it.
    pub(crate) twins: Twins,
    pub(crate) evidence: Option<Manifest>,
    /// What its program said, as far as it is shown.
    pub(crate) outputs: Vec<Output>,
    /// What its program says while it is executed.
    pub(crate) log: Option<LogShown>,
    /// Its entries of the ledger: number and kind.
    pub(crate) entries: Vec<(u64, String)>,
}

pub(crate) fn action(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let title = shown.detail.spec.title();
    // What answers a form has no address of its own, and what was written in it stays.
    let live = if shown.amending.tried.is_some() { Live::around() } else { Live::of_run(shown.detail.action.run) };
    let content = html! {
        (amend::not_taken(viewer.lang, shown))
        (card(viewer, shown, Room::Own))
        // Beside the card: what is told there once a second must not exchange what somebody decides on.
        @if let Some(said) = &shown.log { (log::section(viewer.lang, said)) }
    };
    page(viewer, Here::Inbox, &title, &live, &content)
}

/// Where a card stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Beside the list, where it has to be there at once.
    Inbox,
    /// On a page of its own, with everything there is.
    Own,
}

/// The card with everything that can be done about it; part of the inbox too. What keeps itself up to date is named by what it binds:
/// another card is never put in its place under somebody's hand.
pub(crate) fn card(viewer: &Viewer, shown: &ActionPage, room: Room) -> Markup {
    let (lang, detail, stage) = (viewer.lang, &shown.detail, stage(shown));
    // Of what is over people want to know first what came of it.
    let is_over = shown.evidence.is_some();
    html! {
        article.card #card data-live=(live_key(shown)) data-at={ "/actions/" (detail.action.id) } {
            (head(viewer, shown))
            (waits_again(lang, &detail.action))
            (broke_off(viewer, detail))
            @if shown.ask == Ask::Settled { (decided(viewer, shown)) }
            @if is_over { (outcome(viewer, shown)) }
            // First, so that nobody decides without having had it before their eyes.
            (card::exactly(lang, detail, stage))
            div.two { (card::why(lang, detail, stage, shown.who.as_ref())) (card::blast_radius(lang, detail, stage, &shown.blast)) }
            @if !shown.files.is_empty() { (section("files", lang.given_files(), &files(viewer, detail.action.id, &shown.files, &shown.ask))) }
            @if shown.ask == Ask::Settled && !shown.approved_by.is_empty() { (section("approvals", lang.approvals(), &approvals(viewer, shown))) }
            (card::history(lang, &shown.history, viewer.now))
            (card::words(lang, detail))
            (record(viewer, shown))
            (attention::forms(viewer, shown))
            (otherwise(viewer, shown, room))
            (decide(viewer, shown))
        }
    }
}

pub(crate) fn head(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    html! {
        header {
            p.path { a href={ "/runs/" (action.run) } { (text::line(lang, &shown.goal)) } " / " a href={ "/actions/" (action.id) } { (short(&action.id.to_string())) } }
            h1 { (tier(lang, &action.verdict.tier)) " " (text::line(lang, &shown.detail.spec.title())) }
            p.by {
                strong { (text::line(lang, &shown.agent)) } " " (lang.proposed()) " " code { (action.tool) } " (" (action.kind) ") · "
                (moment(lang, shown.since, viewer.now)) " · " (status(action.status.as_str()))
                @if let Some((step, of)) = shown.step { " · " (lang.step_of(step, of)) }
                @if let Some(reason) = &action.reason { " · " (why_it_stands(lang, reason)) }
                (order::by_order(lang, action))
                @if action.amendment.is_some() { " · " strong.ask { (lang.amended_by()) } }
                @if let Some(next) = action.superseded_by { " · " a href={ "/actions/" (next) } { (short(&next.to_string())) } }
            }
            @if let Some(other) = shown.lookalike { p.ask.lookalike { (lang.looks_approved()) " " a href={ "/actions/" (other) } { (short(&other.to_string())) } } }
            @if !waits(action) { p { (meaning::of_action(lang, action.status)) } }
            (attention::told(viewer, &shown.attended.said))
        }
    }
}

/// Two identical wishes of one agent have one digest, and are two questions.
pub(crate) fn live_key(shown: &ActionPage) -> String {
    let action = &shown.detail.action;
    format!("card-{}-{}", action.id, action.review)
}

pub(crate) fn stage(shown: &ActionPage) -> Stage {
    Stage::of(shown.detail.action.status, shown.evidence.as_ref())
}

fn waits(action: &ActionView) -> bool {
    action.status == ActionStatus::PendingApproval
}

/// How its execution ended, which nobody said; or what somebody said when they ended it.
fn why_it_stands(lang: Lang, reason: &StatusReason) -> Markup {
    html! {
        @match reason {
            StatusReason::Exited { exit } => (reasons::of_exit(lang, exit)),
            other => q { (reasons::of_status(lang, other)) },
        }
    }
}

/// What a reviewer made of it needs a person again: whose yes it has, and whose it lacks.
fn waits_again(lang: Lang, action: &ActionView) -> Markup {
    html! {
        @if let Some(amendment) = action.amendment.as_ref().filter(|_| waits(action)) {
            p.ask role="status" { (if amendment.no_riskier { lang.waits_for_more() } else { lang.waits_for_another() }) }
        }
    }
}

/// Whoever says what becomes of it wants to know whose hands it was in, and for how long nobody knows what it did.
fn broke_off(viewer: &Viewer, detail: &ActionDetail) -> Markup {
    let lang = viewer.lang;
    html! {
        @if let Some(broke) = &detail.interruption {
            @let (began, heard, lost) = (parsed(&broke.started_at), parsed(&broke.heard_at), parsed(&broke.interrupted_at));
            (section("broke-off", lang.interrupted_waits(), &html! {
                dl.facts {
                    (fact(lang.broke_worker(), &html! { a href={ "/workers/" (broke.worker) } { (text::line(lang, &broke.worker_name)) } }))
                    (fact(lang.broke_attempt(), &html! { (broke.attempt) }))
                    (fact(lang.broke_began(), &html! { (exactly(began)) " (" (moment(lang, began, viewer.now)) ")" }))
                    (fact(lang.broke_heard(), &html! { (exactly(heard)) " · " (lang.broke_worked()) " " (lang.span(began.unix_ms().abs_diff(heard.unix_ms()))) }))
                    (fact(lang.broke_lost(), &html! { (exactly(lost)) " (" (moment(lang, lost, viewer.now)) ")" }))
                }
            }))
        }
    }
}

/// Whether a person is asked for a yes or a no.
pub(crate) fn is_asked(shown: &ActionPage) -> bool {
    match shown.ask {
        Ask::Settled | Ask::No(_) => false,
        Ask::Yes | Ask::Sign(_) | Ask::NoPasskey => waits(&shown.detail.action),
    }
}

/// Other ways to say yes, folded before the decision: unfolded within it, they would push it out of sight.
fn otherwise(viewer: &Viewer, shown: &ActionPage, room: Room) -> Markup {
    html! {
        @if is_asked(shown) {
            @if let Some(offer) = &shown.order { (order::give(viewer, &shown.detail.action, offer)) }
            (amend::amend(viewer, shown, room))
        }
    }
}

fn decide(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    match &shown.ask {
        Ask::Settled => html! {},
        Ask::No(why) => html! {
            section.panel.decide aria-labelledby="decide" {
                h2 #decide { (lang.you_cannot()) }
                p { (refusals::refusal(lang, why)) }
                (approvals(viewer, shown))
            }
        },
        Ask::Yes if action.status == ActionStatus::Interrupted => interrupted(viewer, shown),
        Ask::Yes if action.status == ActionStatus::Rehearsed => rehearsed(viewer, shown),
        Ask::Yes | Ask::Sign(_) | Ask::NoPasskey => html! {
            section.panel.decide aria-labelledby="decide" {
                h2 #decide { (lang.decide()) }
                p {
                    (lang.decide_before()) " " (exactly(parsed(&action.deadline))) " (" (moment(lang, parsed(&action.deadline), viewer.now)) "), "
                    (lang.then_refused())
                }
                (approvals(viewer, shown))
                @if shown.fast { p.ask role="status" { (lang.decides_fast()) } }
                div.ways { (approve(viewer, shown)) (refuse(viewer, shown)) }
            }
        },
    }
}

/// Whoever comes by a link that is older than a decision is told whose it was.
fn decided(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let lang = viewer.lang;
    html! {
        @if let Some(Decided { kind, by, at, by_id: _ }) = &shown.decided {
            section.panel aria-labelledby="decided" {
                h2 #decided { (lang.decided_already()) }
                // A script shows it to whoever is still writing about what is decided.
                p data-meanwhile=(lang.decided_meanwhile()) {
                    code { (kind) }
                    @let all = deciders(shown, kind, by.as_deref());
                    @if !all.is_empty() { " " (lang.decided_by()) " " (card::names(lang, &all)) }
                    " · " (exactly(*at)) " (" (moment(lang, *at, viewer.now)) ")"
                }
            }
        }
    }
}

/// Whose decision it was: of a yes everybody's whose yes it took, and not the last one's alone.
fn deciders(shown: &ActionPage, kind: &str, last: Option<&str>) -> Vec<String> {
    if kind == "action.approved" && shown.approved_by.len() > 1 {
        return shown.approved_by.iter().map(|yes| yes.name.clone()).collect();
    }
    last.map(ToOwned::to_owned).into_iter().collect()
}

/// How many of how many, who and when: "1 of 2, ada said yes 3 min ago".
fn approvals(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    let given = shown.approved_by.len();
    let all = given + action.approvals_missing;
    html! {
        @if action.approvals_missing > 0 || given > 0 {
            p.approvals {
                strong { (given) " " (lang.of_approvals()) " " (all) } " " (lang.n_approvals_given(all as u64))
                @for yes in &shown.approved_by {
                    " · " (text::line(lang, &yes.name)) " " (lang.said_yes())
                    @if let Some(at) = yes.at { " " (moment(lang, at, viewer.now)) }
                    @if yes.signed { " · " strong.good { (lang.signed_by_passkey()) } }
                    @if yes.alone { " · " strong.ask { (lang.agreed_alone()) } }
                }
            }
        }
    }
}

/// Where two people are asked, the first key is not enough: the tool's name is typed, and whoever has a passkey signs with it.
fn approve(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    let form = Form::to(format!("/actions/{}/approve", action.id), viewer).on(action.review).named("approve");
    let twins = &shown.twins;
    let fields = html! {
        (typed("confirm", lang, shown))
        button.main data-unsent=(lang.change_is_unsent()) { (lang.approve_once()) " " kbd { "A" } }
    };
    html! {
        @match &shown.ask {
            Ask::Sign(Place::Here) => {
                @let fields = html! { p.note { (lang.you_sign_it()) } (fields) };
                (passkeys::asking(lang, &form, &format!("/actions/{}/question", action.id), &fields))
                (passkeys::script())
            }
            Ask::Sign(Place::Elsewhere(address)) => div { p.note { (lang.you_sign_it()) } (passkeys::elsewhere(lang, address)) },
            Ask::NoPasskey => div { p.note { (lang.you_need_a_passkey()) } a.button href="/settings" { (lang.add_passkey()) } },
            Ask::Yes | Ask::No(_) | Ask::Settled => (form.with(&fields)),
        }
        @if !twins.is_empty() { (together(viewer, shown)) }
    }
}

/// Identical ones, whose they are, and the form that approves them with it. What it would approve is never exchanged on an open page.
fn together(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action, twins) = (viewer.lang, &shown.detail.action, &shown.twins);
    html! {
        div.together data-bound {
            details open[twins.some.len() <= FEW] {
                summary { "+" (lang.number(twins.count)) " " (lang.n_identical(twins.count)) }
                ul.plain {
                    @for twin in &twins.some {
                        li { a href={ "/actions/" (twin.id) } { (short(&twin.id.to_string())) } " " (text::line(lang, &twin.agent)) " · " (text::line(lang, &twin.goal)) }
                    }
                }
            }
            @if shown.ask == Ask::Yes && !shown.fast {
                (Form::to("/batch/approve", viewer).named("approve-all").with(&html! {
                    @for (id, seen) in twins.all(action) { input type="hidden" name="item" value={ (id) " " (seen) }; }
                    button data-unsent=(lang.change_is_unsent()) { (lang.approve_identical(twins.some.len() as u64 + 1, twins.count + 1)) " " kbd { "X" } }
                }))
            }
        }
    }
}

/// Where two people are asked, and for whoever has decided a lot, the tool's name is typed before it happens, whichever way it does.
pub(crate) fn typed(id: &str, lang: Lang, shown: &ActionPage) -> Markup {
    let action = &shown.detail.action;
    let asked = if shown.fast { lang.type_to_slow() } else { lang.type_to_confirm() };
    html! { @if takes_name(shown) { (confirmation(id, asked, &action.tool.to_string())) } }
}

fn takes_name(shown: &ActionPage) -> bool {
    shown.fast || shown.detail.action.verdict.tier == "C"
}

fn refuse(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    let form = Form::to(format!("/actions/{}/reject", action.id), viewer).on(action.review).named("reject");
    form.with(&html! {
        (reason_inside("reason", lang.reason_to_reject()))
        button.bad { (lang.reject()) " " kbd { "R" } }
    })
}

fn interrupted(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, id) = (viewer.lang, shown.detail.action.id);
    html! {
        section.panel.decide aria-labelledby="decide" {
            h2 #decide { (lang.broke_decide()) }
            @if shown.fast { p.ask role="status" { (lang.decides_fast()) } }
            (Form::to(format!("/actions/{id}/resolve"), viewer).named("resolve").with(&html! {
                input type="hidden" name="attempt" value=(shown.detail.action.attempt);
                (reason("reason", lang.reason()))
                (typed("confirm", lang, shown))
                div.ways {
                    // First, so that the enter key in a field runs nothing again. To give up takes no name; that it takes a reason is told
                    // by the server then.
                    button.bad name="resolution" value="abandon" data-key="r" formnovalidate[takes_name(shown)] { (lang.abandon()) " " kbd { "R" } }
                    button name="resolution" value="retry" data-key="a" { (lang.retry()) " " kbd { "A" } }
                }
            }))
        }
    }
}

fn rehearsed(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    let form = Form::to(format!("/actions/{}/perform", action.id), viewer).on(action.review).named("perform");
    html! {
        section.panel.decide aria-labelledby="decide" {
            h2 #decide { (lang.decide()) }
            @if shown.fast { p.ask role="status" { (lang.decides_fast()) } }
            (form.with(&html! { (typed("confirm", lang, shown)) button.main { (lang.perform()) } }))
        }
    }
}

/// What its execution left.
fn outcome(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    html! {
        @if let Some(manifest) = &shown.evidence {
            (section("evidence", lang.evidence(), &html! {
                dl.facts {
                    (fact(lang.exit(), &reasons::of_exit(lang, &manifest.exit)))
                    (fact(lang.took(), &html! { (lang.span(manifest.finished_at.unix_ms().abs_diff(manifest.started_at.unix_ms()))) }))
                }
                (said(lang, &shown.outputs))
                ul.plain {
                    @for item in &manifest.items {
                        li {
                            a href={ "/evidence/" (action.project) "/" (item.digest) } download { (text::line(lang, left_as(&item.name))) }
                            " " small { (size(lang, item.size_bytes)) " · " (digest(item.digest)) }
                        }
                    }
                    @for file in &manifest.not_taken {
                        li { (text::line(lang, &file.path)) " " small { (not_taken(lang, file.why)) } }
                    }
                }
            }))
        }
    }
}

/// Reason why a file is not evidence.
const fn not_taken(lang: Lang, why: NotTakenBecause) -> &'static str {
    match why {
        NotTakenBecause::Missing => lang.output_missing(),
        NotTakenBecause::Link => lang.output_is_link(),
        NotTakenBecause::Directory => lang.output_is_directory(),
        NotTakenBecause::Special => lang.output_is_special(),
        NotTakenBecause::TooLarge => lang.output_too_large(),
        NotTakenBecause::Unreadable => lang.output_unreadable(),
        NotTakenBecause::OutsideScope => lang.undone_outside_scope(),
    }
}

/// Where it is on the record.
fn record(viewer: &Viewer, shown: &ActionPage) -> Markup {
    html! {
        @if viewer.reads_ledger && !shown.entries.is_empty() {
            (section("record", viewer.lang.record(), &html! {
                ol.plain.entries {
                    @for (seq, kind) in &shown.entries { li { a href={ "/ledger/" (seq) } { (seq) } " " code { (kind) } } }
                }
            }))
        }
    }
}
