//! What all settings share that name somebody outside: whom to believe about a name and which networks to call, secrets in private files,
//! and how a mistake is said.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use placet_control::{HookSecret, TargetUrl};
use placet_dial::Dialer;
use placet_domain::scope::Network;

use super::read_private;
use crate::error::{CliError, Code};

/// Says what is wrong at one place of the settings.
pub(super) type Wrong<'a> = &'a dyn Fn(&dyn Display) -> CliError;

/// A mistake at this place of the settings.
pub(super) fn mistake(place: &str, error: impl Display) -> CliError {
    CliError::usage(format!("placet.toml, {place}: {error}"))
}

/// A receiver of signed messages, as settings name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Receiver<'a> {
    pub(super) url: &'a str,
    pub(super) secret_file: &'a Path,
    pub(super) ca_file: Option<&'a PathBuf>,
    pub(super) networks: &'a [String],
}

impl Receiver<'_> {
    pub(super) fn read(self, dir: &Path, wrong: Wrong<'_>) -> Result<(TargetUrl, HookSecret, Dialer), CliError> {
        let url = self.url.parse().map_err(|error| wrong(&error))?;
        let dialer = dialer(dir, self.ca_file, self.networks, wrong)?;
        Ok((url, hook_secret(dir, self.secret_file)?, dialer))
    }
}

/// By whom names are believed, and which networks that are not public may be called.
pub(super) fn dialer(
    dir: &Path,
    ca_file: Option<&PathBuf>,
    networks: &[String],
    wrong: Wrong<'_>,
) -> Result<Dialer, CliError> {
    let listed: Result<Vec<Network>, _> = networks.iter().map(|network| network.parse()).collect();
    let listed = listed.map_err(|error| wrong(&error))?;
    Dialer::new(ca_file.map(|file| dir.join(file)).as_deref(), listed).map_err(|error| wrong(&error))
}

/// Reads a private file of the settings, as it is. Relative to the home, like every file that they name.
pub(super) fn private(dir: &Path, file: &Path, what: &str) -> Result<String, CliError> {
    let path = dir.join(file);
    there(&path, what, &format!("write it there so that nobody else reads it: (umask 077; cat > {})", path.display()))?;
    read_private(&path)
}

/// Reads the secret that both sides of a webhook share.
pub(super) fn hook_secret(dir: &Path, file: &Path) -> Result<HookSecret, CliError> {
    let path = dir.join(file);
    let make = format!("(umask 077; echo \"whsec_$(openssl rand -base64 32)\" > {})", path.display());
    there(&path, "the webhook secret", &make)?;
    let bad = |error| CliError::usage(format!("`{}`: {error}", path.display())).hint(make);
    read_private(&path)?.trim().parse().map_err(bad)
}

fn there(path: &Path, what: &str, make: &str) -> Result<(), CliError> {
    if path.is_file() {
        return Ok(());
    }
    Err(CliError::new(Code::NotFound, format!("{what}, `{}`, is not there", path.display())).hint(make))
}
