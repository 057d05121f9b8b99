//! Points in time, as the store's clock tells them. The domain never asks for the time; it is told.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The end of time: the last moment that every JSON reader of the world reads alike (RFC 7493 §2.2).
    pub const END: Self = Self((1 << 53) - 1);

    pub const fn from_unix_ms(unix_ms: i64) -> Self {
        Self(unix_ms)
    }

    pub const fn unix_ms(self) -> i64 {
        self.0
    }

    /// The moment `millis` later; stops at the end of time instead of wrapping into the past.
    #[must_use]
    pub const fn plus_ms(self, millis: u64) -> Self {
        let later = self.0.saturating_add_unsigned(millis);
        if later > Self::END.0 { Self::END } else { Self(later) }
    }
}
