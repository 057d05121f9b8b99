//! Processes of the host as a scenario sees them: who is whose child, and what a process holds.

use std::fs;

/// The children of every thread of a process, in the order they were made.
pub(crate) fn children_of(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut children: Vec<u32> =
        lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).map(number).collect();
    children.sort_unstable();
    children
}

fn number(text: String) -> u32 {
    text.parse().expect("a number")
}

#[track_caller]
pub(crate) fn the_child_of(process: u32) -> u32 {
    let children = children_of(process);
    let [child] = children[..] else { panic!("one child of {process}, not {children:?}") };
    child
}

/// The zygote of this process, which has launched something and has no other child.
#[track_caller]
pub(crate) fn zygote() -> u32 {
    the_child_of(std::process::id())
}

/// Nobody, or nobody's any more.
pub(crate) fn is_gone(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

/// What the descriptors of a process lead to, in order of their numbers.
pub(crate) fn descriptors_of(process: u32) -> Vec<String> {
    let mut all: Vec<(u32, String)> = fs::read_dir(format!("/proc/{process}/fd"))
        .expect("its descriptors")
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            Some((number(entry.file_name().to_string_lossy().into_owned()), target.to_string_lossy().into_owned()))
        })
        .collect();
    all.sort_unstable();
    all.into_iter().map(|(_, target)| target).collect()
}

/// Memory of a process that is in no file, counted page by page.
pub(crate) fn anonymous_kib_of(process: u32) -> u64 {
    kib_of(process, "Anonymous:").expect("the kernel counts it")
}

/// Memory of a process; pages that it shares count by its share. None: it is gone.
pub(crate) fn share_kib_of(process: u32) -> Option<u64> {
    kib_of(process, "Pss:")
}

fn kib_of(process: u32, what: &str) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    rollup.lines().find_map(|line| line.strip_prefix(what)?.split_whitespace().next()?.parse().ok())
}
