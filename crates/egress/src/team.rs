//! Credentials that a team gives to actions, as they stand in a file (`credentials.toml`): whom each goes to, for which tools and
//! projects, how it is put in, and where it is found.
//!
//! Two read it, and each takes its half. The control plane takes whom a credential goes to and for whom it is ([`Team::book`]), and
//! never looks for a secret. A worker takes where it is found and how it is put in ([`Team::open_for`]), and puts it in only as
//! far as its own file says so too.

use std::collections::BTreeSet;

use placet_dial::{KeySource, Roots, RootsError};
use placet_domain::proposal::{
    ActionSpec, CredentialBook, CredentialName, CredentialRule, CredentialUse, Method, ToolName,
};
use placet_domain::scope::Url;
use serde::Deserialize;

use super::credential::{CredentialError, CredentialSettings, Credentials, Put, VariableName};
use super::settings::{BadSettings, TlsSettings, place_of};

/// All credentials of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    #[serde(default, rename = "credential")]
    credentials: Vec<TeamCredential>,
    #[serde(default)]
    tls: TlsSettings,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamCredential {
    name: CredentialName,
    /// Each with everything below its path.
    to: BTreeSet<Url>,
    /// Without methods: any.
    #[serde(default)]
    methods: BTreeSet<Method>,
    tools: BTreeSet<ToolName>,
    /// By name. Without any: all of them.
    #[serde(default)]
    projects: BTreeSet<String>,
    /// Where it is found on the machine of the worker.
    key: KeySource,
    #[serde(default)]
    put: Put,
    /// Variables of the cage that hold a placeholder.
    #[serde(default)]
    variables: BTreeSet<VariableName>,
}

/// Why a worker does not put in what was approved.
#[derive(Debug, thiserror::Error)]
pub enum NotPutIn {
    #[error("this worker has no credential `{0}`; add it to its credentials.toml")]
    Unknown(CredentialName),
    #[error(
        "the credential `{used}` was approved, and this worker's own goes to `{here}`; let both files say the same, and propose it again"
    )]
    Elsewhere { used: String, here: String },
    #[error(
        "the credential `{name}` was approved for `{tool}`, and this worker's own is not for that tool; let both files say the same, and propose it again"
    )]
    OtherTool { name: CredentialName, tool: ToolName },
    #[error(transparent)]
    Credential(#[from] CredentialError),
    #[error(transparent)]
    Roots(#[from] RootsError),
}

impl TeamCredential {
    fn usage(&self) -> CredentialUse {
        CredentialUse { name: self.name.clone(), to: self.to.clone(), methods: self.methods.clone() }
    }

    fn settings(&self) -> CredentialSettings {
        let Self { name, key, put, variables, .. } = self.clone();
        CredentialSettings { name, key, put, variables }
    }
}

impl Team {
    /// Reads the text strictly. No secret is looked for.
    pub fn read(text: &str) -> Result<Self, BadSettings> {
        let team: Self = toml::from_str(text).map_err(|error| place_of(text, &error))?;
        match team.flaw() {
            Some(message) => Err(BadSettings { line: 1, message }),
            None => Ok(team),
        }
    }

    fn flaw(&self) -> Option<String> {
        let mut names = BTreeSet::new();
        self.credentials.iter().find_map(|credential| {
            let name = &credential.name;
            if !names.insert(name) {
                return Some(format!("there are two credentials `{name}`; give one of them another name"));
            }
            if credential.to.is_empty() || credential.tools.is_empty() {
                return Some(format!(
                    "the credential `{name}` is for nobody; say whom it goes to (`to`) and for which `tools`"
                ));
            }
            None
        })
    }

    /// What people decide about: whom they go to and for whom, and nothing of where they are found.
    pub fn book(&self) -> CredentialBook {
        let rule = |credential: &TeamCredential| {
            let TeamCredential { name, to, methods, tools, projects, .. } = credential.clone();
            (name, CredentialRule { to, methods, tools, projects })
        };
        self.credentials.iter().map(rule).collect()
    }

    /// Reads the secrets that a sealed action uses, those alone, if they go nowhere and to no tool that this file does not say. Its
    /// projects are the control plane's to check: sealed bytes name a run and no project.
    pub async fn open_for(&self, spec: &ActionSpec) -> Result<Credentials, NotPutIn> {
        let settings = spec.credentials.iter().map(|used| self.find(used, &spec.tool).map(TeamCredential::settings));
        Ok(Credentials::open(settings.collect::<Result<_, _>>()?).await?)
    }

    /// Whom to believe about hosts, beside the roots that ship.
    pub fn roots(&self) -> Result<Roots, NotPutIn> {
        Ok(Roots::read(&self.tls.roots)?)
    }

    fn find(&self, used: &CredentialUse, tool: &ToolName) -> Result<&TeamCredential, NotPutIn> {
        let found = self.credentials.iter().find(|credential| credential.name == used.name);
        let found = found.ok_or_else(|| NotPutIn::Unknown(used.name.clone()))?;
        if !found.tools.contains(tool) {
            return Err(NotPutIn::OtherTool { name: used.name.clone(), tool: tool.clone() });
        }
        let here = found.usage();
        if used.is_within(&here) {
            Ok(found)
        } else {
            Err(NotPutIn::Elsewhere { used: used.to_string(), here: here.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: &str = r#"
        [[credential]]
        name = "github"
        to = ["https://api.github.com/repos/acme"]
        methods = ["GET"]
        tools = ["curl"]
        projects = ["alpha"]
        key = { command = ["printf", "canary-of-the-team"] }
        variables = ["GH_TOKEN"]

        [[credential]]
        name = "absent"
        to = ["https://absent.test/"]
        tools = ["curl"]
        key = { env = "PLACET_NO_SUCH_VARIABLE" }
    "#;

    fn spec(credentials: serde_json::Value) -> ActionSpec {
        let (id, digest) = ("0".repeat(32), placet_domain::digest::Digest::of(b""));
        let spec = serde_json::json!({
            "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "curl",
            "tool_version": digest, "kind": "http_request", "argv": ["/bin/true"], "environment": {}, "files": [],
            "outputs": [], "credentials": credentials, "profile": "default", "limits": {},
        });
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn r24_what_people_decide_about_says_nothing_of_where_a_secret_is() {
        let book = Team::read(TEAM).unwrap().book();
        assert_eq!(book.iter().count(), 2);
        let told = format!("{book:?}");
        assert!(told.contains("api.github.com") && !told.contains("printf") && !told.contains("VARIABLE"), "{told}");
    }

    #[tokio::test]
    async fn r25_a_worker_reads_the_secrets_that_are_used_and_only_as_far_as_its_own_file_says() {
        let team = Team::read(TEAM).unwrap();
        let used = |to: &str, methods: &[&str]| serde_json::json!([{"name": "github", "to": [to], "methods": methods}]);
        let sealed = spec(used("https://api.github.com/repos/acme", &["GET"]));
        let opened = team.open_for(&sealed).await.unwrap();
        assert_eq!(opened.variables().count(), 1);
        for (to, methods) in [
            ("https://evil.test/", &["GET"][..]),
            ("https://api.github.com/", &["GET"]),
            ("https://api.github.com/repos/acme", &[]),
        ] {
            let why = team.open_for(&spec(used(to, methods))).await.unwrap_err();
            assert!(matches!(why, NotPutIn::Elsewhere { .. }), "{why}");
        }
        let elsewhere = team.open_for(&ActionSpec { tool: "sh".parse().unwrap(), ..sealed }).await.unwrap_err();
        assert!(matches!(elsewhere, NotPutIn::OtherTool { .. }), "{elsewhere}");
        let unknown = serde_json::json!([{"name": "other", "to": ["https://a.test/"]}]);
        assert!(matches!(team.open_for(&spec(unknown)).await, Err(NotPutIn::Unknown(_))));
        let absent = serde_json::json!([{"name": "absent", "to": ["https://absent.test/"]}]);
        assert!(matches!(team.open_for(&spec(absent)).await, Err(NotPutIn::Credential(_))));
    }

    #[test]
    fn a_file_that_means_nothing_or_two_things_is_refused() {
        for (change, why) in [
            (("tools = [\"curl\"]", "tool = [\"curl\"]"), "tool"),
            (("tools = [\"curl\"]", "tools = []"), "for nobody"),
            (("to = [\"https://absent.test/\"]", "to = []"), "for nobody"),
            (("\"absent\"", "\"github\""), "two credentials"),
            (("https://absent.test/", "https://*.test/"), "bad target"),
            (("https://absent.test/", "absent.test"), "bad target"),
        ] {
            let told = Team::read(&TEAM.replace(change.0, change.1)).unwrap_err().to_string();
            assert!(told.contains(why), "{change:?}: {told}");
        }
    }
}
