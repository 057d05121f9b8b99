//! What the files of a control group say, in one unit each. Pure: text in, numbers out.

/// A number behind its name in a file of `name number` lines.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let of_line = |line: &str| line.split_once(' ').filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    text.lines().find_map(of_line)?.trim().parse().ok()
}

/// A file that is one number.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `cpu.stat` of version 2.
pub(crate) fn cpu_ms_v2(text: &str) -> Option<u64> {
    field(text, "usage_usec").map(|micros| micros / 1_000)
}

/// `cpuacct.usage` of version 1.
pub(crate) fn cpu_ms_v1(text: &str) -> Option<u64> {
    number(text).map(|nanos| nanos / 1_000_000)
}
