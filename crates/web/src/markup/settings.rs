//! One's own visits, password and passkeys; and for administrators, links for others. And the switch that stops everything.

use maud::{Markup, html};
use placet_domain::id::IdentityId;
use placet_domain::text::spelled_out;
use placet_domain::time::Timestamp;
use placet_wire::api::IdentityView;

use crate::markup::forms::{Form, checked_field, field, flaw_id, reason};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{exactly, moment, section, short};
use crate::markup::passkeys::{self, Keys, guarded};
use crate::markup::problem::Problem;
use crate::markup::routes::{RouteRow, routes};
use crate::markup::{refusals, text};

const USUAL_DAYS: &str = "7";

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) has_password: bool,
    /// Digest, when it ends, and whether it is this one.
    pub(crate) visits: Vec<(String, Timestamp, bool)>,
    pub(crate) keys: Keys,
    /// Whom the viewer may make links for; nobody, unless they administer.
    pub(crate) people: Vec<Person>,
    /// What was just made.
    pub(crate) once: Option<Once>,
    /// Whether the viewer decides anything, so that somebody can stand in.
    pub(crate) may_go: bool,
    /// Who could stand in, by id and name.
    pub(crate) stand_ins: Vec<(IdentityId, String)>,
    /// What somebody wrote to go away, and why that was not taken.
    pub(crate) away_tried: Option<AwayTried>,
    /// Who is told instead of the viewer, and until when.
    pub(crate) away: Option<(String, Timestamp)>,
    /// How people are told, where the viewer may try it.
    pub(crate) routes: Option<Vec<RouteRow>>,
    pub(crate) may_halt: bool,
    pub(crate) may_release: bool,
}

/// A form that was not taken.
#[derive(Debug, Clone)]
pub(crate) struct AwayTried {
    pub(crate) to: String,
    pub(crate) days: String,
    pub(crate) why: Problem,
}

/// Something secret that is shown this once: for whom, and what.
#[derive(Debug, Clone)]
pub(crate) enum Once {
    Link(String, String),
    Token(String, String),
}

/// Somebody whom an administrator may let in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) view: IdentityView,
    /// Whether a passkey of the viewer signs what changes their doors.
    pub(crate) is_guarded: bool,
    pub(crate) is_viewer: bool,
}

pub(crate) fn settings(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_settings()) }
        @match &shown.once {
            Some(Once::Link(name, link)) => (once(viewer, name, lang.link_made(), link)),
            Some(Once::Token(name, token)) => (once(viewer, name, lang.token_made(), token)),
            None => {}
        }
        div.two {
            (section("password-panel", lang.password(), &password(viewer, shown)))
            (section("visits", lang.your_visits(), &visits(viewer, shown)))
        }
        (passkeys::panel(viewer, &shown.keys))
        @if shown.may_go { (section("away", lang.being_away(), &away(viewer, shown))) }
        @if !shown.people.is_empty() { (section("people", lang.people(), &people(viewer, shown))) }
        @if let Some(rows) = &shown.routes { (section("routes", lang.routes(), &routes(viewer, rows))) }
        @if shown.may_halt || shown.may_release {
            (section("switch", lang.the_switch(), &html! { div data-live="switch" { (switch(viewer, shown)) } }))
        }
    };
    page(viewer, Here::Settings, lang.nav_settings(), &Live::from("/settings"), &content)
}

fn once(viewer: &Viewer, name: &str, what: &str, secret: &str) -> Markup {
    html! { div.panel role="status" { p { strong { (text::line(viewer.lang, name)) } " · " (what) } pre { code { (secret) } } } }
}

fn password(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    let form = Form::to("/settings/password", viewer).named("set-password");
    let content = html! {
        p { (lang.password_rule()) }
        @if shown.has_password {
            (field("current-password", lang.current_password(), &html! {
                input #current-password name="current" type="password" required autocomplete="current-password";
            }))
        }
        (field("new-password", if shown.has_password { lang.new_password() } else { lang.password() }, &html! {
            input #new-password name="password" type="password" required minlength="12" maxlength="200" autocomplete="new-password";
        }))
        button.main { (lang.set_password()) }
    };
    if shown.keys.own.is_empty() {
        form.with(&content)
    } else {
        guarded(viewer, &shown.keys, &form, "change=password", &content)
    }
}

fn away(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    if let Some((name, until)) = &shown.away {
        return html! {
            p { strong { (text::line(lang, name)) } " " (lang.is_told_instead()) " " (exactly(*until)) }
            (Form::to("/settings/back", viewer).named("back").plain_button(lang.i_am_back()))
        };
    }
    if shown.stand_ins.is_empty() {
        return html! { p { (lang.away_rule()) } p.note { (lang.nobody_stands_in()) } };
    }
    Form::to("/settings/away", viewer).named("go-away").with(&html! {
        p { (lang.away_rule()) }
        (stand_in(viewer, shown))
        (field("away-days", lang.days_away(), &html! {
            input #away-days name="days" type="number" required min="1" max="90" value=(shown.away_tried.as_ref().map_or(USUAL_DAYS, |tried| &tried.days));
        }))
        button { (lang.go_away()) }
    })
}

/// Whoever could be told instead, by name, and where two have one name by the ends of their ids.
fn stand_in(viewer: &Viewer, shown: &Settings) -> Markup {
    let (lang, tried) = (viewer.lang, shown.away_tried.as_ref());
    let is_shared = |name: &String| shown.stand_ins.iter().filter(|(_, other)| other == name).count() > 1;
    let is_chosen = |id: &IdentityId| tried.is_some_and(|tried| tried.to == id.to_string());
    let control = html! {
        select #stand-in name="to" required autofocus[tried.is_some()] aria-invalid=[tried.map(|_| "true")] aria-describedby=[tried.map(|_| flaw_id("stand-in"))] {
            option value="" { "…" }
            @for (id, name) in &shown.stand_ins {
                option value=(id) selected[is_chosen(id)] { (spelled_out(name)) @if is_shared(name) { " " (short(&id.to_string())) } }
            }
        }
    };
    let flaw = tried.map(|AwayTried { why, .. }| refusals::of_problem(lang, why));
    checked_field("stand-in", lang.stand_in(), &control, flaw.as_ref())
}

fn visits(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    html! {
        ul.plain data-live="visits" {
            @for (digest, ends, is_this) in &shown.visits {
                li {
                    code { (&digest.trim_start_matches("sha256:")[..8]) } " · " (lang.ends()) " " (moment(lang, *ends, viewer.now))
                    @if *is_this { " · " strong { (lang.this_one()) } }
                    @else { (Form::to("/settings/visits/end", viewer).with(&html! { input type="hidden" name="visit" value=(digest); button.plain { (lang.end_visit()) } })) }
                }
            }
        }
    }
}

fn people(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.people()) {
            table.list {
                thead { tr { th { (lang.name()) } th { (lang.roles()) } th { (lang.make_link()) } } }
                tbody {
                    @for person in &shown.people {
                        tr {
                            td { strong { (text::line(lang, &person.view.name)) } " " small { (short(&person.view.id.to_string())) } }
                            td.n { (roles(&person.view)) }
                            td { (ways_in(viewer, shown, person)) }
                        }
                    }
                }
            }
        }
        @if !shown.keys.may_sign && shown.people.iter().any(|person| person.is_guarded) {
            (guarded(viewer, &shown.keys, &Form::to("", viewer), "", &html! {}))
        }
    }
}

/// A link; and where a passkey signs it a new token too, because nothing but a page can sign that.
fn ways_in(viewer: &Viewer, shown: &Settings, person: &Person) -> Markup {
    let (lang, id) = (viewer.lang, person.view.id);
    let form = |what: &str| Form::to(format!("/settings/people/{id}/{what}"), viewer);
    let signed = |what: &str, label: &str| {
        let button = html! { button.plain { (label) } };
        guarded(viewer, &shown.keys, &form(what), &format!("change={what}&of={id}"), &button)
    };
    if !person.is_guarded {
        return form("link").plain_button(lang.make_link());
    }
    if !shown.keys.may_sign {
        return html! { small { (lang.has_passkeys()) } };
    }
    html! {
        (signed("link", lang.make_link()))
        @if !person.is_viewer { (signed("token", lang.make_token())) }
    }
}

fn roles(person: &IdentityView) -> String {
    person.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn switch(viewer: &Viewer, shown: &Settings) -> Markup {
    let lang = viewer.lang;
    html! {
        @if viewer.halted.is_none() && shown.may_halt {
            p { (lang.switch_hint()) }
            // Folded, and with a reason: a single press between other settings must not stop everything.
            details.menu #halt-asked {
                summary { (lang.stop_everything()) "…" }
                p { (lang.stop_asked()) }
                (Form::to("/halt", viewer).named("halt").with(&html! {
                    (reason("halt-reason", lang.reason()))
                    button.bad { (lang.stop_everything()) }
                }))
            }
        }
        @if viewer.halted.is_some() && shown.may_release {
            (Form::to("/release", viewer).named("release").with(&html! { (reason("release-reason", lang.reason())) button.main { (lang.let_go_on()) } }))
        }
    }
}
