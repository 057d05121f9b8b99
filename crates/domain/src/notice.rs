//! Kinds of notices: what people can be notified of. Events name the kind ([`crate::event_meta`]), settings route it.

use std::fmt;
use std::str::FromStr;

macro_rules! kinds {
    ($($variant:ident = $name:literal, $waits:literal: $meaning:literal;)*) => {
        /// Kind of a notice, as settings name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum NoticeKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl NoticeKind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// True if something waits for a person. Such a notice is sent only while it waits.
            pub const fn waits(self) -> bool {
                match self { $(Self::$variant => $waits,)* }
            }
        }
    };
}

kinds! {
    Action = "action", true: "An action waits for a decision.";
    Assigned = "assigned", true: "A colleague asked you to review an action that waits.";
    Interrupted = "interrupted", true: "The worker of an action was lost during the execution: a person must decide what happens with it.";
    Plan = "plan", true: "The plan of a run waits for a decision.";
    Checkpoint = "checkpoint", true: "A run waits at a checkpoint.";
    Results = "results", true: "The results of a run wait for a decision.";
    Wish = "wish", true: "A cage requested a host that a reviewer can open.";
    Failed = "failed", false: "A run failed.";
    Exhausted = "exhausted", false: "A run used up its budget and waits.";
    Worker = "worker", false: "A worker was lost before it started an action.";
    Informed = "informed", false: "The duties of a project name you as informed about a worktree.";
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NoticeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("there is no kind of notice `{text}`; the kinds are: {}", all.join(", "))
        })
    }
}
