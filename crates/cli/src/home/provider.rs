//! `[oidc]` in the settings: a provider that vouches for people, and who they are. It stands here and nowhere else; no route of the API reads
//! or changes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_control::{Provider, ProviderSettings};
use placet_domain::oidc::KnownPerson;
use placet_domain::scope::Network;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::read_private;
use crate::error::CliError;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Oidc {
    issuer: String,
    client_id: String,
    /// Relative to the home, like every file that the settings name.
    client_secret_file: PathBuf,
    /// What people call it: on the button. Without one, the issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Private networks that it may be in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
    /// Who alone is believed about its name, in PEM; without it, the usual roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    person: Vec<KnownPerson>,
}

pub(super) fn provider(dir: &Path, oidc: Option<&Oidc>) -> Result<Option<Arc<Provider>>, CliError> {
    let Some(oidc) = oidc else { return Ok(None) };
    let wrong = |error: String| CliError::usage(format!("placet.toml, oidc: {error}"));
    let networks: Result<Vec<Network>, _> = oidc.networks.iter().map(|network| network.parse()).collect();
    let secret = Zeroizing::new(read_private(&dir.join(&oidc.client_secret_file))?);
    let settings = ProviderSettings {
        issuer: oidc.issuer.clone(),
        client_id: oidc.client_id.clone(),
        client_secret: Zeroizing::new(secret.trim().to_owned()),
        name: oidc.name.clone().unwrap_or_else(|| oidc.issuer.clone()),
        people: oidc.person.clone(),
        networks: networks.map_err(|_| wrong("`networks` lists networks such as `10.0.0.0/8`".to_owned()))?,
        ca_file: oidc.ca_file.as_ref().map(|file| dir.join(file)),
    };
    Provider::new(settings).map(|provider| Some(Arc::new(provider))).map_err(|error| wrong(error.to_string()))
}
