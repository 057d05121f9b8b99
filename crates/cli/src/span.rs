//! Moments and spans of time as lists tell them: in a few columns. Pure.

use jiff::Timestamp;

/// A moment that the API told, in milliseconds; the beginning of all clocks for what is none.
pub(crate) fn ms(rfc3339: &str) -> i64 {
    rfc3339.parse::<Timestamp>().map(Timestamp::as_millisecond).unwrap_or_default()
}

/// A span of time in four columns.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..=0 => "0s".to_owned(),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}
