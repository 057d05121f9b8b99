//! Passkeys on pages: the forms that a passkey answers, one's own passkeys, and for administrators those of others.
//!
//! The only forms that need a script: nothing but a script can ask a browser for a passkey. Where there is none, or where browsers allow
//! none, the page says so and what to do.

use maud::{Markup, html};
use placet_domain::id::IdentityId;
use placet_lang::Lang;

use crate::markup::forms::{Form, field, reason};
use crate::markup::layout::Viewer;
use crate::markup::parts::section;
use crate::markup::{assets, text};

/// Whether passkeys can be used at the address where the page is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Here,
    /// Not here, but at this one.
    Elsewhere(String),
}

/// One passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// As its authenticator calls it.
    pub(crate) credential: String,
    pub(crate) name: String,
    /// Where it was made.
    pub(crate) origin: String,
}

/// What settings show of passkeys.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) place: Place,
    pub(crate) own: Vec<Key>,
    /// Whether one may be added from this visit: the first needs one that has just begun.
    pub(crate) may_add: bool,
    /// Whether one of them can sign here.
    pub(crate) may_sign: bool,
    /// Those that an administrator may take away.
    pub(crate) of_others: Vec<(IdentityId, String, Key)>,
    /// Why everybody signs with one, if everybody does.
    pub(crate) demanded: Option<String>,
    pub(crate) may_demand: bool,
}

/// What a script fills in when a passkey signed.
const SIGNED: [&str; 6] = ["nonce", "asked_at", "credential", "client_data", "authenticator_data", "signature"];

/// A form whose sending asks for a passkey first; `question` is where the question is fetched.
pub(crate) fn asking(lang: Lang, form: &Form, question: &str, content: &Markup) -> Markup {
    let form = form.clone().with_passkey(question.to_owned(), lang.passkey_failed());
    form.with(&answered(lang, &SIGNED, content))
}

/// A form that changes a door of somebody who has passkeys: one of the viewer's signs it, or the page says who can. `query` is the change,
/// as the question names it.
pub(crate) fn guarded(viewer: &Viewer, keys: &Keys, form: &Form, query: &str, content: &Markup) -> Markup {
    let lang = viewer.lang;
    match &keys.place {
        Place::Elsewhere(address) => elsewhere(lang, address),
        Place::Here if keys.may_sign => asking(lang, form, &format!("/settings/doors/question?{query}"), content),
        Place::Here if keys.own.is_empty() => {
            html! { p.note { (lang.door_needs_passkey()) } pre { code { "placet identity end-passkeys" } } }
        }
        Place::Here => html! { p.note { (lang.passkey_of_elsewhere()) } },
    }
}

/// What such a form holds: places for the answer, and what is said where there is none.
fn answered(lang: Lang, answers: &[&str], content: &Markup) -> Markup {
    html! {
        @for name in answers { input type="hidden" name=(name) value=""; }
        noscript { p.note.bad { (lang.passkey_needs_script()) } }
        (content)
        p.note.bad role="alert" {}
    }
}

/// What asks the browser, once for all such forms of a page.
pub(crate) fn script() -> Markup {
    html! { script src=(assets::PASSKEY.path()) defer {} }
}

/// Browsers know no passkeys for numbers: where to go instead.
pub(crate) fn elsewhere(lang: Lang, address: &str) -> Markup {
    html! { p.note { (lang.passkey_elsewhere()) " " a href=(address) { (address) } } }
}

/// The way in by a passkey.
pub(crate) fn sign_in(lang: Lang, place: &Place, to: Option<&str>) -> Markup {
    match place {
        Place::Elsewhere(address) => elsewhere(lang, address),
        Place::Here => {
            let form = Form::of_nobody("/enter/passkey").named("enter-by-passkey");
            let content = html! {
                input type="hidden" name="user" value="";
                @if let Some(to) = to { input type="hidden" name="to" value=(to); }
                button { (lang.sign_in_by_passkey()) }
            };
            html! { (asking(lang, &form, "/enter/passkey", &content)) (script()) }
        }
    }
}

pub(crate) fn panel(viewer: &Viewer, keys: &Keys) -> Markup {
    let lang = viewer.lang;
    html! {
        (section("passkeys", lang.passkeys(), &html! {
            p { (lang.passkeys_hint()) }
            ul.plain { @for key in &keys.own { li { (own(viewer, keys, key)) } } }
            @match &keys.place {
                Place::Elsewhere(address) => (elsewhere(lang, address)),
                Place::Here if !keys.may_add => p.note { (lang.passkey_needs_fresh_visit()) },
                Place::Here if keys.own.is_empty() || keys.may_sign => (add(viewer, keys)),
                Place::Here => p.note { (lang.passkey_of_elsewhere()) },
            }
        }))
        @if !keys.of_others.is_empty() { (section("passkeys-of-others", lang.passkeys_of_others(), &of_others(viewer, keys))) }
        @if keys.place == Place::Here { (script()) }
        @if keys.may_demand { (section("passkeys-demanded", lang.passkeys_demanded(), &demand(viewer, keys))) }
    }
}

fn named(lang: Lang, key: &Key) -> Markup {
    html! { strong { (text::line(lang, &key.name)) } " " small { (key.origin) } }
}

fn own(viewer: &Viewer, keys: &Keys, key: &Key) -> Markup {
    html! {
        (named(viewer.lang, key))
        @if keys.may_sign { (removal(viewer, keys, Form::to("/settings/passkeys/remove", viewer), "", key)) }
    }
}

fn removal(viewer: &Viewer, keys: &Keys, form: Form, of: &str, key: &Key) -> Markup {
    let query = format!("change=remove&removed={}{of}", key.credential);
    let content = html! {
        input type="hidden" name="removed" value=(key.credential);
        button.plain { (viewer.lang.remove()) }
    };
    guarded(viewer, keys, &form, &query, &content)
}

/// The first is made by whoever has just come in; every other is signed with one that is there.
fn add(viewer: &Viewer, keys: &Keys) -> Markup {
    let (lang, signs) = (viewer.lang, !keys.own.is_empty());
    let form = Form::to("/settings/passkeys", viewer).named("add-passkey");
    let form = form.with_passkey("/settings/doors/question?change=add".to_owned(), lang.passkey_failed());
    let form = form.that_makes_one("/settings/passkeys/question", signs);
    let content = html! {
        @if signs { p.note { (lang.passkey_signs_the_next()) } }
        (field("passkey-name", lang.passkey_name(), &html! { input #passkey-name name="name" required maxlength="60" autocomplete="off"; }))
        button { (lang.add_passkey()) }
    };
    let made = ["made_nonce", "made_asked_at", "made_client_data", "made_attestation"];
    let answers: Vec<&str> = made.into_iter().chain(SIGNED).collect();
    form.with(&answered(lang, &answers, &content))
}

fn of_others(viewer: &Viewer, keys: &Keys) -> Markup {
    let lang = viewer.lang;
    html! {
        ul.plain {
            @for (id, name, key) in &keys.of_others {
                li {
                    (text::line(lang, name)) " · " (named(lang, key))
                    @if keys.may_sign {
                        (removal(viewer, keys, Form::to(format!("/settings/people/{id}/passkeys/remove"), viewer), &format!("&of={id}"), key))
                    }
                }
            }
        }
        @if !keys.may_sign { (guarded(viewer, keys, &Form::to("", viewer), "", &html! {})) }
    }
}

fn demand(viewer: &Viewer, keys: &Keys) -> Markup {
    let lang = viewer.lang;
    html! {
        @match &keys.demanded {
            Some(why) => {
                p { (lang.passkeys_are_demanded()) " " (text::line(lang, why)) }
                (Form::to("/passkeys/release", viewer).named("release-passkeys").with(&html! {
                    (reason("release-passkeys-reason", lang.reason())) button { (lang.release_passkeys()) }
                }))
            }
            None => {
                p { (lang.demand_hint()) }
                (Form::to("/passkeys/demand", viewer).named("demand-passkeys").with(&html! {
                    (reason("demand-passkeys-reason", lang.reason())) button { (lang.demand_passkeys()) }
                }))
            }
        }
    }
}
