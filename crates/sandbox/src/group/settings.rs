//! The limits of a cage as the files of its control groups. Which file gets which text is a pure table.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use super::{Controller, GroupDirectory, GroupVersion};
use crate::profile::Limits;

/// Process 1 of the cage is in the group and is not the command's.
pub(crate) const OWN_PROCESSES: u64 = 1;

/// The kernel's own default; shorter ones cost more switches, longer ones stutter.
const SHARE_PERIOD_US: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Without it the limit does not hold.
    Must,
    /// Kernels without it have nothing to limit there.
    WhereThere,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) file: &'static str,
    pub(super) text: String,
    need: Need,
}

fn must(file: &'static str, text: impl ToString) -> Setting {
    Setting { file, text: text.to_string(), need: Need::Must }
}

fn where_there(file: &'static str, text: impl ToString) -> Setting {
    Setting { file, text: text.to_string(), need: Need::WhereThere }
}

/// In the order in which they must be written.
pub(super) fn settings(version: GroupVersion, controller: Controller, limits: &Limits) -> Vec<Setting> {
    let bytes = limits.memory_bytes.min(i64::MAX as u64);
    let processes = limits.pids.saturating_add(OWN_PROCESSES).min(u64::from(u32::MAX >> 1));
    let quota_us = limits.cpu_percent.map(|percent| u64::from(percent.get()) * SHARE_PERIOD_US / 100);
    match (version, controller) {
        // Swapped out is used all the same: without the second line a limit would only move memory to the disk.
        (GroupVersion::V1, Controller::Memory) => {
            vec![must("memory.limit_in_bytes", bytes), where_there("memory.memsw.limit_in_bytes", bytes)]
        }
        (GroupVersion::V2, Controller::Memory) => vec![
            must("memory.max", bytes),
            where_there("memory.swap.max", 0),
            // The kernel ends the whole tree at once; half of a tree is of no use to anybody.
            where_there("memory.oom.group", 1),
        ],
        (GroupVersion::V1 | GroupVersion::V2, Controller::Processes) => vec![must("pids.max", processes)],
        (GroupVersion::V1 | GroupVersion::V2, Controller::CpuTime | Controller::Freezer) => Vec::new(),
        (GroupVersion::V1, Controller::CpuShare) => quota_us
            .map(|quota| vec![must("cpu.cfs_period_us", SHARE_PERIOD_US), must("cpu.cfs_quota_us", quota)])
            .unwrap_or_default(),
        (GroupVersion::V2, Controller::CpuShare) => {
            quota_us.map(|quota| vec![must("cpu.max", format!("{quota} {SHARE_PERIOD_US}"))]).unwrap_or_default()
        }
    }
}

pub(super) fn write(directory: &GroupDirectory, limits: &Limits) -> io::Result<()> {
    let all = directory.controllers.iter().flat_map(|controller| settings(directory.version, *controller, limits));
    for setting in all {
        match write_file(&directory.path.join(setting.file), &setting.text) {
            Err(_) if setting.need == Need::WhereThere => {}
            other => other?,
        }
    }
    Ok(())
}

/// Without emptying it first, which these files take note of at some length.
fn write_file(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}
