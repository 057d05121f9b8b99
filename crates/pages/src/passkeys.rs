//! Passkeys on pages: the forms that a passkey answers, one's own passkeys, and for administrators those of others.
//!
//! The only forms that need a script: nothing but a script can ask a browser for a passkey. Where there is none, or where browsers allow
//! none, the page says so and what to do.

use maud::{Markup, html};
use placet_domain::id::IdentityId;

use crate::assets;
use crate::forms::{Form, field, reason};
use crate::lang::Lang;
use crate::layout::Viewer;
use crate::parts::section;
use crate::text;

/// Whether passkeys can be used at the address where the page is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Here,
    /// Not here, but at this one.
    Elsewhere(String),
}

/// One passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// As its authenticator calls it.
    pub credential: String,
    pub name: String,
    /// Where it was made.
    pub origin: String,
}

/// What settings show of passkeys.
#[derive(Debug, Clone)]
pub struct Keys {
    pub place: Place,
    pub own: Vec<Key>,
    /// Whether the visit is young enough to change something.
    pub fresh: bool,
    /// Those that an administrator may take away.
    pub of_others: Vec<(IdentityId, String, Key)>,
    /// Why everybody signs with one, if everybody does.
    pub demanded: Option<String>,
    pub may_demand: bool,
}

/// A form whose sending asks for a passkey first; `question` is where the question is fetched.
pub(crate) fn asking(lang: Lang, form: &Form, question: &str, content: &Markup) -> Markup {
    let answers = ["nonce", "asked_at", "credential", "client_data", "authenticator_data", "signature"];
    let form = form.clone().with_passkey(question.to_owned(), lang.passkey_failed());
    form.with(&answered(lang, &answers, content))
}

/// What such a form holds: places for the answer, and what is said where there is none.
fn answered(lang: Lang, answers: &[&str], content: &Markup) -> Markup {
    html! {
        @for name in answers { input type="hidden" name=(name) value=""; }
        noscript { p.note.bad { (lang.passkey_needs_script()) } }
        (content)
        p.note.bad role="alert" {}
        script src=(assets::PASSKEY.path()) defer {}
    }
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
            asking(
                lang,
                &form,
                "/enter/passkey",
                &html! {
                    input type="hidden" name="user" value="";
                    @if let Some(to) = to { input type="hidden" name="to" value=(to); }
                    button { (lang.sign_in_by_passkey()) }
                },
            )
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
                Place::Here if keys.fresh => (add(viewer)),
                Place::Here => p.note { (lang.passkey_needs_fresh_visit()) },
            }
        }))
        @if !keys.of_others.is_empty() { (section("passkeys-of-others", lang.passkeys_of_others(), &of_others(viewer, keys))) }
        @if keys.may_demand { (section("passkeys-demanded", lang.passkeys_demanded(), &demand(viewer, keys))) }
    }
}

fn named(lang: Lang, key: &Key) -> Markup {
    html! { strong { (text::line(lang, &key.name)) } " " small { (key.origin) } }
}

fn own(viewer: &Viewer, keys: &Keys, key: &Key) -> Markup {
    let lang = viewer.lang;
    html! {
        (named(lang, key))
        @if keys.fresh {
            (Form::to("/settings/passkeys/remove", viewer).with(&html! {
                input type="hidden" name="credential" value=(key.credential);
                button.plain { (lang.remove()) }
            }))
        }
    }
}

fn add(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    let form = Form::to("/settings/passkeys", viewer).named("add-passkey");
    let form = form.with_passkey("/settings/passkeys/question".to_owned(), lang.passkey_failed()).that_makes_one();
    let content = html! {
        (field("passkey-name", lang.passkey_name(), &html! { input #passkey-name name="name" required maxlength="60" autocomplete="off"; }))
        button { (lang.add_passkey()) }
    };
    form.with(&answered(lang, &["nonce", "asked_at", "client_data", "attestation"], &content))
}

fn of_others(viewer: &Viewer, keys: &Keys) -> Markup {
    let lang = viewer.lang;
    html! {
        ul.plain {
            @for (id, name, key) in &keys.of_others {
                li {
                    (text::line(lang, name)) " · " (named(lang, key))
                    (Form::to(format!("/settings/people/{id}/passkeys/remove"), viewer).with(&html! {
                        input type="hidden" name="credential" value=(key.credential);
                        button.plain { (lang.remove()) }
                    }))
                }
            }
        }
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
            None => (Form::to("/passkeys/demand", viewer).named("demand-passkeys").with(&html! {
                (reason("demand-passkeys-reason", lang.reason())) button { (lang.demand_passkeys()) }
            })),
        }
    }
}
