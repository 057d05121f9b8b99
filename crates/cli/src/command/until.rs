//! Times as people type them: a time of day where they are (`18:00`), or how long (`90m`, `2h`). Pure: now is given.

use jiff::{ToSpan as _, Zoned, civil::Time};
use placet_domain::text::spelled_out;

use crate::error::CliError;

/// How long it is until then: a time of day where one is, today or else tomorrow; or simply how long.
pub(super) fn lasts_ms(until: &str, now: &Zoned) -> Result<u64, CliError> {
    let bad = || {
        CliError::usage(format!("`{}` is no time", spelled_out(until)))
            .hint("give a time of day (18:00) or how long (90m, 2h)")
    };
    if until.contains(':') {
        let time: Time = until.parse().map_err(|_| bad())?;
        let today = now.with().time(time).build().map_err(|_| bad())?;
        let end = if today > *now { today } else { today.checked_add(1.day()).map_err(|_| bad())? };
        let millis = end.timestamp().as_millisecond() - now.timestamp().as_millisecond();
        return u64::try_from(millis).map_err(|_| bad());
    }
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let found = units.iter().find_map(|(unit, millis)| Some((until.strip_suffix(unit)?.parse::<u64>().ok()?, *millis)));
    found.and_then(|(count, millis)| count.checked_mul(millis)).filter(|millis| *millis > 0).ok_or_else(bad)
}

/// The same in a sentence: `until 18:00`, `for 2h`.
pub(super) fn said(until: &str) -> String {
    let until = spelled_out(until);
    if until.contains(':') { format!("until {until}") } else { format!("for {until}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn at_half_past_five() -> Zoned {
        "2026-01-31T17:30:00+01:00[+01:00]".parse().unwrap()
    }

    #[test]
    fn b4_until_is_a_time_of_day_here_or_how_long() {
        let now = at_half_past_five();
        for (until, millis) in [
            ("18:00", 1_800_000),
            ("17:30", 86_400_000),
            ("17:00", 84_600_000),
            ("90m", 5_400_000),
            ("2h", 7_200_000),
            ("45s", 45_000),
        ] {
            assert_eq!(lasts_ms(until, &now).unwrap(), millis, "{until}");
        }
    }

    #[test]
    fn what_is_no_time_is_not_guessed_at() {
        for until in ["", "18", "25:00", "2d", "-1h", "0h", "h", "18:00 tomorrow", "99999999999999999h"] {
            assert_eq!(lasts_ms(until, &at_half_past_five()).unwrap_err().code, Code::Usage, "{until}");
        }
    }

    #[test]
    fn a_time_of_day_and_a_length_are_told_apart_in_words() {
        assert_eq!((said("18:00").as_str(), said("90m").as_str()), ("until 18:00", "for 90m"));
    }
}
