//! Safety switches: kinds of act that are closed for an agent, whatever a policy or a reviewer would say of them.

use serde::{Deserialize, Serialize};

use crate::proposal::ActionKind;

/// Each is on unless an entry turns it off in so many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Switches {
    /// No payments.
    pub block_payments: bool,
    /// No forms in which somebody signs in. Other forms are decided one by one.
    pub block_login_forms: bool,
    /// No messages to people.
    pub block_messages: bool,
    /// Nothing is made public.
    pub block_publishing: bool,
    /// Nothing is deleted.
    pub block_deletion: bool,
    /// A picture is taken at every checkpoint of a browser's work.
    pub screenshots: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            block_payments: true,
            block_login_forms: true,
            block_messages: true,
            block_publishing: true,
            block_deletion: true,
            screenshots: true,
        }
    }
}

impl Switches {
    /// The switch that closes a kind of act, if one does.
    pub const fn closing(&self, kind: ActionKind) -> Option<&'static str> {
        let (on, name) = match kind {
            ActionKind::MakePayment => (self.block_payments, "block_payments"),
            ActionKind::SendEmail => (self.block_messages, "block_messages"),
            ActionKind::PublishContent => (self.block_publishing, "block_publishing"),
            ActionKind::DeleteFile => (self.block_deletion, "block_deletion"),
            // Whether a form signs somebody in is seen when it is there, not when it is planned.
            ActionKind::SubmitForm
            | ActionKind::ReadFile
            | ActionKind::SearchWeb
            | ActionKind::TakeScreenshot
            | ActionKind::CreateFile
            | ActionKind::ModifyFile
            | ActionKind::ExecuteCode
            | ActionKind::NavigateNewDomain
            | ActionKind::NetworkScan
            | ActionKind::HttpRequest
            | ActionKind::DatabaseWrite => return None,
        };
        if on { Some(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_nothing_has_every_switch_on() {
        let usual: Switches = serde_json::from_str("{}").unwrap();
        assert_eq!(usual.closing(ActionKind::MakePayment), Some("block_payments"));
        assert_eq!(usual.closing(ActionKind::ReadFile), None);
        let open = Switches { block_payments: false, ..usual };
        assert_eq!(open.closing(ActionKind::MakePayment), None);
    }
}
