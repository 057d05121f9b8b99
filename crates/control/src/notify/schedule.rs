//! When a route tells: soon, in digests, or only if something still waits after a while; and never in somebody's night. Pure: it is told
//! what time it is.
//!
//! An escalation is a route of its own that is told later, if nothing happened: there is no second state to keep, and it happens once
//! because a notice is settled once.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use placet_domain::time::Timestamp;

use super::Notice;

const MINUTE_MS: u64 = 60_000;
/// So that many questions that come at once are one message.
const GATHER_MS: u64 = 5_000;
/// A chat or a mailbox is not told more often than this, however much happens.
const REST_MS: u64 = 30_000;

/// How soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// After a moment in which more of the same is gathered.
    Soon { gather_ms: u64, rest_ms: u64 },
    /// All together, at every whole multiple of so many minutes.
    Digest { every_minutes: u32 },
    /// Only what still waits after so many minutes, or after half of the time to its deadline if that is sooner.
    Escalation { after_minutes: u32 },
}

impl Pace {
    pub const SOON: Self = Self::Soon { gather_ms: GATHER_MS, rest_ms: REST_MS };
}

/// Hours in which nobody is told anything; what comes meanwhile is told in one message when they are over.
#[derive(Debug, Clone)]
pub struct QuietHours {
    from: Time,
    until: Time,
    zone: TimeZone,
}

/// Quiet hours that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHours {
    #[error("`{0}` is no time of day; write one like `22:00`")]
    Time(String),
    #[error("quiet hours that begin when they end would never end; write two different times")]
    Endless,
    #[error(
        "the time zone `{0}` is not known on this machine; write one like `Europe/Paris` or `UTC` (Debian: install `tzdata`)"
    )]
    Zone(String),
}

impl QuietHours {
    pub fn new(from: &str, until: &str, zone: &str) -> Result<Self, BadHours> {
        let (from, until) = (time(from)?, time(until)?);
        if from == until {
            return Err(BadHours::Endless);
        }
        let found = if zone == "UTC" { Ok(TimeZone::UTC) } else { TimeZone::get(zone) };
        let zone = found.map_err(|_| BadHours::Zone(zone.chars().take(80).collect()))?;
        Ok(Self { from, until, zone })
    }

    fn holds(&self, time: Time) -> bool {
        if self.from < self.until {
            self.from <= time && time < self.until
        } else {
            self.from <= time || time < self.until
        }
    }

    /// The moment itself, or the end of the quiet hours that it lies in.
    fn after(&self, at: Timestamp) -> Timestamp {
        let Ok(instant) = jiff::Timestamp::from_millisecond(at.unix_ms()) else { return at };
        let local = self.zone.to_datetime(instant);
        if !self.holds(local.time()) {
            return at;
        }
        // A clock that is put back shows the end twice; the first counts, and nothing is ever told before its time.
        self.end(local).map_or(at, |end| end.max(at))
    }

    fn end(&self, local: DateTime) -> Option<Timestamp> {
        let date = if local.time() < self.until { local.date() } else { local.date().tomorrow().ok()? };
        let end = self.zone.to_timestamp(date.to_datetime(self.until)).ok()?;
        Some(Timestamp::from_unix_ms(end.as_millisecond()))
    }
}

/// `HH:MM`, as everybody writes it.
fn time(text: &str) -> Result<Time, BadHours> {
    let bad = || BadHours::Time(text.chars().take(20).collect());
    let (hour, minute) = text.split_once(':').ok_or_else(bad)?;
    let number =
        |part: &str| part.parse::<i8>().ok().filter(|_| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()));
    let (hour, minute) = (number(hour).ok_or_else(bad)?, number(minute).ok_or_else(bad)?);
    Time::new(hour, minute, 0, 0).map_err(|_| bad())
}

/// When a route tells of what it is told.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub pace: Pace,
    pub quiet: Option<QuietHours>,
}

impl Schedule {
    /// When a notice is to be told, if nothing was told since `rested`.
    pub(crate) fn due(&self, notice: &Notice, last_told: Option<Timestamp>) -> Timestamp {
        let due = match self.pace {
            Pace::Soon { gather_ms, rest_ms } => {
                let rested = last_told.map(|told| told.plus_ms(rest_ms));
                notice.at.plus_ms(gather_ms).max(rested.unwrap_or(notice.at))
            }
            Pace::Digest { every_minutes } => next_multiple(notice.at, every_minutes),
            Pace::Escalation { after_minutes } => escalated(notice, after_minutes),
        };
        self.quiet.as_ref().map_or(due, |quiet| quiet.after(due))
    }

    /// Whether nobody is told anything now.
    pub(crate) fn is_quiet(&self, now: Timestamp) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| quiet.after(now) > now)
    }

    /// Which of the notices that are not told yet, oldest first, are told now. What came later goes along, except for escalations: those
    /// have to have waited each by itself.
    pub(crate) fn ripe<'n>(
        &self,
        pending: &'n [Notice],
        last_told: Option<Timestamp>,
        now: Timestamp,
    ) -> Vec<&'n Notice> {
        // What was due before and could not be told keeps the hours too.
        if self.is_quiet(now) {
            return Vec::new();
        }
        let is_due = |notice: &&Notice| self.due(notice, last_told) <= now;
        match self.pace {
            Pace::Escalation { .. } => pending.iter().filter(is_due).collect(),
            Pace::Soon { .. } | Pace::Digest { .. } if pending.iter().any(|notice| is_due(&notice)) => {
                pending.iter().collect()
            }
            Pace::Soon { .. } | Pace::Digest { .. } => Vec::new(),
        }
    }
}

fn next_multiple(at: Timestamp, minutes: u32) -> Timestamp {
    let period_ms = i64::from(minutes.max(1)) * 60_000;
    Timestamp::from_unix_ms((at.unix_ms().div_euclid(period_ms) + 1).saturating_mul(period_ms))
}

fn escalated(notice: &Notice, after_minutes: u32) -> Timestamp {
    let after = notice.at.plus_ms(u64::from(after_minutes) * MINUTE_MS);
    let half = notice.deadline.map(|deadline| {
        let left_ms = deadline.unix_ms().saturating_sub(notice.at.unix_ms()).max(0);
        notice.at.plus_ms(left_ms.unsigned_abs() / 2)
    });
    half.map_or(after, |half| half.min(after))
}

#[cfg(test)]
mod tests {
    use placet_domain::id::RunId;

    use super::super::{NoticeKind, Subject};
    use super::*;

    /// A moment, written as people do.
    fn at(text: &str) -> Timestamp {
        let instant: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_unix_ms(instant.as_millisecond())
    }

    fn notice(when: &str, deadline: Option<&str>) -> Notice {
        Notice {
            seq: 7,
            at: at(when),
            what: NoticeKind::Plan,
            project: None,
            subject: Subject::Run(RunId::from_uuid(uuid::Uuid::nil())),
            tier: None,
            deadline: deadline.map(at),
        }
    }

    fn schedule(pace: Pace, quiet: Option<(&str, &str, &str)>) -> Schedule {
        Schedule { pace, quiet: quiet.map(|(from, until, zone)| QuietHours::new(from, until, zone).unwrap()) }
    }

    #[track_caller]
    fn due(schedule: &Schedule, when: &str, expected: &str) {
        let due = schedule.due(&notice(when, None), None);
        let shown = jiff::Timestamp::from_millisecond(due.unix_ms()).unwrap().to_string();
        assert_eq!(shown, expected, "what comes at {when}");
    }

    const SOON: Pace = Pace::Soon { gather_ms: 0, rest_ms: 0 };

    #[test]
    fn b4_what_is_urgent_is_gathered_for_a_moment_and_a_channel_rests_between_two_messages() {
        let soon = schedule(Pace::SOON, None);
        due(&soon, "2026-03-02T09:00:00Z", "2026-03-02T09:00:05Z");
        let told = Some(at("2026-03-02T08:59:50Z"));
        assert_eq!(soon.due(&notice("2026-03-02T09:00:00Z", None), told), at("2026-03-02T09:00:20Z"));
    }

    #[test]
    fn b4_a_digest_comes_at_whole_multiples_and_everything_goes_along() {
        let hourly = schedule(Pace::Digest { every_minutes: 60 }, None);
        due(&hourly, "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
        due(&hourly, "2026-03-02T09:59:59Z", "2026-03-02T10:00:00Z");
        let pending = [notice("2026-03-02T09:10:00Z", None), notice("2026-03-02T10:00:00Z", None)];
        assert!(hourly.ripe(&pending, None, at("2026-03-02T09:59:59Z")).is_empty());
        assert_eq!(hourly.ripe(&pending, None, at("2026-03-02T10:00:01Z")).len(), 2);
    }

    #[test]
    fn b4_quiet_hours_hold_in_local_time_over_midnight_and_over_both_changes_of_the_clock() {
        let paris = |from, until| schedule(SOON, Some((from, until, "Europe/Paris")));
        let night = paris("22:00", "07:00");
        due(&night, "2026-01-10T20:59:59Z", "2026-01-10T20:59:59Z");
        due(&night, "2026-01-10T21:00:00Z", "2026-01-11T06:00:00Z");
        due(&night, "2026-01-11T03:00:00Z", "2026-01-11T06:00:00Z");
        due(&night, "2026-01-11T06:00:00Z", "2026-01-11T06:00:00Z");
        // In the night of 29 March the clock goes from two to three: seven o'clock comes an hour sooner.
        due(&night, "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z");
        // In the night of 25 October it goes back from three to two.
        due(&night, "2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z");
        // An end that does not exist on that day, and one that comes twice.
        due(&paris("22:00", "02:30"), "2026-03-28T23:00:00Z", "2026-03-29T01:30:00Z");
        due(&paris("22:00", "02:30"), "2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z");
        due(&paris("22:00", "02:30"), "2026-10-25T01:10:00Z", "2026-10-25T01:10:00Z");
        // Elsewhere on other days, in the other order, and by half an hour.
        let night = |zone| schedule(SOON, Some(("22:00", "07:00", zone)));
        due(&night("America/New_York"), "2026-03-08T03:00:00Z", "2026-03-08T11:00:00Z");
        due(&night("America/New_York"), "2026-11-01T02:00:00Z", "2026-11-01T12:00:00Z");
        due(&night("Australia/Lord_Howe"), "2026-04-04T11:00:00Z", "2026-04-04T20:30:00Z");
        due(&night("Australia/Lord_Howe"), "2026-10-03T11:30:00Z", "2026-10-03T20:00:00Z");
        due(&night("Asia/Kathmandu"), "2026-06-01T16:15:00Z", "2026-06-02T01:15:00Z");
        let noon = schedule(SOON, Some(("12:00", "13:00", "UTC")));
        due(&noon, "2026-01-10T12:30:00Z", "2026-01-10T13:00:00Z");
        due(&noon, "2026-01-10T13:00:00Z", "2026-01-10T13:00:00Z");
    }

    #[test]
    fn b4_what_falls_due_in_quiet_hours_is_told_when_they_are_over_in_every_pace() {
        let night = Some(("22:00", "07:00", "UTC"));
        for pace in [Pace::SOON, Pace::Digest { every_minutes: 30 }, Pace::Escalation { after_minutes: 20 }] {
            let schedule = schedule(pace, night);
            let pending = [notice("2026-01-10T21:59:59Z", None), notice("2026-01-11T01:00:00Z", None)];
            assert!(schedule.ripe(&pending, None, at("2026-01-11T06:59:59Z")).is_empty(), "{pace:?}");
            assert_eq!(schedule.ripe(&pending, None, at("2026-01-11T07:00:00Z")).len(), 2, "{pace:?}");
        }
    }

    #[test]
    fn b4_what_could_not_be_told_before_quiet_hours_is_not_told_in_them() {
        let schedule = schedule(SOON, Some(("22:00", "07:00", "UTC")));
        let late = [notice("2026-01-10T21:59:00Z", None)];
        assert_eq!(schedule.ripe(&late, None, at("2026-01-10T21:59:30Z")).len(), 1);
        assert!(schedule.ripe(&late, None, at("2026-01-10T22:00:00Z")).is_empty());
        assert_eq!(schedule.ripe(&late, None, at("2026-01-11T07:00:00Z")).len(), 1);
    }

    #[test]
    fn b4_an_escalation_comes_after_its_time_or_half_way_to_the_deadline() {
        let escalation = schedule(Pace::Escalation { after_minutes: 30 }, None);
        due(&escalation, "2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z");
        let tight = notice("2026-03-02T09:00:00Z", Some("2026-03-02T09:20:00Z"));
        assert_eq!(escalation.due(&tight, None), at("2026-03-02T09:10:00Z"));
        let past = notice("2026-03-02T09:00:00Z", Some("2026-03-02T08:00:00Z"));
        assert_eq!(escalation.due(&past, None), at("2026-03-02T09:00:00Z"));
        let pending = [notice("2026-03-02T09:00:00Z", None), notice("2026-03-02T09:10:00Z", None)];
        let ripe = escalation.ripe(&pending, None, at("2026-03-02T09:35:00Z"));
        assert_eq!(ripe, [&pending[0]], "the second has not waited long enough");
    }

    #[test]
    fn b4_hours_and_zones_that_cannot_be_meant_are_refused_with_what_to_write() {
        for (from, until, zone, said) in [
            ("22", "07:00", "UTC", "`22:00`"),
            ("22:00", "7:00", "UTC", "time of day"),
            ("25:00", "07:00", "UTC", "time of day"),
            ("22:00", "07:61", "UTC", "time of day"),
            ("+2:00", "07:00", "UTC", "time of day"),
            ("07:00", "07:00", "UTC", "two different"),
            ("22:00", "07:00", "Europe/Atlantis", "`Europe/Paris`"),
            ("22:00", "07:00", "../../etc/passwd", "not known"),
        ] {
            let error = QuietHours::new(from, until, zone).unwrap_err().to_string();
            assert!(error.contains(said), "{from} {until} {zone}: {error}");
        }
    }
}
