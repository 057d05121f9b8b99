//! Forms: every one is tied to its visit, says what was seen, and works without a script.

use maud::{Markup, html};
use placet_domain::digest::Digest;

use crate::layout::Viewer;

/// A form that is sent by POST.
#[derive(Debug, Clone)]
pub struct Form {
    to: String,
    csrf: String,
    seen: Option<Digest>,
    id: Option<&'static str>,
}

impl Form {
    pub(crate) fn to(path: impl Into<String>, viewer: &Viewer) -> Self {
        Self { to: path.into(), csrf: viewer.csrf.clone(), seen: None, id: None }
    }

    /// A decision on exactly this.
    pub(crate) fn on(self, seen: Digest) -> Self {
        Self { seen: Some(seen), ..self }
    }

    /// A name that keys and tests find it by.
    pub(crate) fn named(self, id: &'static str) -> Self {
        Self { id: Some(id), ..self }
    }

    pub(crate) fn with(&self, content: &Markup) -> Markup {
        html! {
            form method="post" action=(self.to) id=[self.id] {
                input type="hidden" name="csrf" value=(self.csrf);
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

/// One line that must be filled in: a reason.
pub(crate) fn reason(id: &str, label: &str) -> Markup {
    field(id, label, &html! { input id=(id) name="reason" required maxlength="500" autocomplete="off"; })
}
