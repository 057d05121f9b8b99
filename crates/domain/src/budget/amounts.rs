//! Amounts of what a run can use up: whole numbers only, so that two machines always count alike.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! resources {
    ($($variant:ident = $field:ident: $meaning:literal;)*) => {
        /// What can be used up.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Resource {
            $(#[doc = $meaning] $variant,)*
        }

        impl Resource {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field),)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }

        /// How much of each. What is left out is none.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Amounts {
            $(#[doc = $meaning] #[serde(skip_serializing_if = "is_zero")] pub $field: u64,)*
        }

        impl Amounts {
            pub const NONE: Self = Self { $($field: 0,)* };

            pub const fn of(&self, resource: Resource) -> u64 {
                match resource { $(Resource::$variant => self.$field,)* }
            }

            fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
                Self { $($field: with(self.$field, other.$field),)* }
            }
        }

        /// The most there may be of each. What is left out is unlimited.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Ceiling {
            $(#[doc = $meaning] #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<u64>,)*
        }

        impl Ceiling {
            pub const fn of(&self, resource: Resource) -> Option<u64> {
                match resource { $(Resource::$variant => self.$field,)* }
            }

            /// The same, with none of them above these amounts.
            #[must_use]
            pub fn within(self, most: Amounts) -> Self {
                Self { $($field: Some(self.$field.map_or(most.$field, |limit| limit.min(most.$field))),)* }
            }

            /// Exactly so much of each, and no more.
            pub const fn at(amounts: Amounts) -> Self {
                Self { $($field: Some(amounts.$field),)* }
            }

            /// The limits as amounts; what is unlimited counts as none.
            pub fn amounts(&self) -> Amounts {
                Amounts { $($field: self.$field.unwrap_or(0),)* }
            }
        }
    };
}

resources! {
    Tokens = tokens: "Tokens of language models.";
    UsdMicros = usd_micros: "Money, in millionths of a US dollar.";
    WallMs = wall_ms: "Time on the clock, in milliseconds.";
    Actions = actions: "Actions that are executed.";
    Pages = pages: "Pages that are visited.";
    DiskBytes = disk_bytes: "Room on a disk, in bytes.";
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Amounts {
    /// Sums stop at the largest number instead of wrapping: a sum that is too large is over every limit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// What is left when the other is taken away; nothing is ever less than none.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl std::iter::Sum for Amounts {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

/// What there is too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget has {left} {resource} left of {limit}, and {asked} would be needed")]
pub struct Shortage {
    pub resource: Resource,
    pub limit: u64,
    pub left: u64,
    pub asked: u64,
}

impl Ceiling {
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `asked` can be had on top of what is committed already. The first resource that does not suffice is named.
    pub fn permits(&self, committed: Amounts, asked: Amounts) -> Result<(), Shortage> {
        let short = |resource: &Resource| {
            let limit = self.of(*resource)?;
            let (asked, left) = (asked.of(*resource), limit.saturating_sub(committed.of(*resource)));
            (asked > left).then_some(Shortage { resource: *resource, limit, left, asked })
        };
        Resource::ALL.iter().find_map(short).map_or(Ok(()), Err)
    }

    /// What the other limits and this one does not: a part can't be unlimited where the whole is not.
    pub fn unlimited_beside(&self, other: &Self) -> Option<Resource> {
        Resource::ALL.iter().copied().find(|resource| other.of(*resource).is_some() && self.of(*resource).is_none())
    }
}
