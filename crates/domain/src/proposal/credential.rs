//! Credentials of the team, as far as people decide about them: a name, whom it goes to, and for which tools and projects.
//!
//! The secret itself, and where it is found, is no part of it: only the worker that puts it in knows that. An action says
//! *that* it uses a credential of this name and for whom, in its sealed bytes, so that an approval covers it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::opening::{Method, Opening};
use super::tool::ToolName;
use crate::scope::{Target, TargetRule, Url};

crate::names! {
    /// What a credential of the team is called.
    CredentialName = "name of a credential", |text| {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }, "lowercase letters, digits and hyphens, at most 64";
}

/// That a credential is used, and for whom: part of the sealed bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialUse {
    pub name: CredentialName,
    /// Each with everything below its path.
    pub to: BTreeSet<Url>,
    /// Without methods: any.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub methods: BTreeSet<Method>,
}

impl CredentialUse {
    /// Whether all of this is part of that: a worker puts a credential in where its own settings say so too.
    pub fn is_within(&self, other: &Self) -> bool {
        let methods = other.methods.is_empty() || (!self.methods.is_empty() && self.methods.is_subset(&other.methods));
        let below = |url: &Url| other.to.iter().any(|root| url.is_below(root));
        self.name == other.name && methods && self.to.iter().all(below)
    }
}

impl fmt::Display for CredentialUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<&str> = self.methods.iter().map(Method::as_str).collect();
        let to: Vec<String> = self.to.iter().map(ToString::to_string).collect();
        let methods = if methods.is_empty() { String::new() } else { format!("{} ", methods.join(",")) };
        write!(f, "{} for {methods}{}", self.name, to.join(", "))
    }
}

/// One credential, as the team decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRule {
    pub to: BTreeSet<Url>,
    pub methods: BTreeSet<Method>,
    pub tools: BTreeSet<ToolName>,
    /// By name. Without any: all of them.
    pub projects: BTreeSet<String>,
}

/// All credentials that actions can use. None, if nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CredentialBook(BTreeMap<CredentialName, CredentialRule>);

impl FromIterator<(CredentialName, CredentialRule)> for CredentialBook {
    fn from_iter<I: IntoIterator<Item = (CredentialName, CredentialRule)>>(rules: I) -> Self {
        Self(rules.into_iter().collect())
    }
}

/// Why an action cannot use a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialDenied {
    #[error("there is no credential `{0}`; name one of credentials.toml")]
    Unknown(CredentialName),
    #[error("the credential `{name}` is not for the tool `{tool}`; credentials.toml says for which it is")]
    Tool { name: CredentialName, tool: ToolName },
    #[error("the credential `{name}` is not for this project; credentials.toml says for which it is")]
    Project { name: CredentialName },
    #[error(
        "the credential `{name}` goes to {to}, which this action does not open; name it as its target or its network"
    )]
    Closed { name: CredentialName, to: String },
}

impl CredentialBook {
    /// Whether a project may use all of these. Asked apart from the rest, by whoever knows which project it is.
    pub fn check_project<'a>(
        &self,
        names: impl IntoIterator<Item = &'a CredentialName>,
        project: &str,
    ) -> Result<(), CredentialDenied> {
        for name in names {
            let rule = self.get(name)?;
            if !rule.projects.is_empty() && !rule.projects.contains(project) {
                return Err(CredentialDenied::Project { name: name.clone() });
            }
        }
        Ok(())
    }

    /// What is sealed: of the places it may go to, those that the action opens.
    pub(super) fn usage(
        &self,
        name: &CredentialName,
        tool: &ToolName,
        openings: &[Opening],
    ) -> Result<CredentialUse, CredentialDenied> {
        let rule = self.get(name)?;
        if !rule.tools.contains(tool) {
            return Err(CredentialDenied::Tool { name: name.clone(), tool: tool.clone() });
        }
        let is_open = |url: &&Url| openings.iter().any(|opening| opens(opening, url));
        let to: BTreeSet<Url> = rule.to.iter().filter(is_open).cloned().collect();
        if to.is_empty() {
            let to = rule.to.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(CredentialDenied::Closed { name: name.clone(), to });
        }
        Ok(CredentialUse { name: name.clone(), to, methods: rule.methods.clone() })
    }

    fn get(&self, name: &CredentialName) -> Result<&CredentialRule, CredentialDenied> {
        self.0.get(name).ok_or_else(|| CredentialDenied::Unknown(name.clone()))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&CredentialName, &CredentialRule)> {
        self.0.iter()
    }
}

/// Whether something at that place is open: it, or something below it or above. How much of it is kept where requests are seen.
fn opens(opening: &Opening, url: &Url) -> bool {
    match opening.to() {
        TargetRule::Within(Target::Url(open)) => {
            let is_same = open.scheme() == url.scheme() && open.authority() == url.authority();
            is_same && (open.path().is_below(url.path()) || url.path().is_below(open.path()))
        }
        other @ (TargetRule::Within(Target::Host(_) | Target::Network(_)) | TargetRule::Below(_)) => {
            other.covers(&Target::Url(url.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(texts: &[&str]) -> BTreeSet<Url> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn book() -> CredentialBook {
        let rule = CredentialRule {
            to: urls(&["https://api.example.org/v1", "http://127.0.0.1:8080/"]),
            methods: BTreeSet::from(["GET".parse().unwrap()]),
            tools: BTreeSet::from(["curl".parse().unwrap()]),
            projects: BTreeSet::from(["alpha".to_owned()]),
        };
        [("team".parse().unwrap(), rule)].into_iter().collect()
    }

    fn usage(tool: &str, openings: &[&str]) -> Result<CredentialUse, CredentialDenied> {
        let openings: Vec<Opening> = openings.iter().map(|text| text.parse().unwrap()).collect();
        book().usage(&"team".parse().unwrap(), &tool.parse().unwrap(), &openings)
    }

    #[test]
    fn r24_a_credential_is_used_only_where_the_action_opens_its_host() {
        let used = usage("curl", &["https://api.example.org/"]).unwrap();
        assert_eq!(used.to_string(), "team for GET https://api.example.org:443/v1");
        assert_eq!(usage("curl", &["api.example.org", "127.0.0.1"]).unwrap().to.len(), 2);
        assert_eq!(usage("curl", &["*.example.org"]).unwrap().to.len(), 1);
        let above = ["http://api.example.org/", "https://api.example.org:8443/", "https://api.example.org/v2"];
        for closed in above.into_iter().chain(["other.example.org", "10.0.0.0/8"]) {
            let why = usage("curl", &[closed]).unwrap_err();
            assert!(matches!(why, CredentialDenied::Closed { .. }), "{closed}: {why}");
        }
        assert!(matches!(usage("curl", &[]), Err(CredentialDenied::Closed { .. })));
    }

    #[test]
    fn r25_a_credential_is_for_its_tools_and_projects_alone() {
        assert!(matches!(usage("sh", &["api.example.org"]), Err(CredentialDenied::Tool { .. })));
        let (team, other) = ("team".parse().unwrap(), "other".parse().unwrap());
        assert_eq!(book().check_project([&team], "alpha"), Ok(()));
        assert!(matches!(book().check_project([&team], "beta"), Err(CredentialDenied::Project { .. })));
        assert!(matches!(book().check_project([&other], "alpha"), Err(CredentialDenied::Unknown(_))));
    }

    #[test]
    fn r25_less_than_a_worker_permits_is_within_and_more_is_not() {
        let used = |to: &[&str], methods: &[&str]| CredentialUse {
            name: "team".parse().unwrap(),
            to: urls(to),
            methods: methods.iter().map(|method| method.parse().unwrap()).collect(),
        };
        let here = used(&["https://a.test/v1", "https://b.test/"], &["GET", "POST"]);
        assert!(used(&["https://a.test/v1"], &["GET"]).is_within(&here));
        assert!(used(&["https://a.test/v1/x", "https://b.test/"], &["GET", "POST"]).is_within(&here));
        for more in [
            used(&["https://a.test/"], &["GET"]),
            used(&["https://a.test/v10"], &["GET"]),
            used(&["https://c.test/"], &["GET"]),
            used(&["https://a.test/v1"], &["DELETE"]),
            used(&["https://a.test/v1"], &[]),
        ] {
            assert!(!more.is_within(&here), "{more}");
        }
        assert!(used(&["https://a.test/v1"], &["DELETE"]).is_within(&used(&["https://a.test/v1"], &[])));
    }
}
