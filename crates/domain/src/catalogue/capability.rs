//! What agents can do, as a closed list: a word that is not on it would be a promise nobody can check.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::proposal::ActionKind;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal: $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(#[doc = $meaning] #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What an agent can do.
    Capability {
        WriteCode = "write_code": "Writes and changes source code.";
        RunCode = "run_code": "Has programs, tests and builds run.";
        Browse = "browse": "Visits pages in a browser.";
        Research = "research": "Finds sources and weighs them.";
        ExtractData = "extract_data": "Takes facts out of documents and pages.";
        WriteText = "write_text": "Writes prose: reports, summaries, documentation.";
        Spreadsheets = "spreadsheets": "Makes and changes tables.";
        SendMessages = "send_messages": "Writes to people.";
        ScanNetworks = "scan_networks": "Looks what machines and networks answer.";
    }
}

words! {
    /// What a cage must be good for, by the words of its profile.
    CageCapability {
        ExecuteCode = "execute_code": "Running programs and scripts that an agent chose.";
        Screenshots = "screenshots": "Taking pictures of pages and screens.";
    }
}

impl Capability {
    /// The kinds of act that a step with this capability usually proposes.
    pub const fn usual_kinds(self) -> &'static [ActionKind] {
        match self {
            Self::WriteCode => &[ActionKind::ReadFile, ActionKind::CreateFile, ActionKind::ModifyFile],
            Self::RunCode => &[ActionKind::ReadFile, ActionKind::ExecuteCode],
            Self::Browse => &[ActionKind::NavigateNewDomain, ActionKind::HttpRequest, ActionKind::TakeScreenshot],
            Self::Research => &[ActionKind::ReadFile, ActionKind::SearchWeb, ActionKind::HttpRequest],
            Self::ExtractData => &[ActionKind::ReadFile, ActionKind::CreateFile],
            Self::WriteText | Self::Spreadsheets => {
                &[ActionKind::ReadFile, ActionKind::CreateFile, ActionKind::ModifyFile]
            }
            Self::SendMessages => &[ActionKind::ReadFile, ActionKind::SendEmail],
            Self::ScanNetworks => &[ActionKind::ReadFile, ActionKind::NetworkScan],
        }
    }

    /// Those of which an agent needs one, so that an act of this kind is its business; none is needed where the list is empty.
    pub const fn one_needed_for(kind: ActionKind) -> &'static [Self] {
        match kind {
            // Everybody reads what is in the workspace. What pays is opened by its switch, and by nothing else.
            ActionKind::ReadFile | ActionKind::MakePayment => &[],
            ActionKind::SearchWeb | ActionKind::HttpRequest => &[Self::Browse, Self::Research],
            ActionKind::TakeScreenshot | ActionKind::NavigateNewDomain | ActionKind::SubmitForm => &[Self::Browse],
            ActionKind::CreateFile => &[Self::WriteCode, Self::ExtractData, Self::WriteText, Self::Spreadsheets],
            ActionKind::ModifyFile | ActionKind::DeleteFile | ActionKind::PublishContent => {
                &[Self::WriteCode, Self::WriteText, Self::Spreadsheets]
            }
            ActionKind::ExecuteCode => &[Self::RunCode],
            ActionKind::NetworkScan => &[Self::ScanNetworks],
            ActionKind::SendEmail => &[Self::SendMessages],
            ActionKind::DatabaseWrite => &[Self::RunCode, Self::Spreadsheets],
        }
    }
}

impl CageCapability {
    /// What a cage must be good for, so that an act of this kind can run in it.
    pub const fn needed_for(kind: ActionKind) -> Option<Self> {
        match kind {
            ActionKind::ExecuteCode => Some(Self::ExecuteCode),
            ActionKind::TakeScreenshot => Some(Self::Screenshots),
            ActionKind::ReadFile
            | ActionKind::SearchWeb
            | ActionKind::CreateFile
            | ActionKind::ModifyFile
            | ActionKind::NavigateNewDomain
            | ActionKind::NetworkScan
            | ActionKind::HttpRequest
            | ActionKind::SendEmail
            | ActionKind::SubmitForm
            | ActionKind::MakePayment
            | ActionKind::DeleteFile
            | ActionKind::PublishContent
            | ActionKind::DatabaseWrite => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_print_as_they_are_written() {
        for capability in Capability::ALL {
            assert_eq!(serde_json::to_value(capability).unwrap(), capability.as_str());
            assert!(!capability.usual_kinds().is_empty() && !capability.meaning().is_empty());
        }
        for capability in CageCapability::ALL {
            assert_eq!(serde_json::to_value(capability).unwrap(), capability.as_str());
        }
    }

    #[test]
    fn whoever_is_usually_expected_to_do_something_may_do_it() {
        for capability in Capability::ALL {
            for kind in capability.usual_kinds() {
                let needed = Capability::one_needed_for(*kind);
                assert!(needed.is_empty() || needed.contains(capability), "{capability} may not {kind}");
            }
        }
    }
}
