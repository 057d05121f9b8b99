//! The limits by the names that files and options use for them, and their values as people write them: `10s`, `1GiB`.
//!
//! What a limit does is written at [`Limits`]; this file only reads, shows and compares.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::Limits;
use crate::outcome::LimitKind;

/// One of the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitName {
    /// From entering the cage to the end, in milliseconds.
    Wall,
    /// Processor time, in milliseconds; counted in whole seconds.
    Cpu,
    /// How fast processor time may be used, in percent of one processor.
    Share,
    /// Memory in bytes.
    Memory,
    /// Processes and threads at one time.
    Processes,
    /// Open descriptors of one process.
    OpenFiles,
    /// Bytes of one file.
    FileSize,
    /// Bytes in scratch places and written to the workspace.
    Disk,
    /// Bytes of standard output and standard error together.
    Output,
}

/// A limit that is not one, or a value that is none of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLimit {
    /// No limit has this name.
    #[error("there is no limit `{0}`: the limits are {all}", all = LimitName::listed())]
    Name(String),
    /// The value is not of the limit's unit.
    #[error("`{text}` is no value of the limit `{name}`: write {unit}")]
    Value {
        /// The limit.
        name: LimitName,
        /// What was written.
        text: String,
        /// What could have been.
        unit: &'static str,
    },
}

type Units = &'static [(&'static str, u64)];

const MILLISECONDS: Units = &[("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)];
const BYTES: Units = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
const PERCENT: Units = &[("%", 1)];
const COUNT: Units = &[("", 1)];

impl LimitName {
    /// Every one, in reading order.
    pub const ALL: [Self; 9] = [
        Self::Wall,
        Self::Cpu,
        Self::Share,
        Self::Memory,
        Self::Processes,
        Self::OpenFiles,
        Self::FileSize,
        Self::Disk,
        Self::Output,
    ];

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Share => "share",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::OpenFiles => "open_files",
            Self::FileSize => "file_size",
            Self::Disk => "disk",
            Self::Output => "output",
        }
    }

    /// What it is called in a sentence.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "time from start to end",
            Self::Cpu => "processor time",
            Self::Share => "share of a processor",
            Self::Memory => "memory",
            Self::Processes => "processes and threads at one time",
            Self::OpenFiles => "open files of one process",
            Self::FileSize => "size of one file",
            Self::Disk => "scratch space and what is written to the workspace",
            Self::Output => "standard output and standard error together",
        }
    }

    fn listed() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    const fn units(self) -> Units {
        match self {
            Self::Wall | Self::Cpu => MILLISECONDS,
            Self::Share => PERCENT,
            Self::Memory | Self::FileSize | Self::Disk | Self::Output => BYTES,
            Self::Processes | Self::OpenFiles => COUNT,
        }
    }

    const fn expected(self) -> &'static str {
        match self {
            Self::Wall | Self::Cpu => "a time like `500ms`, `10s`, `5min` or `2h`",
            Self::Share => "percent of one processor like `150%`",
            Self::Memory | Self::FileSize | Self::Disk | Self::Output => "a size like `64KiB`, `256MiB` or `2GiB`",
            Self::Processes | Self::OpenFiles => "a number from 1",
        }
    }

    /// A value as people write it, in the unit of the limit. Nothing is unlimited, and nothing is zero.
    pub fn parse(self, text: &str) -> Result<u64, BadLimit> {
        let written = text.trim();
        let number = written.trim_end_matches(|each: char| !each.is_ascii_digit());
        let unit = written[number.len()..].trim_start();
        let scale = self.units().iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let value = number.parse::<u64>().ok().zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
        let in_range = |value: &u64| *value > 0 && (self != Self::Share || u32::try_from(*value).is_ok());
        value.filter(in_range).ok_or_else(|| BadLimit::Value {
            name: self,
            text: text.to_owned(),
            unit: self.expected(),
        })
    }

    /// A value as people read it, with at most one decimal.
    #[must_use]
    pub fn show(self, value: u64) -> String {
        let fits = |(_, scale): &&(&str, u64)| value >= *scale;
        let (unit, scale) = self.units().iter().rev().find(fits).unwrap_or(&self.units()[0]);
        match (value / scale, value % scale * 10 / scale) {
            (whole, 0) => format!("{whole}{unit}"),
            (whole, tenths) => format!("{whole}.{tenths}{unit}"),
        }
    }

    /// Its value among these limits; only a share may be absent.
    #[must_use]
    pub fn of(self, limits: &Limits) -> Option<u64> {
        match self {
            Self::Wall => Some(limits.wall_ms),
            Self::Cpu => Some(limits.cpu_seconds.saturating_mul(1_000)),
            Self::Share => limits.cpu_percent.map(|percent| percent.get().into()),
            Self::Memory => Some(limits.memory_bytes),
            Self::Processes => Some(limits.pids),
            Self::OpenFiles => Some(limits.open_files),
            Self::FileSize => Some(limits.file_bytes),
            Self::Disk => Some(limits.disk_bytes),
            Self::Output => Some(limits.output_bytes),
        }
    }

    /// These limits with another value of this one. A part of a second of processor time counts as a whole one, and a
    /// share of 0 as none.
    #[must_use]
    pub fn set(self, mut limits: Limits, value: u64) -> Limits {
        match self {
            Self::Wall => limits.wall_ms = value,
            Self::Cpu => limits.cpu_seconds = value.div_ceil(1_000),
            Self::Share => limits.cpu_percent = NonZeroU32::new(u32::try_from(value).unwrap_or(u32::MAX)),
            Self::Memory => limits.memory_bytes = value,
            Self::Processes => limits.pids = value,
            Self::OpenFiles => limits.open_files = value,
            Self::FileSize => limits.file_bytes = value,
            Self::Disk => limits.disk_bytes = value,
            Self::Output => limits.output_bytes = value,
        }
        limits
    }
}

impl From<LimitKind> for LimitName {
    fn from(kind: LimitKind) -> Self {
        match kind {
            LimitKind::WallClock => Self::Wall,
            LimitKind::Cpu => Self::Cpu,
            LimitKind::Memory => Self::Memory,
            LimitKind::Processes => Self::Processes,
            LimitKind::Disk => Self::Disk,
            LimitKind::FileBytes => Self::FileSize,
            LimitKind::Output => Self::Output,
        }
    }
}

impl FromStr for LimitName {
    type Err = BadLimit;

    fn from_str(text: &str) -> Result<Self, BadLimit> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| BadLimit::Name(text.to_owned()))
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Serialize for LimitName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl Limits {
    /// Of each limit the tighter one. A share that only one of them has counts.
    #[must_use]
    pub fn tightest(self, other: Self) -> Self {
        LimitName::ALL.into_iter().fold(self, |limits, name| match (name.of(&limits), name.of(&other)) {
            (Some(own), Some(others)) => name.set(limits, own.min(others)),
            (None, Some(others)) => name.set(limits, others),
            (_, None) => limits,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits() -> Limits {
        crate::Profile::builtin("default").expect("it ships").limits()
    }

    #[test]
    fn values_are_read_in_their_own_units_and_no_others() {
        assert_eq!(LimitName::Wall.parse("1500ms"), Ok(1_500));
        assert_eq!(LimitName::Wall.parse(" 2 h "), Ok(7_200_000));
        assert_eq!(LimitName::Memory.parse("1GiB"), Ok(1 << 30));
        assert_eq!(LimitName::Processes.parse("64"), Ok(64));
        assert_eq!(LimitName::Share.parse("150%"), Ok(150));
        for (name, text) in [
            (LimitName::Wall, "10"),
            (LimitName::Wall, "10GiB"),
            (LimitName::Wall, "-1s"),
            (LimitName::Wall, "0s"),
            (LimitName::Wall, ""),
            (LimitName::Memory, "1GB"),
            (LimitName::Memory, "1.5GiB"),
            (LimitName::Memory, "unlimited"),
            (LimitName::Memory, "99999999999TiB"),
            (LimitName::Processes, "64KiB"),
            (LimitName::Share, "4294967296%"),
        ] {
            let refused = name.parse(text).expect_err(text).to_string();
            assert!(refused.contains(name.as_str()) && refused.contains("write"), "{refused}");
        }
        assert!("wal".parse::<LimitName>().expect_err("a typo").to_string().contains("wall, cpu"));
    }

    #[test]
    fn what_was_seen_is_shown_with_one_decimal() {
        assert_eq!(LimitName::Wall.show(10_042), "10s");
        assert_eq!(LimitName::Wall.show(1_500), "1.5s");
        assert_eq!(LimitName::Memory.show((1 << 30) + (1 << 29)), "1.5GiB");
        assert_eq!(LimitName::Memory.show(0), "0B");
        assert_eq!(LimitName::Processes.show(65), "65");
    }

    proptest! {
        #[test]
        fn whole_values_are_read_back_as_they_are_shown(index in 0..LimitName::ALL.len(), number in 1_u64..1_000, unit in 0_usize..5) {
            let name = LimitName::ALL[index];
            let (_, scale) = name.units()[unit % name.units().len()];
            // Below the next unit: beyond it, a decimal may be cut.
            let value = number.min(23) * scale;
            prop_assert_eq!(name.parse(&name.show(value)), Ok(value));
        }

        #[test]
        fn the_tightest_limits_are_never_above_either(values in proptest::collection::vec(1_u64..1_000_000, 18)) {
            let with = |values: &[u64]| LimitName::ALL.into_iter().zip(values).fold(limits(), |all, (name, value)| name.set(all, *value));
            let (one, other) = (with(&values[..9]), with(&values[9..]));
            let both = one.tightest(other);
            for name in LimitName::ALL {
                prop_assert_eq!(name.of(&both), name.of(&one).min(name.of(&other)));
            }
        }
    }
}
