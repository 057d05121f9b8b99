//! Coming in: by name and password, by a passkey, or by a link that opens once. A link does nothing by being looked at: whatever previews links would
//! use it up.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_lang::Lang;

use crate::markup::forms::field;
use crate::markup::layout::outside;
use crate::markup::passkeys::{Place, sign_in};
use crate::markup::text;

/// Why somebody is not in yet, and where they wanted to go.
pub(crate) fn enter(lang: Lang, ways: &Ways, refused: Option<Refused>) -> Markup {
    let to = ways.to.as_deref();
    let content = html! {
        h1 { (lang.sign_in()) }
        @if let Some(refused) = refused { p.note.bad role="alert" { (refused.told(lang)) } }
        form method="post" action="/enter" {
            @if let Some(to) = to { input type="hidden" name="to" value=(to); }
            (field("name", lang.name(), &html! { input id="name" name="name" required autocomplete="username" autofocus; }))
            (field("password", lang.password(), &html! { input id="password" name="password" type="password" required autocomplete="current-password"; }))
            button.main { (lang.sign_in()) }
        }
        @if let Some((provider, to)) = &ways.provider {
            p { a.button href={ "/enter/provider" (to) } { (lang.sign_on_by()) " " (text::line(lang, provider)) } }
        }
        (sign_in(lang, &ways.place, to))
        p { (lang.no_password_yet()) }
        pre { code { "placet link" } }
    };
    outside(lang, lang.sign_in(), &content)
}

/// The ways in besides a password.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    pub(crate) place: Place,
    /// What people call the provider that vouches for them, if there is one.
    /// With the query that leads where somebody wanted to go.
    pub(crate) provider: Option<(String, String)>,
    /// Where somebody wanted to go.
    pub(crate) to: Option<String>,
}

/// What is told to somebody who did not get in: never which part was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Wrong,
    TooOften,
    Spent,
    /// A form was sent, and whoever sent it is not in any more.
    NotIn,
    Passkey,
    Provider,
}

impl Refused {
    const fn told(self, lang: Lang) -> &'static str {
        match self {
            Self::Wrong => lang.wrong_password(),
            Self::TooOften => lang.too_many_tries(),
            Self::Spent => lang.link_is_spent(),
            Self::NotIn => lang.not_in(),
            Self::Passkey => lang.passkey_is_not_known(),
            Self::Provider => lang.provider_lets_nobody_in(),
        }
    }
}

/// Somebody holds a link: they come in by a button, not by having looked.
pub(crate) fn invitation(lang: Lang, code: &str, name: &str) -> Markup {
    let content = html! {
        h1 { (spelled_out(name)) }
        p { (lang.link_opens_once()) }
        form method="post" action={ "/enter/" (code) } {
            button.main autofocus { (lang.come_in()) }
        }
    };
    outside(lang, lang.sign_in(), &content)
}
