//! Texts that keep a rule: made by parsing alone, and written as they are. The one maker of such types.

/// A name that is refused, with what a good one looks like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no {what}: {rule}")]
pub struct BadName {
    given: String,
    what: &'static str,
    rule: &'static str,
}

/// Enough of a bad name to recognise it.
const SHOWN_OF_BAD_NAME: usize = 80;

impl BadName {
    /// Refuses a text as the name of something, with the rule that good ones keep.
    pub fn new(given: &str, what: &'static str, rule: &'static str) -> Self {
        let shown: String = given.chars().take(SHOWN_OF_BAD_NAME).collect();
        Self { given: crate::text::spelled_out(&shown), what, rule }
    }
}

/// Types for texts that keep a rule: they are made by parsing alone, and are written as they are. Each line gives the
/// type, what it is called in messages, the rule as a function and the rule in words.
#[macro_export]
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $what:literal, $good:expr, $rule:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::name::BadName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let good: fn(&str) -> bool = $good;
                if good(text) { Ok(Self(text.to_owned())) } else { Err(Self::Err::new(text, $what, $rule)) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::name::BadName;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}
