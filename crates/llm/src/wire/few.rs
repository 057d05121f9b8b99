//! A list of which no format has more than a few. It is refused as soon as it is longer: an entry that says nothing takes three bytes of a
//! body, and many times that in memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Longer than any such list that a server takes.
const MOST: usize = 64;

#[derive(Debug)]
pub(super) struct Few<T>(pub(super) Vec<T>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct Collect<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
        let mut found = Vec::new();
        while let Some(next) = list.next_element()? {
            if found.len() == MOST {
                return Err(A::Error::custom(format_args!("it has more than {MOST} entries")));
            }
            found.push(next);
        }
        Ok(Few(found))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Collect(PhantomData))
    }
}
