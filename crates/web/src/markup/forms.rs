//! Forms: every one is tied to its visit, says what was seen, and works without a script.

use maud::{Markup, html};
use placet_domain::digest::Digest;

use crate::markup::layout::Viewer;

/// A form that is sent by POST.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    to: String,
    /// Nothing where nobody is signed in yet.
    csrf: Option<String>,
    onward: Option<String>,
    seen: Option<Digest>,
    id: Option<&'static str>,
    passkey: Option<Passkey>,
    /// How many bytes of it are taken, and what is said before more are sent.
    most: Option<(usize, &'static str)>,
    /// Whether a script sends it without leaving the page.
    in_place: bool,
}

/// What the script is told of a form that a passkey answers.
#[derive(Debug, Clone)]
struct Passkey {
    question: String,
    failed: &'static str,
    /// Whether one is made first, and where it is asked for before it is.
    makes: Option<&'static str>,
    /// Whether one that is there signs it.
    signs: bool,
}

impl Form {
    pub(crate) fn to(path: impl Into<String>, viewer: &Viewer) -> Self {
        Self {
            to: path.into(),
            csrf: Some(viewer.csrf.clone()),
            onward: viewer.onward.clone(),
            seen: None,
            id: None,
            passkey: None,
            most: None,
            in_place: false,
        }
    }

    /// A form for whoever is not signed in.
    pub(crate) fn of_nobody(path: impl Into<String>) -> Self {
        Self {
            to: path.into(),
            csrf: None,
            onward: None,
            seen: None,
            id: None,
            passkey: None,
            most: None,
            in_place: false,
        }
    }

    /// One that is sent with the answer of a passkey to the question that is fetched there.
    pub(crate) fn with_passkey(self, question: String, failed: &'static str) -> Self {
        Self { passkey: Some(Passkey { question, failed, makes: None, signs: true }), ..self }
    }

    /// One that makes a passkey first, to the question that is fetched there; another one signs it, unless it is the first.
    pub(crate) fn that_makes_one(self, asked: &'static str, signs: bool) -> Self {
        Self { passkey: self.passkey.map(|passkey| Passkey { makes: Some(asked), signs, ..passkey }), ..self }
    }

    /// A decision on exactly this.
    pub(crate) fn on(self, seen: Digest) -> Self {
        Self { seen: Some(seen), ..self }
    }

    /// One that may become long. A script says so before it is sent, so that nothing of it is lost; without one the server does.
    pub(crate) fn at_most(self, bytes: usize, said: &'static str) -> Self {
        Self { most: Some((bytes, said)), ..self }
    }

    /// One after which somebody goes on reading where they are.
    pub(crate) fn in_place(self) -> Self {
        Self { in_place: true, onward: None, ..self }
    }

    /// A name that keys and tests find it by.
    pub(crate) fn named(self, id: &'static str) -> Self {
        Self { id: Some(id), ..self }
    }

    pub(crate) fn with(&self, content: &Markup) -> Markup {
        let passkey = self.passkey.as_ref();
        html! {
            form method="post" action=(self.to) id=[self.id] data-passkey=[passkey.map(|passkey| &passkey.question)]
                data-passkey-makes=[passkey.and_then(|passkey| passkey.makes)]
                data-passkey-first=[passkey.and_then(|passkey| (!passkey.signs).then_some("yes"))]
                data-in-place=[self.in_place.then_some("yes")]
                data-most=[self.most.map(|(bytes, _)| bytes)] data-too-long=[self.most.map(|(_, said)| said)]
                data-passkey-failed=[passkey.map(|passkey| passkey.failed)] {
                @if let Some(csrf) = &self.csrf { input type="hidden" name="csrf" value=(csrf); }
                @if let Some(onward) = &self.onward { input type="hidden" name="onward" value=(onward); }
                @if let Some(seen) = self.seen { input type="hidden" name="seen" value=(seen); }
                (content)
            }
        }
    }

    pub(crate) fn button(&self, class: &str, label: &str) -> Markup {
        self.with(&html! { button class=(class) { (label) } })
    }

    pub(crate) fn plain_button(&self, label: &str) -> Markup {
        self.button("plain", label)
    }
}

/// A field with its label.
pub(crate) fn field(id: &str, label: &str, control: &Markup) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            (control)
        }
    }
}

/// A field whose control says by itself what is wrong with it, where something is.
pub(crate) fn checked_field(id: &str, label: &str, control: &Markup, flaw: Option<&Markup>) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            (control)
            @if let Some(flaw) = flaw { p.note.bad id=(flaw_id(id)) { (flaw) } }
        }
    }
}

/// By what a control names that which is wrong with it.
pub(crate) fn flaw_id(id: &str) -> String {
    format!("{id}-flaw")
}

/// A name that is typed before something happens. Without it the server does not do it either.
pub(crate) fn confirmation(id: &str, label: &str, name: &str) -> Markup {
    field(id, label, &html! { input id=(id) name="confirm" required autocomplete="off" placeholder=(name); })
}

/// One line that must be filled in: a reason.
pub(crate) fn reason(id: &str, label: &str) -> Markup {
    reason_again(id, label, None)
}

/// The same where there is little room: what it is for is said within it, and to whoever does not see it.
pub(crate) fn reason_inside(id: &str, label: &str) -> Markup {
    html! {
        div.field {
            label.unseen for=(id) { (label) }
            input id=(id) name="reason" required maxlength="500" autocomplete="off" placeholder=(label);
        }
    }
}

/// The same with what somebody wrote there already.
pub(crate) fn reason_again(id: &str, label: &str, written: Option<&str>) -> Markup {
    field(
        id,
        label,
        &html! { input id=(id) name="reason" required maxlength="500" autocomplete="off" value=[written]; },
    )
}
