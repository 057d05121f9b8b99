//! How much attention of a person each kind of act needs in a run, whatever the policy adds to it.

use crate::proposal::ActionKind;

/// Three lists, and every kind of act is on exactly one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// Recorded; nobody is stopped.
    Monitored,
    /// A checkpoint where a team or a plan says so.
    Configurable,
    /// Always a checkpoint. Nothing can switch it off.
    Always,
}

impl Attention {
    pub const fn of(kind: ActionKind) -> Self {
        match kind {
            ActionKind::SendEmail
            | ActionKind::SubmitForm
            | ActionKind::MakePayment
            | ActionKind::DeleteFile
            | ActionKind::PublishContent
            | ActionKind::DatabaseWrite => Self::Always,
            ActionKind::CreateFile
            | ActionKind::ModifyFile
            | ActionKind::NavigateNewDomain
            | ActionKind::ExecuteCode
            // Not named by anybody: what leaves the machine is at least a team's to decide.
            | ActionKind::NetworkScan
            | ActionKind::HttpRequest => Self::Configurable,
            ActionKind::ReadFile | ActionKind::SearchWeb | ActionKind::TakeScreenshot => Self::Monitored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c9_what_reaches_people_money_or_data_always_stops() {
        let always: Vec<&str> = ActionKind::ALL
            .iter()
            .filter(|kind| Attention::of(**kind) == Attention::Always)
            .map(|kind| kind.as_str())
            .collect();
        let listed = ["send_email", "submit_form", "make_payment", "delete_file", "publish_content", "database_write"];
        assert_eq!(always, listed);
    }
}
