//! Counts the processes of a cage by the host's process table: the way that is left where no control group counts,
//! and the only one to learn what is written to disks.
//!
//! Every process of a cage descends from its process 1, so the walk begins there. What it sees is a moment, and not
//! even the same moment everywhere; it is repeated, and good enough to end what grows beyond a limit.

use std::os::fd::OwnedFd;

use rustix::fs::{Dir, Mode, OFlags};
use rustix::process::Pid;

use super::groups::open_at;
use super::meter::text_of;
use super::written::written_bytes;

/// The host's process table, as seen before the cage had its own.
pub(super) struct Census {
    table: OwnedFd,
    ticks_per_second: u64,
    page_bytes: u64,
}

/// What the living processes have in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Processes and threads, process 1 aside.
    pub(super) tasks: u64,
    /// Processor time, that of reaped children included.
    pub(super) cpu_ms: u64,
    /// Private memory; pages that are shared since a fork count for each.
    pub(super) private_bytes: u64,
    /// Bytes on their way to disks, those of reaped children included.
    pub(super) written_bytes: u64,
    /// Processes that do not let others of the same user look.
    pub(super) hidden: u64,
}

impl Census {
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let table = rustix::fs::open("/proc", flags, Mode::empty()).ok()?;
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        Some(Self { table, ticks_per_second, page_bytes: rustix::param::page_size() as u64 })
    }

    pub(super) fn count(&self, init: Pid) -> Count {
        let mut count = Count::default();
        self.walk(init, |pid, process, threads| {
            // Process 1 is ours, and is no process of the command.
            count.tasks += if pid == init { 0 } else { threads };
            count.cpu_ms += cpu_ticks(&text_at(process, "stat")).unwrap_or(0) * 1_000 / self.ticks_per_second;
            count.private_bytes += private_pages(&text_at(process, "statm")).unwrap_or(0) * self.page_bytes;
            // Process 1 is ours, hides itself, and tells by other means what it reaped.
            match written_bytes(&text_at(process, "io")) {
                Some(written) => count.written_bytes += written,
                None if pid == init => {}
                None => count.hidden += 1,
            }
        });
        count
    }

    /// How many threads could go on, or cannot be looked at; process 1 is ours. Lists of children are complete only while
    /// nobody makes any, so one look at which nobody is awake does not prove that nobody is.
    pub(super) fn awake(&self, init: Pid) -> u64 {
        let mut awake = 0;
        let unseen = self.walk(init, |pid, process, _| {
            if pid != init {
                let states =
                    threads(process).into_iter().map(|thread| text_at(process, &format!("task/{thread}/stat")));
                awake += states.filter(|stat| !is_still(stat)).count() as u64;
            }
        });
        awake.saturating_add(unseen)
    }

    /// Each shared page divided by those who share it: exact, and slow enough to be asked for only in doubt.
    pub(super) fn fair_memory_bytes(&self, init: Pid) -> u64 {
        let mut bytes = 0;
        self.walk(init, |_, process, _| {
            let exact = number_behind(&text_at(process, "smaps_rollup"), "Pss_Anon:").map(|kib| kib * 1_024);
            let rough = || private_pages(&text_at(process, "statm")).map(|pages| pages * self.page_bytes);
            bytes += exact.or_else(rough).unwrap_or(0);
        });
        bytes
    }

    /// Tells of each process its number, its directory and how many threads it has; returns how many could not be seen.
    fn walk(&self, init: Pid, mut visit: impl FnMut(Pid, &OwnedFd, u64)) -> u64 {
        let (mut waiting, mut unseen) = (vec![init], 0);
        while let Some(pid) = waiting.pop() {
            let name = pid.as_raw_nonzero().to_string();
            // One that ended meanwhile left what it used to its parent.
            let Ok(process) = open_at(&self.table, &name, OFlags::PATH | OFlags::DIRECTORY) else {
                unseen += 1;
                continue;
            };
            let threads = threads(&process);
            let lists = threads.iter().map(|thread| text_at(&process, &format!("task/{thread}/children")));
            lists.for_each(|list| waiting.extend(numbers(&list)));
            visit(pid, &process, threads.len() as u64);
        }
        unseen
    }
}

/// A child belongs to the thread that started it, so each of them is asked.
fn threads(process: &OwnedFd) -> Vec<String> {
    let Ok(threads) = open_at(process, "task", OFlags::RDONLY | OFlags::DIRECTORY) else { return Vec::new() };
    let names = Dir::read_from(&threads).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| !name.starts_with('.')).collect()
}

fn numbers(list: &str) -> impl Iterator<Item = Pid> {
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
}

fn text_at(directory: &OwnedFd, file: &str) -> String {
    open_at(directory, file, OFlags::RDONLY).map(text_of).unwrap_or_default()
}

/// Stopped, or dead: field 3 of `stat`.
fn is_still(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
    matches!(state, Some('T' | 't' | 'Z' | 'X'))
}

/// User and system time, its own and that of reaped children: fields 14 to 17 of `stat`.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(4);
    fields.map(|field| field.parse::<u64>().ok()).sum()
}

/// Resident and not shared: fields 2 and 3 of `statm`.
fn private_pages(statm: &str) -> Option<u64> {
    let mut fields = statm.split(' ').skip(1).map(|field| field.parse::<u64>().ok());
    Some(fields.next()??.saturating_sub(fields.next()??))
}

fn number_behind(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_program_name() {
        let stat = "12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 999 0";
        assert_eq!(cpu_ticks(stat), Some(127));
        assert_eq!(cpu_ticks("nonsense"), None);
        assert!(!is_still(stat) && !is_still(""), "asleep, or not to be seen");
        assert!(is_still("12 (a) S (c) T 1 2 3") && is_still("12 (x) Z 1"));
        assert_eq!(private_pages("100 30 20 1 0 5 0"), Some(10));
        assert_eq!(number_behind("Rss:   12 kB\nPss_Anon:       8 kB\n", "Pss_Anon:"), Some(8));
    }

    #[test]
    fn this_process_counts_itself() {
        let census = Census::open().expect("a process table");
        let count = census.count(rustix::process::getpid());
        assert!(count.private_bytes > 0, "{count:?}");
        assert_eq!(count.tasks, 0, "where it is process 1 itself");
        assert!(census.fair_memory_bytes(rustix::process::getpid()) > 0);
    }
}
