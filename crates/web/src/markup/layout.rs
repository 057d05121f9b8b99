//! What stands around every page: the head, the way to other pages, who is signed in, what concerns everybody.

use maud::{DOCTYPE, Markup, html};
use placet_domain::id::RunId;
use placet_domain::text::spelled_out;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use crate::markup::forms::Form;
use crate::markup::icons::{self, Icon, icon};
use crate::markup::{assets, find, text};

/// Whom a page is shown to, and in which moment.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    pub(crate) name: String,
    /// Whether the ledger may be read.
    pub(crate) reads_ledger: bool,
    pub(crate) lang: Lang,
    /// Ties every form of the page to this visit.
    pub(crate) csrf: String,
    /// Where in what happens the page stands: whoever follows from there misses nothing.
    pub(crate) mark: String,
    /// Where in the inbox somebody is who decides on this page: told along with every form, so that they go on there.
    pub(crate) onward: Option<String>,
    /// How many things wait for a person.
    pub(crate) waiting: u64,
    pub(crate) now: Timestamp,
    /// Why everything is stopped, if it is.
    pub(crate) halted: Option<String>,
    /// Why everything is in safe mode, if it is.
    pub(crate) safe_mode: Option<String>,
}

/// Which page it is, for the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Here {
    Inbox,
    Runs,
    Decisions,
    Orders,
    Agents,
    Workers,
    Policy,
    Ledger,
    Settings,
    Help,
    /// Reached from every page, and no place of its own in the navigation.
    Find,
}

impl Here {
    const ALL: &[Self] = &[
        Self::Inbox,
        Self::Runs,
        Self::Decisions,
        Self::Orders,
        Self::Agents,
        Self::Workers,
        Self::Policy,
        Self::Ledger,
        Self::Settings,
        Self::Help,
    ];

    const fn path(self) -> &'static str {
        match self {
            Self::Inbox => "/",
            Self::Runs => "/runs",
            Self::Decisions => "/decisions",
            Self::Orders => "/orders",
            Self::Agents => "/agents",
            Self::Workers => "/workers",
            Self::Policy => "/policy",
            Self::Ledger => "/ledger",
            Self::Settings => "/settings",
            Self::Help => "/help",
            Self::Find => "/find",
        }
    }

    const fn name(self, lang: Lang) -> &'static str {
        match self {
            Self::Inbox => lang.nav_inbox(),
            Self::Runs => lang.nav_runs(),
            Self::Decisions => lang.nav_decisions(),
            Self::Orders => lang.nav_orders(),
            Self::Agents => lang.nav_agents(),
            Self::Workers => lang.nav_workers(),
            Self::Policy => lang.nav_policy(),
            Self::Ledger => lang.nav_ledger(),
            Self::Settings => lang.nav_settings(),
            Self::Help => lang.nav_help(),
            Self::Find => lang.find(),
        }
    }

    const fn icon(self) -> Icon {
        match self {
            Self::Inbox => icons::TRAY,
            Self::Runs => icons::PLAY,
            Self::Decisions => icons::COLUMNS,
            Self::Orders => icons::CLOCK,
            Self::Agents => icons::PERSON,
            Self::Workers => icons::MACHINE,
            Self::Policy => icons::SHIELD,
            Self::Ledger => icons::BOOK,
            Self::Settings => icons::SLIDERS,
            Self::Help => icons::QUESTION,
            Self::Find => icons::LENS,
        }
    }
}

/// How a page stays up to date: whose news it follows, and where the parts that keep themselves up to date are fetched.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    /// An id of a run, or `inbox` for everything within reach.
    of: String,
    /// Another page than the one that is looked at.
    from: Option<&'static str>,
}

impl Live {
    /// Follows everything within reach, and looks at itself again.
    pub(crate) fn of_all() -> Self {
        Self { of: "inbox".to_owned(), from: None }
    }

    /// Follows one run, and looks at itself again.
    pub(crate) fn of_run(run: RunId) -> Self {
        Self { of: run.to_string(), from: None }
    }

    /// Follows everything, and looks for its parts there: what answers a form has no address of its own.
    pub(crate) fn from(path: &'static str) -> Self {
        Self { from: Some(path), ..Self::of_all() }
    }

    /// Shows one moment, or what never changes: only what stands around every page is fetched, from the cheapest of them.
    pub(crate) fn around() -> Self {
        Self::from("/help")
    }
}

/// A page for somebody who is signed in.
pub(crate) fn page(viewer: &Viewer, here: Here, title: &str, live: &Live, content: &Markup) -> Markup {
    let lang = viewer.lang;
    document(
        lang,
        title,
        Some((live, &viewer.mark)),
        &html! {
            header.bar {
                a.brand href="/" { (mark()) "Placet" }
                (find::form(lang, "", "find"))
                div.who {
                    a.to-find href="/find" { (icon(icons::LENS)) span.unseen { (lang.find()) } }
                    span.live #live hidden { (lang.live()) }
                    span.person { (icon(icons::PERSON)) (viewer.name) }
                    (Form::to("/leave", viewer).named("leave").plain_button(lang.leave()))
                }
            }
            (ways(viewer, here))
            (notices(viewer))
            main #content tabindex="-1" { (content) }
            (foot(lang))
        },
    )
}

/// The way to all other pages.
fn ways(viewer: &Viewer, here: Here) -> Markup {
    let lang = viewer.lang;
    html! {
        nav aria-label=(lang.navigation()) {
            @for place in Here::ALL.iter().filter(|place| **place != Here::Ledger || viewer.reads_ledger) {
                a href=(place.path()) aria-current=[(*place == here).then_some("page")] {
                    (icon(place.icon())) (place.name(lang))
                    @if *place == Here::Inbox {
                        span.count #waiting data-live="waiting" { @if viewer.waiting > 0 { (lang.number(viewer.waiting)) } }
                    }
                }
            }
        }
    }
}

/// A page for somebody who is not signed in.
pub(crate) fn outside(lang: Lang, title: &str, content: &Markup) -> Markup {
    document(
        lang,
        title,
        None,
        &html! {
            main.outside #content tabindex="-1" {
                p.brand { (mark()) "Placet" }
                (content)
            }
            (foot(lang))
        },
    )
}

fn document(lang: Lang, title: &str, live: Option<(&Live, &str)>, body: &Markup) -> Markup {
    let (live, mark) = live.unzip();
    html! {
        (DOCTYPE)
        html lang=(lang.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (spelled_out(title)) " · Placet" }
                link rel="icon" href=(assets::ICON.path()) type="image/svg+xml";
                link rel="stylesheet" href=(assets::STYLE.path());
                script src=(assets::SCRIPT.path()) defer {}
            }
            body data-live-of=[live.map(|live| &live.of)] data-live-since=[mark] data-live-from=[live.and_then(|live| live.from)] data-offline=(lang.offline()) data-waits=(lang.something_waits()) {
                a.skip href="#content" { (lang.skip()) }
                (body)
            }
        }
    }
}

fn notices(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    html! {
        div.notices role="status" data-live="notices" {
            @if let Some(why) = &viewer.halted {
                p.notice.bad { strong { (lang.all_stopped()) } " " (text::line(lang, why)) }
            }
            @if let Some(why) = &viewer.safe_mode {
                p.notice { strong { (lang.safe_mode()) } " " (text::line(lang, why)) }
            }
        }
    }
}

fn foot(lang: Lang) -> Markup {
    html! {
        footer {
            span { (lang.language()) }
            @for other in Lang::ALL {
                @if *other == lang { strong lang=(other.code()) { (other.own_name()) } }
                @else { a href={ "/language/" (other.code()) } lang=(other.code()) hreflang=(other.code()) { (other.own_name()) } }
            }
        }
    }
}

/// The tick of the vote of assent.
fn mark() -> Markup {
    html! { span.mark { (icon(icons::TICK)) } }
}
