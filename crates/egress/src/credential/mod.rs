//! Credentials of the team: named by rules, held here, put into requests that were allowed, and never seen in a cage.
//!
//! A cage may be given a *placeholder* for each ([`Placeholder`]): programs that insist on a token are content with it,
//! and it is worth nothing but here. What an answer repeats of a credential is taken out again ([`Scrubber`]).
//!
//! What it deliberately does not do: it makes no credentials and renews none. They are read once, when the way out is
//! opened, from where keys of models come from too ([`KeySource`]).

mod placeholder;
mod put;

use std::collections::{BTreeMap, BTreeSet};

use placet_dial::{KeySource, MIN_SECRET_BYTES, Scrubber, Secret, SecretError};
use serde::Deserialize;

pub use placeholder::Placeholder;
pub use put::{HeaderName, ParameterName, Put, UserName};

use super::rules::{Brought, CredentialName, is_credential};

placet_domain::names! {
    /// A variable of the environment.
    VariableName = "name of a variable", |text| {
        (1..=64).contains(&text.len())
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    }, "letters, digits and underscores, at most 64";
}

/// What a team writes down about a credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialSettings {
    /// What rules call it.
    pub name: CredentialName,
    /// Where it is found on this machine.
    pub key: KeySource,
    /// How it goes into a request.
    #[serde(default)]
    pub put: Put,
    /// Variables of the cage that hold the placeholder.
    #[serde(default)]
    pub variables: BTreeSet<VariableName>,
}

/// Why credentials cannot be used. Never says what they are.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error("there are two credentials `{0}`; give one of them another name")]
    Twice(CredentialName),
    #[error("two different credentials want the variable `{0}`; a variable holds one placeholder")]
    VariableTwice(VariableName),
    #[error(
        "the credential `{0}` is shorter than {MIN_SECRET_BYTES} bytes, and could not be told from other text in answers"
    )]
    TooShort(CredentialName),
    #[error("the credential `{name}` cannot be read")]
    Unread { name: CredentialName, source: SecretError },
    #[error("this machine has no randomness to make a placeholder from")]
    NoRandomness,
}

/// One credential, ready to be put in.
#[derive(Debug)]
pub(super) struct Held {
    name: CredentialName,
    put: Put,
    secret: Secret,
    placeholder: Placeholder,
    variables: BTreeSet<VariableName>,
}

impl Held {
    pub(super) const fn put(&self) -> &Put {
        &self.put
    }

    pub(super) const fn secret(&self) -> &Secret {
        &self.secret
    }

    /// What takes it out of answers, in every spelling in which it is sent.
    pub(super) fn scrubber(&self) -> Scrubber {
        Scrubber::new(self.put.spellings(&self.secret))
    }
}

/// All credentials of a run. None by default: rules that put one in refuse then.
#[derive(Debug, Default)]
pub struct Credentials(Vec<Held>);

impl Credentials {
    /// Reads all of them. One that cannot be read fails them all: a rule that lacks its credential helps nobody.
    pub async fn open(settings: Vec<CredentialSettings>) -> Result<Self, CredentialError> {
        let (mut all, mut sources): (Self, Vec<(KeySource, Placeholder)>) = (Self::default(), Vec::new());
        for CredentialSettings { name, key, put, variables } in settings {
            let known = sources.iter().find(|(source, _)| *source == key).map(|(_, placeholder)| placeholder.clone());
            all.check_new(&name, &variables, known.as_ref())?;
            let secret = key.read().await;
            let secret = secret.map_err(|source| CredentialError::Unread { name: name.clone(), source })?;
            if secret.expose().len() < MIN_SECRET_BYTES {
                return Err(CredentialError::TooShort(name));
            }
            // One key has one placeholder, however many ways it is put in: a program knows one token.
            let placeholder = known.map_or_else(Placeholder::make, Ok)?;
            sources.push((key, placeholder.clone()));
            all.0.push(Held { name, put, secret, placeholder, variables });
        }
        Ok(all)
    }

    /// A variable holds one placeholder. Several credentials of one key have the same, and may share the variable.
    fn check_new(
        &self,
        name: &CredentialName,
        variables: &BTreeSet<VariableName>,
        known: Option<&Placeholder>,
    ) -> Result<(), CredentialError> {
        if self.get(name).is_some() {
            return Err(CredentialError::Twice(name.clone()));
        }
        let mut others = self.0.iter().filter(|held| Some(&held.placeholder) != known);
        let twice = others.find_map(|held| held.variables.intersection(variables).next());
        twice.map_or(Ok(()), |name| Err(CredentialError::VariableTwice(name.clone())))
    }

    /// Variables for a cage, each with the placeholder of its credential.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let pair = |held: &Held, name: &VariableName| (name.to_string(), held.placeholder.to_string());
        let all = self.0.iter().flat_map(move |held| held.variables.iter().map(move |name| pair(held, name)));
        all.collect::<BTreeMap<_, _>>().into_iter()
    }

    /// What the cage is told in the place of the credential.
    pub fn placeholder(&self, name: &CredentialName) -> Option<&Placeholder> {
        self.get(name).map(|held| &held.placeholder)
    }

    pub(super) fn get(&self, name: &CredentialName) -> Option<&Held> {
        self.0.iter().find(|held| held.name == *name)
    }

    /// Whether a header brings a credential, and whose placeholder it is.
    pub(super) fn in_header(&self, name: &str, value: &[u8]) -> Option<Brought> {
        self.brought(name, |placeholder| placeholder.is_value(value))
    }

    /// The same of a parameter of the query; its name is free of escapes.
    pub(super) fn in_query(&self, name: &str, value: &str) -> Option<Brought> {
        self.brought(name, |placeholder| placeholder.to_string() == value)
    }

    fn brought(&self, name: &str, is_of: impl Fn(&Placeholder) -> bool) -> Option<Brought> {
        let of = self.0.iter().filter(|held| is_of(&held.placeholder));
        let stands_for: BTreeSet<_> = of.map(|held| held.name.clone()).collect();
        (is_credential(name) || !stands_for.is_empty()).then(|| Brought { name: name.to_owned(), stands_for })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<CredentialSettings> {
        #[derive(Deserialize)]
        struct All {
            credential: Vec<CredentialSettings>,
        }
        toml::from_str::<All>(text).unwrap().credential
    }

    async fn open(text: &str) -> Result<Credentials, CredentialError> {
        Credentials::open(settings(text)).await
    }

    /// A credential that a command prints.
    fn printed(name: &str, value: &str, more: &str) -> String {
        format!("[[credential]]\nname = \"{name}\"\nkey = {{ command = [\"printf\", \"{value}\"] }}\n{more}\n")
    }

    #[tokio::test]
    async fn r24_a_cage_is_told_placeholders_and_nothing_shows_the_credential() {
        let text = printed("team", "canary-of-the-team", "variables = [\"GH_TOKEN\", \"GITHUB_TOKEN\"]");
        let credentials = open(&text).await.unwrap();
        let variables: Vec<_> = credentials.variables().collect();
        assert_eq!(variables.len(), 2);
        assert!(variables.iter().all(|(_, value)| value.starts_with("placet-run-")), "{variables:?}");
        assert!(!format!("{credentials:?} {variables:?}").contains("canary"));
        let again = open(&text).await.unwrap();
        assert_ne!(again.variables().next(), credentials.variables().next(), "each run has its own");
    }

    #[tokio::test]
    async fn one_key_has_one_placeholder_however_it_is_put_in() {
        let text = printed("api", "canary-of-the-team", "")
            + &printed("git", "canary-of-the-team", "put = { basic = \"x-access-token\" }")
            + &printed("other", "another-canary", "");
        let credentials = open(&text).await.unwrap();
        let value = format!("Bearer {}", credentials.placeholder(&"git".parse().unwrap()).unwrap());
        let brought = credentials.in_header("Authorization", value.as_bytes()).unwrap();
        let names: Vec<&str> = brought.stands_for.iter().map(CredentialName::as_str).collect();
        assert_eq!(names, ["api", "git"]);
    }

    #[tokio::test]
    async fn what_cannot_be_used_is_refused_before_anything_is_opened() {
        let twice = printed("a", "canary-canary", "") + &printed("a", "canary-canary", "");
        assert!(matches!(open(&twice).await, Err(CredentialError::Twice(_))));
        let variable =
            printed("a", "canary-canary", "variables = [\"T\"]") + &printed("b", "x1234567", "variables = [\"T\"]");
        assert!(matches!(open(&variable).await, Err(CredentialError::VariableTwice(_))));
        let shared = variable.replace("x1234567", "canary-canary");
        assert_eq!(open(&shared).await.unwrap().variables().count(), 1, "one key, one placeholder, one variable");
        assert!(matches!(open(&printed("a", "short", "")).await, Err(CredentialError::TooShort(_))));
        let absent = "[[credential]]\nname = \"a\"\nkey = { env = \"PLACET_NO_SUCH_VARIABLE\" }\n";
        let CredentialError::Unread { name, source } = open(absent).await.unwrap_err() else { panic!("not read") };
        assert!(name.as_str() == "a" && source.to_string().contains("PLACET_NO_SUCH_VARIABLE"), "{source}");
    }
}
