//! Where something was found, before it is told to anybody.

use std::ops::Range;

/// Rules that are code and not shapes. Their numbers are their places in the scanner's list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Password,
    Secret,
    Key,
    PrivateKey,
    AddressPassword,
    AddressToken,
    CommandPassword,
    PgPass,
    PrefixedToken,
}

impl Special {
    pub(crate) const ALL: [Self; 9] = [
        Self::Password,
        Self::Secret,
        Self::Key,
        Self::PrivateKey,
        Self::AddressPassword,
        Self::AddressToken,
        Self::CommandPassword,
        Self::PgPass,
        Self::PrefixedToken,
    ];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Password => "assigned-password",
            Self::Secret => "assigned-secret",
            Self::Key => "assigned-key",
            Self::PrivateKey => "private-key",
            Self::AddressPassword => "address-password",
            Self::AddressToken => "address-token",
            Self::CommandPassword => "command-password",
            Self::PgPass => "pgpass-password",
            Self::PrefixedToken => "prefixed-token",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Password => "password given to something named like one",
            Self::Secret => "random value given to something named like a secret",
            Self::Key => "random value given to something named like a key",
            Self::PrivateKey => "private key",
            Self::AddressPassword => "password in an address",
            Self::AddressToken => "token in an address",
            Self::CommandPassword => "user and password given to a command",
            Self::PgPass => "password in a .pgpass line",
            Self::PrefixedToken => "random value behind a prefix, as tokens of many services are",
        }
    }
}

/// A secret at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Its place in the scanner's list of rules.
    pub(crate) rule: usize,
    /// Where that begins what made it a secret: the name before the value.
    pub(crate) context: usize,
    pub(crate) secret: Range<usize>,
    /// Whether it was found inside base64.
    pub(crate) wrapped: bool,
}

impl Hit {
    pub(crate) fn special(special: Special, context: usize, secret: Range<usize>) -> Self {
        Self { rule: special as usize, context, secret, wrapped: false }
    }

    /// Of two that overlap, the one that knows more stays: a vendor's rule before a telling name, a frame before its
    /// parts, the plain before the wrapped.
    pub(crate) fn rank(&self) -> u8 {
        match self.rule {
            rule if rule == Special::PrivateKey as usize => 4,
            rule if rule >= Special::ALL.len() => 3,
            rule if rule > Special::Key as usize => 2,
            _ => 1,
        }
    }
}

/// The hits to be told: in order, and none inside another.
pub(crate) fn without_overlaps(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.secret.start, std::cmp::Reverse(hit.secret.end), std::cmp::Reverse(hit.rank())));
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match kept.last_mut() {
            Some(last) if hit.secret.start < last.secret.end => {
                if (last.wrapped, std::cmp::Reverse(last.rank())) > (hit.wrapped, std::cmp::Reverse(hit.rank())) {
                    *last = hit;
                }
            }
            Some(_) | None => kept.push(hit),
        }
    }
    kept
}

/// The places to be taken out: everything that any hit covers.
pub(crate) fn covered(mut hits: Vec<Hit>) -> Vec<(Range<usize>, usize)> {
    hits.sort_by_key(|hit| (hit.secret.start, std::cmp::Reverse(hit.rank())));
    let mut places: Vec<(Range<usize>, usize)> = Vec::with_capacity(hits.len());
    for hit in hits {
        match places.last_mut() {
            Some((place, _)) if hit.secret.start < place.end => place.end = place.end.max(hit.secret.end),
            Some(_) | None => places.push((hit.secret, hit.rule)),
        }
    }
    places
}
