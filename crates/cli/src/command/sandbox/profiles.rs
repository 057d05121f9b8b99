//! `placet sandbox profiles`: what can be named, where it comes from, and whether this machine has what it demands.

use std::path::PathBuf;

use placet_sandbox::{LeastTier, Profile, Tier, probe};
use serde::Serialize;

use super::options::home_files;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{ASK, BOLD, GOOD, Out, styled, table};
use crate::profiles::profiles_of;

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    about: String,
    /// `None` for one that ships.
    file: Option<PathBuf>,
    lineage: Vec<String>,
    demands: LeastTier,
    /// Whether this machine has what it demands.
    runs_here: bool,
    capabilities: Vec<String>,
}

pub(super) fn run(who: &Who, out: &Out) -> Result<(), CliError> {
    let files = home_files(who)?;
    let profiles = profiles_of(&files)?;
    let here = probe().tier;
    let listed: Vec<Listed> = profiles.iter().map(|profile| list(profile, &files, &here)).collect();
    out.answer(&listed, |listed| {
        let heading = ["name", "demands", "from", "about"].map(|word| styled(BOLD, word)).to_vec();
        table(&std::iter::once(heading).chain(listed.iter().map(row)).collect::<Vec<_>>())
    });
    Ok(())
}

fn list(profile: &Profile, files: &[PathBuf], here: &Tier) -> Listed {
    let name = profile.name().to_owned();
    let file = files.iter().find(|file| file.file_stem().is_some_and(|stem| *stem == *name)).cloned();
    let runs_here = match (here, profile.demands()) {
        (Tier::Full, _) | (Tier::Degraded { .. }, LeastTier::Degraded) => true,
        (Tier::Degraded { .. }, LeastTier::Full) | (Tier::Unavailable { .. }, _) => false,
    };
    Listed {
        name,
        about: profile.about().to_owned(),
        file,
        lineage: profile.lineage().iter().map(ToString::to_string).collect(),
        demands: profile.demands(),
        runs_here,
        capabilities: profile.capabilities().iter().map(ToString::to_string).collect(),
    }
}

fn row(profile: &Listed) -> Vec<String> {
    let (style, mark) = if profile.runs_here { (GOOD, "") } else { (ASK, ", not met here") };
    let from = match &profile.file {
        Some(file) => format!("{}, extends {}", file.display(), profile.lineage.last().map_or("", String::as_str)),
        None => "built in".to_owned(),
    };
    let demands = styled(style, format!("{}{mark}", profile.demands));
    vec![profile.name.clone(), demands, from, profile.about.clone()]
}
