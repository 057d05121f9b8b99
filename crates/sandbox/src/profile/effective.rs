//! What a profile amounts to, as bytes: everything that decides what a cage is, and nothing that only explains it.
//!
//! Whoever approved one cage did not approve another, so these bytes can be compared. Reasons, descriptions and the way a
//! profile came about are left out: to explain something better changes no cage. Numbers of system calls are left out too,
//! their names are there; a few calls exist on one architecture alone, so that the same text is another cage elsewhere.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Capability, Demand, LeastTier, Limits, MountKind, Profile, Programs, Text, WorkspaceOwnership};
use crate::seccomp::Condition;

#[derive(Serialize)]
struct Effective<'a> {
    /// The version of this list.
    v: u8,
    demands: LeastTier,
    capabilities: &'a BTreeSet<Capability>,
    doors: Option<&'a BTreeSet<u16>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a BTreeSet<String>>,
    mounts: Vec<(&'a str, &'a MountKind)>,
    variables: Vec<(&'a str, &'a str)>,
    program_path: &'a [Text],
    limits: Limits,
    refused: Vec<(&'static str, i32, &'static [&'static [Condition]])>,
    landlock: Demand,
    groups: Demand,
    ownership: WorkspaceOwnership,
    programs: Programs,
    hostname: &'a str,
}

impl Profile {
    /// The bytes of what it amounts to: the same bytes, the same cage.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn effective(&self) -> Vec<u8> {
        let effective = Effective {
            v: 1,
            demands: self.demands,
            capabilities: &self.capabilities,
            doors: self.doors.as_ref(),
            network: self.network.as_ref(),
            mounts: self.mounts.iter().map(|mount| (mount.at.as_ref(), &mount.what)).collect(),
            variables: self.env.iter().map(|one| (one.name.as_ref(), one.value.as_ref())).collect(),
            program_path: &self.program_path,
            limits: self.limits,
            refused: self.syscalls.iter().map(|rule| (rule.name, rule.errno, rule.when)).collect(),
            landlock: self.landlock,
            groups: self.groups,
            ownership: self.ownership,
            programs: self.programs,
            hostname: &self.hostname,
        };
        serde_json::to_vec(&effective).expect("plain data becomes JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profiles;
    use super::*;

    const OURS: &str = "about = \"ours\"\nextends = \"default\"\n";

    fn effective(more: &str) -> Vec<u8> {
        let text = format!("{OURS}{more}");
        Profiles::with([("ours", text.as_str())]).expect("a profile").get("ours").expect("it was read").effective()
    }

    #[test]
    fn whatever_changes_a_cage_changes_the_bytes() {
        let changes = [
            "",
            "demands = \"full\"",
            "programs = { is = \"refused\", reason = \"r\" }",
            "capabilities = { is = [], reason = \"r\" }",
            "doors = { is = [], reason = \"r\" }",
            "doors = { is = [3128], reason = \"r\" }",
            "network = { is = [], reason = \"r\" }",
            "network = { is = [\"example.org\"], reason = \"r\" }",
            "[limits]\nmemory = { is = \"4GiB\", reason = \"r\" }",
            "[limits]\nwall = { is = \"4h\", reason = \"r\" }",
            "[scratch]\n\"/tmp\" = { is = \"4GiB\", reason = \"r\" }",
            "[variables]\nA = { is = \"b\", reason = \"r\" }",
            "[variables]\nA = { is = \"c\", reason = \"r\" }",
            "[read_only]\n\"/opt/x\" = { is = \"/srv/x\", reason = \"r\" }",
            "[read_only]\n\"/opt/x\" = { is = \"/srv/y\", reason = \"r\" }",
            "[refused]\nsplice = { reason = \"r\" }",
        ];
        let distinct: BTreeSet<Vec<u8>> = changes.iter().map(|change| effective(change)).collect();
        assert_eq!(distinct.len(), changes.len());
        let own = Profile::builtin("default").expect("it ships");
        assert_ne!(own.clone().with_landlock(Demand::Required).effective(), own.effective());
        assert_ne!(own.clone().with_groups(Demand::Required).effective(), own.effective());
    }

    #[test]
    fn another_reason_name_or_order_of_words_is_the_same_cage() {
        let one =
            effective("[limits]\nwall = { is = \"1h\", reason = \"a\" }\nmemory = { is = \"1GiB\", reason = \"b\" }");
        let two = effective(
            "[limits]\nmemory = { is = \"1024MiB\", reason = \"c\" }\nwall = { is = \"60min\", reason = \"d\" }",
        );
        assert_eq!(one, two);
        assert_eq!(effective(""), Profile::builtin("default").expect("it ships").effective());
    }
}
