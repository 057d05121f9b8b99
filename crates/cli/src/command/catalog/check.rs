//! `placet catalog check`: everything that is wrong with a team's own files, beside what ships, its profiles and tools.

use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use serde::Serialize;

use crate::catalogue::Listing;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{GOOD, Out, styled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A folder of agents, with templates in `templates` (default: `catalog` of the home). Without a home, profiles and
    /// tools are not looked at
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Checked {
    version: Digest,
    agents: usize,
    templates: usize,
    /// Programs of agents that are not on this machine.
    programs_missing: Vec<String>,
}

pub(super) fn run(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let listing = read(args, who)?;
    let checked = Checked {
        version: listing.agents.version(),
        agents: listing.agents.iter().count(),
        templates: listing.templates.iter().count(),
        programs_missing: programs_missing(&listing),
    };
    out.answer(&checked, |checked| {
        let Checked { version, agents, templates, .. } = checked;
        format!("{} {agents} agents and {templates} templates, {version}", styled(GOOD, "good:"))
    });
    for missing in &checked.programs_missing {
        out.note(&format!("not on this machine: {missing}"));
    }
    Ok(())
}

fn read(args: &Args, who: &Who) -> Result<Listing, CliError> {
    let Some(folder) = &args.catalog else {
        let home = who.home()?;
        let listing = home.catalogue()?;
        listing.kits(&home.catalogue_dir())?;
        return Ok(listing);
    };
    if !folder.is_dir() {
        let message = format!("there is no folder `{}`", folder.display());
        return Err(CliError::new(Code::NotFound, message).hint("name the folder that holds your agents"));
    }
    let listing = match who.home() {
        Ok(home) => Listing::fitting(folder, &home.profiles()?, &home.tools()?)?,
        Err(_) if who.home.is_none() => Listing::in_folder(folder)?,
        Err(error) => return Err(error),
    };
    listing.kits(folder)?;
    Ok(listing)
}

/// A worker on another machine may have them: this is said, and refuses nothing.
fn programs_missing(listing: &Listing) -> Vec<String> {
    let programs = listing.agents.iter().filter_map(|entry| Some((&entry.id, entry.launch.program.as_ref()?)));
    let missing = programs.filter(|(_, program)| !Path::new(program.as_str()).is_file());
    missing.map(|(id, program)| format!("`{program}` of `{id}`")).collect()
}
