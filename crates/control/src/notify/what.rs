//! What people can be told of.

use std::fmt;
use std::str::FromStr;

macro_rules! whats {
    ($($variant:ident = $name:literal, $waits:literal: $meaning:literal;)*) => {
        /// A kind of news, as settings name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum What {
            $(#[doc = $meaning] $variant,)*
        }

        impl What {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether somebody is waited for; what waits is told of only as long as it does.
            pub const fn waits(self) -> bool {
                match self { $(Self::$variant => $waits,)* }
            }
        }
    };
}

whats! {
    Action = "action", true: "An action waits for a decision.";
    Assigned = "assigned", true: "Somebody named you to look at an action that waits.";
    Interrupted = "interrupted", true: "The worker of an action was lost in the middle of it: somebody has to say what becomes of it.";
    Plan = "plan", true: "The plan of a run waits for a decision.";
    Checkpoint = "checkpoint", true: "A run stands still at a checkpoint.";
    Results = "results", true: "The results of a run wait for a decision.";
    Wish = "wish", true: "A cage wants to reach a host that a person could open.";
    Failed = "failed", false: "A run could not go on.";
    Exhausted = "exhausted", false: "A run used something up and stands still.";
    Worker = "worker", false: "A worker was lost before it began.";
    Informed = "informed", false: "The duties of a project name somebody as informed of what was done with a worktree.";
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|what| what.as_str() == text);
        found.ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|what| what.as_str()).collect();
            format!("`{text}` is nothing people are told of; write some of: {}", all.join(", "))
        })
    }
}
