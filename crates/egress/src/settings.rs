//! Everything a team decides about requests, as it stands in a file: rules, credentials, limits. Read strictly; nothing
//! is opened while it is read, and no credential is ever part of it.

use std::path::PathBuf;
use std::sync::Arc;

use placet_dial::{Roots, RootsError};
use serde::Deserialize;

use super::credential::{CredentialError, CredentialSettings, Credentials};
use super::record::Sink;
use super::rules::{Credential, Live, Rule, Rules};
use super::tls::TlsError;
use super::{Egress, Limits};

/// Rules with everything they need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The first rule that allows a request is the one it goes by.
    #[serde(default)]
    pub allow: Vec<Rule>,
    #[serde(default, rename = "credential")]
    pub credentials: Vec<CredentialSettings>,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub tls: TlsSettings,
}

/// Whom the gateway believes about hosts whose TLS it opens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// Files with certificates (PEM), beside the roots that ship with the gateway.
    #[serde(default)]
    pub roots: Vec<PathBuf>,
}

/// What is wrong with the text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct BadSettings {
    pub line: usize,
    pub message: String,
}

/// Why a way out cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "the rule `{rule}` puts in the credential `{name}`, which nobody defines; add a [[credential]] of that name"
    )]
    Undefined { rule: String, name: String },
    #[error(transparent)]
    Credential(#[from] CredentialError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// What is wrong, and in which line.
pub(super) fn place_of(text: &str, error: &toml::de::Error) -> BadSettings {
    let before = error.span().map_or("", |span| &text[..span.start.min(text.len())]);
    BadSettings { line: before.matches('\n').count() + 1, message: error.message().trim().to_owned() }
}

impl Settings {
    pub fn read(text: &str) -> Result<Self, BadSettings> {
        toml::from_str(text).map_err(|error| place_of(text, &error))
    }

    /// Reads the credentials, and makes the way out of one run.
    pub async fn open(self, sink: Arc<dyn Sink>) -> Result<Egress, OpenError> {
        self.check()?;
        let credentials = Credentials::open(self.credentials).await?;
        let rules = Live::new(Rules { allow: self.allow });
        let egress = Egress::new(rules, sink).with_limits(self.limits).with_credentials(credentials);
        Ok(egress.opening_tls(Roots::read(&self.tls.roots)?)?)
    }

    /// A rule whose credential nobody defines would refuse everything, and nobody would know why before the run.
    fn check(&self) -> Result<(), OpenError> {
        for rule in &self.allow {
            let Some(Credential::Inject(name)) = &rule.draft().credential else { continue };
            if !self.credentials.iter().any(|credential| credential.name == *name) {
                return Err(OpenError::Undefined { rule: rule.to_string(), name: name.to_string() });
            }
        }
        Ok(())
    }
}
