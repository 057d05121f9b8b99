//! The profiles of a home: those that ship, and the files in `profiles/`. Which tool runs in which is checked here too,
//! before anything starts: the control plane does not know cages, and a worker would notice only when it is too late.

use std::fs;
use std::path::{Path, PathBuf};

use placet_domain::catalogue::{CageCapability, NetworkUse};
use placet_domain::digest::Digest;
use placet_domain::proposal::{Cage, Cages, Tools};
use placet_domain::scope::TargetRule;
use placet_sandbox::{Profile, ProfileError, Profiles};

use crate::error::CliError;
use crate::home::read;

/// The profiles in a folder, by the names of their files. A folder that is not there holds none.
pub(crate) fn profiles_in(folder: &Path) -> Result<Profiles, CliError> {
    profiles_of(&files_in(folder)?)
}

/// Those that ship, and these files.
pub(crate) fn profiles_of(files: &[PathBuf]) -> Result<Profiles, CliError> {
    let texts: Vec<(String, String)> =
        files.iter().map(|path| Ok((stem(path), read(path)?))).collect::<Result<_, CliError>>()?;
    let texts = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Profiles::with(texts).map_err(|errors| wrong(&errors, files))
}

/// What each amounts to and how they compare, for those who must not know more of cages.
pub(crate) fn cages(profiles: &Profiles) -> Result<Cages, CliError> {
    let cage = |profile: &Profile| {
        let (digest, network) = (Digest::of(&profile.effective()), network(profile)?);
        Ok((profile.name().to_owned(), Cage { digest, network }))
    };
    let known: Cages = profiles.iter().map(cage).collect::<Result<_, CliError>>()?;
    let is_within = |inner: &str, outer: &str| match (profiles.get(inner), profiles.get(outer)) {
        (Some(inner), Some(outer)) => inner.is_within(outer),
        (None, _) | (_, None) => false,
    };
    Ok(known.compared(is_within))
}

/// Whom a profile lets its programs reach, read as scopes are.
pub(crate) fn network(profile: &Profile) -> Result<NetworkUse, CliError> {
    let Some(named) = profile.network() else { return Ok(NetworkUse::Filtered) };
    let rules: Vec<TargetRule> = named.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(
        |error: placet_domain::scope::BadTarget| {
            let message = format!("profile `{}`, `network`: {error}", profile.name());
            CliError::usage(message).hint("like example.org, *.example.org, 10.0.0.0/24 or http://10.0.0.7:8080/v1")
        },
    )?;
    Ok(if rules.is_empty() { NetworkUse::None } else { NetworkUse::Allow(rules) })
}

/// Whether a profile is meant for this. Both crates have one word for each capability.
pub(crate) fn is_good_for(profile: &Profile, wanted: CageCapability) -> bool {
    profile.capabilities().iter().any(|has| has.to_string() == wanted.as_str())
}

/// Every `.toml` file of a folder, by name.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CliError::failed(format!("`{}`: {error}", folder.display()))),
    };
    let mut files: Vec<PathBuf> = listing.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// All that is wrong, each with file and line; the first hint.
fn wrong(errors: &[ProfileError], files: &[PathBuf]) -> CliError {
    let place = |error: &ProfileError| files.iter().find(|path| stem(path) == error.profile);
    let line = |error: &ProfileError| {
        let path = place(error).map_or_else(|| error.profile.clone(), |path| path.display().to_string());
        format!("`{path}` {error}")
    };
    let said = CliError::usage(errors.iter().map(line).collect::<Vec<_>>().join("\n"));
    match errors.iter().find_map(|error| error.hint.clone()) {
        Some(hint) => said.hint(hint),
        None => said,
    }
}

/// That every tool names a profile that is there, and one that is meant for what it does.
pub(crate) fn check_tools(tools: &Tools, profiles: &Profiles, folder: &Path) -> Result<(), CliError> {
    for (name, tool) in tools.iter() {
        let Some(profile) = profiles.get(&tool.profile) else {
            let message = format!("tool `{name}` runs in the profile `{}`, which does not exist", tool.profile);
            let hint =
                format!("name one of {}, or write {}/{}.toml", profiles.listed(), folder.display(), tool.profile);
            return Err(CliError::usage(message).hint(hint));
        };
        if let Some(lacks) = CageCapability::needed_for(tool.kind).filter(|needed| !is_good_for(profile, *needed)) {
            let (kind, profile) = (tool.kind, profile.name());
            let message =
                format!("tool `{name}` is of the kind {kind}, which the profile `{profile}` is not meant for");
            let hint = format!("name a profile with the capability {lacks}; `placet sandbox profiles` lists them");
            return Err(CliError::usage(message).hint(hint));
        }
    }
    Ok(())
}
