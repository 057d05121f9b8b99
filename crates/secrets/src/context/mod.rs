//! Secrets that are known by their surroundings: something is named like a secret, and a value is given to it.
//!
//! [`assign`] reads the syntax around a telling word in whatever language it is, [`name`] says how much the name
//! promises, [`value`] whether the value keeps it. Nothing here knows the formats of single vendors.

pub(crate) mod assign;
pub(crate) mod name;
pub(crate) mod value;
