//! Reads the control groups of a cage: what was used, and whether the kernel refused something.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::fs::OFlags;

use super::groups::{Groups, Opened, open_at};
use crate::group::read::{cpu_ms_v1, cpu_ms_v2, field, number};
use crate::group::settings::OWN_PROCESSES;
use crate::group::{Controller, GroupVersion};
use crate::outcome::{Excess, LimitKind};
use crate::profile::Limits;
use crate::sys::Result;

/// Longer than any file that is read here.
const TEXT_BYTES: usize = 2_048;

/// The kernel counts memory in portions, per processor: a limit strikes when less than this is left.
const CHARGE_BYTES: u64 = 4 << 20;

/// The text of a small file of the kernel, from its beginning.
pub(super) fn text_of(file: impl AsFd) -> String {
    let mut text = [0; TEXT_BYTES];
    let length = rustix::io::pread(file, &mut text, 0).unwrap_or(0);
    String::from_utf8_lossy(&text[..length]).into_owned()
}

/// What each controller of the groups has to say. A part is missing where its controller, or the file, is.
#[derive(Default)]
pub(super) struct Meter {
    cpu: Option<Clock>,
    memory: Option<Memory>,
    processes: Option<Processes>,
    kill: Option<OwnedFd>,
}

/// Processor time.
struct Clock {
    file: OwnedFd,
    read_ms: fn(&str) -> Option<u64>,
}

struct Memory {
    peak: Option<OwnedFd>,
    refusals: Refusals,
}

enum Refusals {
    /// Both tell that a group ran out, ours or one above it. The counter of failures does not help: some kernels never
    /// move it.
    V1 {
        notice: Option<OwnedFd>,
        kills: OwnedFd,
    },
    V2 {
        events: OwnedFd,
    },
}

struct Processes {
    events: OwnedFd,
    peak: Option<OwnedFd>,
}

impl Meter {
    pub(super) fn new(groups: Groups) -> Self {
        let mut meter = Self::default();
        for mut opened in groups.into_opened() {
            meter.kill = meter.kill.take().or(opened.kill.take());
            for controller in opened.controllers.clone() {
                match controller {
                    Controller::CpuTime => meter.cpu = Clock::open(&opened).ok(),
                    Controller::Memory => meter.memory = Memory::open(&mut opened).ok(),
                    Controller::Processes => meter.processes = Processes::open(&opened).ok(),
                    Controller::CpuShare | Controller::Freezer => {}
                }
            }
        }
        meter
    }

    pub(super) fn cpu_ms(&self) -> Option<u64> {
        self.cpu.as_ref().and_then(|clock| (clock.read_ms)(&text_of(&clock.file)))
    }

    pub(super) fn counts_memory(&self) -> bool {
        self.memory.is_some()
    }

    pub(super) fn counts_processes(&self) -> bool {
        self.processes.is_some()
    }

    pub(super) fn peak_memory_bytes(&self) -> Option<u64> {
        self.memory.as_ref()?.peak.as_ref().and_then(|file| number(&text_of(file)))
    }

    /// Those of the command.
    pub(super) fn max_processes(&self) -> Option<u64> {
        let peak = self.processes.as_ref()?.peak.as_ref().and_then(|file| number(&text_of(file)))?;
        Some(peak.saturating_sub(OWN_PROCESSES))
    }

    /// What to wait on: each becomes ready when the kernel refused something.
    pub(super) fn notices(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let memory = self.memory.as_ref().and_then(|memory| match &memory.refusals {
            Refusals::V1 { notice, .. } => notice.as_ref().map(|notice| (notice.as_fd(), PollFlags::IN)),
            Refusals::V2 { events } => Some((events.as_fd(), PollFlags::PRI)),
        });
        let processes = self.processes.as_ref().map(|processes| (processes.events.as_fd(), PollFlags::PRI));
        memory.into_iter().chain(processes)
    }

    /// Whether the kernel refused memory or processes because of this cage's own limits. Reading also makes the
    /// notices quiet again.
    pub(super) fn refusal(&self, limits: &Limits) -> Option<Excess> {
        let memory = self.memory.as_ref().filter(|memory| memory.ran_out(limits.memory_bytes)).map(|_| Excess {
            which: LimitKind::Memory,
            limit: limits.memory_bytes,
            seen: self.peak_memory_bytes().unwrap_or(0),
        });
        let refused = self.processes.as_ref().and_then(|processes| field(&text_of(&processes.events), "max"));
        let processes = refused.filter(|refused| *refused > 0).map(|refused| Excess {
            which: LimitKind::Processes,
            limit: limits.pids,
            seen: limits.pids.saturating_add(refused),
        });
        memory.or(processes)
    }

    /// Ends everybody in the groups at once. `false`: the kernel cannot, or refused.
    pub(super) fn kill(&self) -> bool {
        self.kill.as_ref().is_some_and(|kill| rustix::io::write(kill, b"1").is_ok())
    }
}

impl Clock {
    fn open(opened: &Opened) -> Result<Self> {
        let open = |file| open_at(&opened.directory, file, OFlags::RDONLY);
        Ok(match opened.version {
            GroupVersion::V1 => Self { file: open("cpuacct.usage")?, read_ms: cpu_ms_v1 },
            GroupVersion::V2 => Self { file: open("cpu.stat")?, read_ms: cpu_ms_v2 },
        })
    }
}

impl Memory {
    fn open(opened: &mut Opened) -> Result<Self> {
        let open = |file| open_at(&opened.directory, file, OFlags::RDONLY);
        Ok(match opened.version {
            GroupVersion::V1 => {
                let kills = open("memory.oom_control")?;
                // With what is swapped out, where the kernel counts that: the limit is the same for both.
                let peak = open("memory.memsw.max_usage_in_bytes").or_else(|_| open("memory.max_usage_in_bytes"));
                Self { peak: peak.ok(), refusals: Refusals::V1 { notice: opened.out_of_memory.take(), kills } }
            }
            GroupVersion::V2 => {
                let events = open("memory.events")?;
                // The kernel tells of changes since the last reading.
                text_of(&events);
                Self { peak: open("memory.peak").ok(), refusals: Refusals::V2 { events } }
            }
        })
    }

    fn ran_out(&self, limit_bytes: u64) -> bool {
        match &self.refusals {
            Refusals::V1 { notice, kills } => {
                let noticed = notice.as_ref().is_some_and(|notice| rustix::io::read(notice, &mut [0; 8]).is_ok());
                let killed = || field(&text_of(kills), "oom_kill").is_some_and(|kills| kills > 0);
                let peak = || self.peak.as_ref().and_then(|file| number(&text_of(file)));
                let ours = || peak().is_none_or(|peak| peak.saturating_add(CHARGE_BYTES) >= limit_bytes);
                (noticed || killed()) && ours()
            }
            Refusals::V2 { events } => field(&text_of(events), "oom").is_some_and(|times| times > 0),
        }
    }
}

impl Processes {
    fn open(opened: &Opened) -> Result<Self> {
        let events = open_at(&opened.directory, "pids.events", OFlags::RDONLY)?;
        text_of(&events);
        Ok(Self { events, peak: open_at(&opened.directory, "pids.peak", OFlags::RDONLY).ok() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    use super::*;
    use crate::group::GroupDirectory;
    use crate::profile::Profile;

    /// A group of version 2 on this host, if the test may make one. Whatever controllers there are, every such group
    /// counts time and can be ended.
    struct Trial(PathBuf);

    impl Trial {
        fn make() -> Option<Self> {
            let top = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(PathBuf::from);
            let top = top.into_iter().find(|top| top.join("cgroup.controllers").exists())?;
            let path = top.join(format!("placet-trial-{}", std::process::id()));
            fs::create_dir(&path).ok().map(|()| Self(path))
        }

        fn groups(&self) -> Groups {
            let controllers = vec![Controller::CpuTime];
            let directory = GroupDirectory { path: self.0.clone(), version: GroupVersion::V2, controllers };
            Groups::open(&[directory]).expect("opened")
        }

        fn holding(&self, script: &str) -> Child {
            let join = format!("echo 0 > {}/cgroup.procs; {script}", self.0.display());
            Command::new("sh").args(["-c", &join]).spawn().expect("a process")
        }
    }

    impl Drop for Trial {
        fn drop(&mut self) {
            fs::remove_dir(&self.0).expect("nobody is left in the group");
        }
    }

    #[test]
    fn a_group_of_version_2_counts_time_and_ends_everybody_at_once() {
        let Some(trial) = Trial::make() else { return };
        let meter = Meter::new(trial.groups());
        let limits = Profile::builtin("default").expect("a builtin profile").limits();
        assert_eq!(
            trial.holding("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").wait().expect("it ends").code(),
            Some(0)
        );
        assert!(meter.cpu_ms().is_some_and(|cpu_ms| cpu_ms > 5), "{:?}", meter.cpu_ms());
        assert_eq!((meter.refusal(&limits), meter.counts_memory(), meter.max_processes()), (None, false, None));
        let mut busy = trial.holding("sleep 60 & sleep 60 & wait");
        while fs::read_to_string(trial.0.join("cgroup.procs")).expect("members").lines().count() < 3 {
            std::thread::yield_now();
        }
        assert!(meter.kill());
        assert!(!busy.wait().expect("it ended").success());
        // Orphans are reaped by whoever adopted them.
        while !fs::read_to_string(trial.0.join("cgroup.events")).expect("events").contains("populated 0") {
            std::thread::yield_now();
        }
    }
}
