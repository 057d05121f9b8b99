//! DECLARE: says what this worker is, when it has connected: its binary, how much at once, what its machine enforces, which cages it builds.
//! Nothing depends on it: one that could not be said is said by the next start.

use std::fs;

use placet_domain::identity::{CageStanding, CageTier, Declaration};
use placet_sandbox::{HostReport, State, Tier};
use placet_wire::ClientError;
use placet_wire::api::DeclarationReport;
use placet_wire::endpoint::DeclareWorker;

use crate::lease::Worker;

impl Worker {
    /// Tells the control plane what this worker is. It writes that down if it is something new.
    pub async fn declare(&self, found: &HostReport) -> Result<(), ClientError> {
        let report = DeclarationReport { declaration: self.declaration(found) };
        self.config.client.post(DeclareWorker {}, &report).await.map(drop)
    }

    fn declaration(&self, found: &HostReport) -> Declaration {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Declaration {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: read("/proc/sys/kernel/hostname"),
            kernel: read("/proc/sys/kernel/osrelease"),
            actions_at_once: count(self.config.jobs_at_once),
            runs_at_once: count(self.config.hosting.as_ref().map_or(0, |hosting| hosting.runs_at_once)),
            cage: standing(found),
            profiles: self.cages.iter().map(|(name, digest)| (name.to_owned(), digest)).collect(),
        }
    }
}

fn standing(found: &HostReport) -> CageStanding {
    let missing = found.checks.iter().filter(|check| check.state == State::Missing);
    let missing = missing.map(|check| check.name.to_owned()).collect();
    let (tier, means) = match &found.tier {
        Tier::Full => (CageTier::Full, Vec::new()),
        Tier::Degraded { reasons } => (CageTier::Degraded, reasons.clone()),
        Tier::Unavailable { reason } => (CageTier::Unavailable, vec![reason.clone()]),
    };
    CageStanding { tier, missing, means }.within_bounds()
}

/// What the kernel says of itself, on one line; nothing where it says nothing.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
