//! The text of a profile. Reading only: what it means for its parent is in [`super::extend`].

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use toml::Spanned;

use super::error::Fault;
use super::{Capability, LeastTier, Programs};

/// What a file says, key by key. Tables have their keys' places, so that a complaint can name the line.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) about: Spanned<String>,
    pub(super) extends: Option<Spanned<String>>,
    pub(super) demands: Option<Spanned<LeastTier>>,
    pub(super) programs: Option<Spanned<Given<Programs>>>,
    pub(super) capabilities: Option<Spanned<Given<Vec<Capability>>>>,
    pub(super) doors: Option<Spanned<Given<Vec<u16>>>>,
    pub(super) network: Option<Spanned<Given<Vec<String>>>>,
    #[serde(default)]
    pub(super) limits: Table<Quantity>,
    #[serde(default)]
    pub(super) scratch: Table<Quantity>,
    #[serde(default)]
    pub(super) variables: Table<String>,
    #[serde(default)]
    pub(super) read_only: Table<String>,
    #[serde(default)]
    pub(super) refused: BTreeMap<Spanned<String>, Why>,
}

pub(super) type Table<T> = BTreeMap<Spanned<String>, Given<T>>;

/// A value with its reason.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ is = …, reason = \"…\" }`")]
pub(super) struct Given<T> {
    pub(super) is: T,
    pub(super) reason: Spanned<String>,
}

/// A reason alone.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ reason = \"…\" }`")]
pub(super) struct Why {
    pub(super) reason: Spanned<String>,
}

/// A number, or text with a unit.
#[derive(Debug)]
pub(super) struct Quantity(pub(super) String);

impl File {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        Ok(toml::from_str(text)?)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Quantity;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number, or text with a unit like \"10s\" or \"1GiB\"")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Quantity, E> {
                Ok(Quantity(text.to_owned()))
            }
        }
        from.deserialize_any(Either)
    }
}

/// A reason that says something.
pub(super) fn reason(written: &Spanned<String>) -> Result<super::Text, Fault> {
    let text = written.get_ref().trim();
    match text {
        "" => Err(Fault::at(written.span(), "the reason is empty").hint("say why; whoever reads the plan is told")),
        _ => Ok(text.to_owned().into()),
    }
}
