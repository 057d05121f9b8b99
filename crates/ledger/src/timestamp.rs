//! The one form in which the ledger writes a time: RFC 3339 in UTC with milliseconds, such as
//! `2026-01-31T09:30:00.000Z`.
//!
//! With a fixed form, the order of the texts is the order of the times. There is no clock here and no arithmetic.

const FORM: &[u8; 24] = b"dddd-dd-ddTdd:dd:dd.dddZ";

/// Whether `text` is a time in this form, on a day that exists. Leap seconds have no place in UTC as computers keep it.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let text = text.as_bytes();
    let has_form = text.len() == FORM.len()
        && text.iter().zip(FORM).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        });
    has_form && is_day(number(&text[0..4]), number(&text[5..7]), number(&text[8..10])) && is_time_of_day(&text[11..19])
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time_of_day(text: &[u8]) -> bool {
    number(&text[0..2]) < 24 && number(&text[3..5]) < 60 && number(&text[6..8]) < 60
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_exist_are_accepted() {
        for text in ["2026-01-31T09:30:00.000Z", "2024-02-29T23:59:59.999Z", "2000-02-29T00:00:00.000Z"] {
            assert!(is_timestamp(text), "{text}");
        }
    }

    #[test]
    fn other_forms_and_days_that_do_not_exist_are_refused() {
        for text in [
            "",
            "2026-01-31T09:30:00Z",
            "2026-01-31 09:30:00.000Z",
            "2026-01-31T09:30:00.000z",
            "2026-01-31T09:30:00.000+00:00",
            "2026-01-31T24:00:00.000Z",
            "2026-01-31T09:60:00.000Z",
            "2026-01-31T09:30:60.000Z",
            "2026-13-01T09:30:00.000Z",
            "2026-00-01T09:30:00.000Z",
            "2026-04-31T09:30:00.000Z",
            "2025-02-29T09:30:00.000Z",
            "1900-02-29T09:30:00.000Z",
            "2026-01-00T09:30:00.000Z",
            "2026-01-3１T09:30:00.00Z",
        ] {
            assert!(!is_timestamp(text), "{text}");
        }
    }
}
