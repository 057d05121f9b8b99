//! A thousand cages: all asleep at the same time, then as many one after the other. Prints one line of JSON.
//!
//! Says what a sleeping cage costs: `process_kib_each`, the memory of its processes by share; and `all_kib_each`, which
//! adds what the kernel needs for them, monitors and namespaces included. The latter is counted by a memory group this
//! program moves into, which takes root and version 1; elsewhere it is null. Also says what is left when all are gone:
//! descriptors, mounts, groups and children. Usage: `many_cages [count]`. The tests do the same with fewer.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use placet_sandbox::{Exit, Launcher, Profile, Request, Running, helper_entry};

type Failure = Box<dyn std::error::Error>;

#[expect(clippy::print_stdout, reason = "printing the measurement is what this program is for")]
fn main() -> Result<(), Failure> {
    helper_entry();
    let count: usize = std::env::args().nth(1).map_or(Ok(1_000), |text| text.parse())?;
    let (launcher, profile) = (Launcher::default(), Profile::builtin("default").ok_or("no default profile")?);
    // Before the first launch: groups of cages are made below the group this process is in then.
    let scale = Scale::enter();
    launcher.launch(&profile, Request::new(["true"]))?.wait()?;
    let empty_kib = scale.as_ref().and_then(Scale::kib);
    let before = traces()?;
    let started = Instant::now();
    let asleep = (0..count)
        .map(|_| launcher.launch(&profile, Request::new(["sleep", "600"])))
        .collect::<Result<Vec<Running>, _>>()?;
    let launched_s = started.elapsed().as_secs_f64();
    let each = |kib: u64| kib / count as u64;
    let all_kib = scale.as_ref().and_then(Scale::kib).zip(empty_kib).map(|(full, empty)| each(full - empty));
    let process_kib = each(process_kib()?);
    let started = Instant::now();
    drop(asleep);
    let dropped_s = started.elapsed().as_secs_f64();
    let started = Instant::now();
    for _ in 0..count {
        let exit = launcher.launch(&profile, Request::new(["true"]))?.wait()?.exit;
        if exit != Exit::Code(0) {
            return Err(format!("the command ended with {exit:?}").into());
        }
    }
    let sequence_s = started.elapsed().as_secs_f64();
    let left = left_since(&before)?;
    let all_kib = all_kib.map_or("null".to_owned(), |kib| kib.to_string());
    println!(
        "{{\"cages\":{count},\"launched_s\":{launched_s:.1},\"process_kib_each\":{process_kib},\
         \"all_kib_each\":{all_kib},\"dropped_s\":{dropped_s:.1},\"one_by_one_s\":{sequence_s:.1},\"left\":{left:?}}}"
    );
    if left.is_empty() { Ok(()) } else { Err("something was left behind".into()) }
}

/// What this process has of each kind. Mounts are the host's, and others may change them meanwhile.
fn traces() -> Result<[(&'static str, usize); 4], Failure> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?.lines().count();
    let children = fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()))?;
    Ok([
        ("descriptors", fs::read_dir("/proc/self/fd")?.count()),
        ("mounts", mounts),
        ("groups", groups().len()),
        ("children", children.split_whitespace().count()),
    ])
}

/// What there is more of than before, when it has had time to go: the helper of a cage that ended lets go of its last
/// mounts, and is reaped, just after its end was told. Mounts may also have become fewer, by others.
fn left_since(before: &[(&'static str, usize); 4]) -> Result<Vec<String>, Failure> {
    let patience = Instant::now() + Duration::from_secs(5);
    loop {
        let now = traces()?;
        let more = now.iter().zip(before).filter(|((_, after), (_, before))| after > before);
        let left: Vec<String> = more.map(|(after, before)| format!("{after:?} instead of {before:?}")).collect();
        if left.is_empty() || Instant::now() > patience {
            return Ok(left);
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Groups of this process's cages, in every hierarchy.
fn groups() -> Vec<PathBuf> {
    let own = format!("-{}-", std::process::id());
    let is_own = |name: &str| name.starts_with("placet-cage-") && name.contains(&own);
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.extend(Some(entry.path()).filter(|_| is_own(&entry.file_name().to_string_lossy())));
                waiting.push(entry.path());
            }
        }
    }
    found
}

/// A memory group for this process and everything below it. Left and removed at the end.
struct Scale {
    above: PathBuf,
    group: PathBuf,
}

impl Scale {
    fn enter() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.split_once(":memory:/"))?.1.to_owned();
        let above = Path::new("/sys/fs/cgroup/memory").join(own);
        let group = above.join(format!("many-cages-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        let scale = Self { above, group };
        fs::write(scale.group.join("cgroup.procs"), "0").ok().map(|()| scale)
    }

    fn kib(&self) -> Option<u64> {
        let text = fs::read_to_string(self.group.join("memory.usage_in_bytes")).ok()?;
        text.trim().parse::<u64>().ok().map(|bytes| bytes / 1_024)
    }
}

impl Drop for Scale {
    fn drop(&mut self) {
        let _ = fs::write(self.above.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&self.group);
    }
}

/// Memory of all descendants of this process; pages they share count by their share.
fn process_kib() -> Result<u64, Failure> {
    let (mut total, mut waiting) = (0, vec![std::process::id().to_string()]);
    while let Some(pid) = waiting.pop() {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let rollup = fs::read_to_string(format!("/proc/{child}/smaps_rollup")).unwrap_or_default();
            let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
            total += pss.and_then(|text| text.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0);
            waiting.push(child.to_owned());
        }
    }
    Ok(total)
}
