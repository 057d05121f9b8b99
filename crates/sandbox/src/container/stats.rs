//! What a container uses, as engines tell it. Fields that an engine leaves out count as nothing.

use serde::Deserialize;

use crate::outcome::Usage;

/// One look at a container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    cpu_stats: Cpu,
    memory_stats: Memory,
    pids_stats: Pids,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Cpu {
    cpu_usage: CpuUsage,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct CpuUsage {
    /// Nanoseconds.
    total_usage: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Memory {
    usage: u64,
    max_usage: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Pids {
    current: Option<u64>,
}

impl Stats {
    /// The most of both, so that a later look never takes anything back.
    pub(super) fn add_to(&self, usage: &mut Usage) {
        usage.cpu_ms = usage.cpu_ms.max(self.cpu_stats.cpu_usage.total_usage / 1_000_000);
        let memory = self.memory_stats.usage.max(self.memory_stats.max_usage);
        usage.peak_memory_bytes = usage.peak_memory_bytes.max(memory);
        usage.max_processes = usage.max_processes.max(self.pids_stats.current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_leaves_out_counts_as_nothing_and_nothing_is_taken_back() {
        let mut usage = Usage::default();
        let first =
            r#"{"cpu_stats":{"cpu_usage":{"total_usage":41614661}},"memory_stats":{"usage":7},"pids_stats":{}}"#;
        for text in [first, r#"{"pids_stats":{"current":2},"memory_stats":{"usage":1,"max_usage":5}}"#, "{}"] {
            serde_json::from_str::<Stats>(text).expect("an answer").add_to(&mut usage);
        }
        assert_eq!((usage.cpu_ms, usage.peak_memory_bytes, usage.max_processes), (41, 7, Some(2)));
    }
}
