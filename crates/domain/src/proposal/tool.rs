//! Tools: what a proposal may name. A team declares them in `tools.toml`; an undeclared tool does not exist.
//!
//! A definition fixes the program, what kind of act it is, the cage profile and the upper limits. Its digest is part of
//! every action made with it, so that changing a tool voids the approvals given under the old definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Limits;
use super::cage::Cages;
use super::credential::CredentialBook;
use crate::canonical;
use crate::digest::Digest;

/// The name of a tool: lowercase, short, usable in file names and policies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// A name that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad name `{0}`: a name has 1 to 64 lowercase letters, digits, `.`, `_` or `-`, and starts with a letter")]
pub struct BadName(String);

impl FromStr for ToolName {
    type Err = BadName;

    fn from_str(name: &str) -> Result<Self, BadName> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        let starts_well = name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        if starts_well && name.len() <= 64 && name.bytes().all(plain) {
            Ok(Self(name.to_owned()))
        } else {
            Err(BadName(name.chars().take(80).flat_map(char::escape_default).collect()))
        }
    }
}

impl TryFrom<String> for ToolName {
    type Error = BadName;

    fn try_from(name: String) -> Result<Self, BadName> {
        name.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

impl ToolName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal: $meaning:literal;)*) => {
        /// What kind of act a tool performs. Policies judge by kind first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ActionKind {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)*
        }

        impl ActionKind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

kinds! {
    ReadFile = "read_file": "Reads what is already there.";
    SearchWeb = "search_web": "Asks a search engine.";
    TakeScreenshot = "take_screenshot": "Takes a picture of a screen or page.";
    CreateFile = "create_file": "Makes a new file.";
    ModifyFile = "modify_file": "Changes an existing file.";
    ExecuteCode = "execute_code": "Runs a program or script.";
    NavigateNewDomain = "navigate_new_domain": "Visits a site not visited before in this run.";
    NetworkScan = "network_scan": "Probes a host or network.";
    HttpRequest = "http_request": "Sends a request to a server.";
    SendEmail = "send_email": "Sends a message to people.";
    SubmitForm = "submit_form": "Sends a form on somebody's behalf.";
    MakePayment = "make_payment": "Spends money.";
    DeleteFile = "delete_file": "Deletes a file.";
    PublishContent = "publish_content": "Makes something public, a push to a remote included.";
    DatabaseWrite = "database_write": "Changes a database.";
}

impl ActionKind {
    /// Whether somebody outside of the run's own workspace may notice it.
    pub const fn reaches_others(self) -> bool {
        match self {
            Self::NavigateNewDomain
            | Self::NetworkScan
            | Self::HttpRequest
            | Self::SendEmail
            | Self::SubmitForm
            | Self::MakePayment
            | Self::PublishContent
            | Self::DatabaseWrite => true,
            // Searching and looking change nothing for anybody.
            Self::ReadFile
            | Self::SearchWeb
            | Self::TakeScreenshot
            | Self::CreateFile
            | Self::ModifyFile
            | Self::ExecuteCode
            | Self::DeleteFile => false,
        }
    }
}

impl ActionKind {
    /// How many pages of a site an act of this kind visits, if its tool says nothing else.
    pub const fn usual_pages(self) -> u64 {
        match self {
            Self::NavigateNewDomain => 1,
            Self::NetworkScan
            | Self::HttpRequest
            | Self::SendEmail
            | Self::SubmitForm
            | Self::MakePayment
            | Self::PublishContent
            | Self::DatabaseWrite
            | Self::ReadFile
            | Self::SearchWeb
            | Self::TakeScreenshot
            | Self::CreateFile
            | Self::ModifyFile
            | Self::ExecuteCode
            | Self::DeleteFile => 0,
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which arguments a tool takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arguments {
    /// Any: the cage is the boundary, the policy the judge.
    #[default]
    Any,
    /// Only these: a strict list, so that nothing can slip in as an extra target or a dangerous switch.
    Only {
        /// Switches without a value.
        #[serde(default)]
        flags: BTreeSet<String>,
        /// Switches followed by one value.
        #[serde(default)]
        options: BTreeSet<String>,
    },
}

impl Arguments {
    /// The first argument that is not taken, if there is one.
    pub fn first_refused<'args>(&self, arguments: &'args [String]) -> Option<&'args str> {
        let Self::Only { flags, options } = self else { return None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if options.contains(argument) {
                // A value that looks like a switch would be one for some programs.
                if rest.next().is_none_or(|value| value.starts_with('-')) {
                    return Some(argument);
                }
            } else if !flags.contains(argument) {
                return Some(argument);
            }
        }
        None
    }
}

/// Whom the cage of a tool may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolNetwork {
    /// Nobody: there is no network in it.
    #[default]
    None,
    /// The target of the proposal.
    Target,
    /// The target, and what else the proposal names.
    Named,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn reaches_nobody(network: &ToolNetwork) -> bool {
    *network == ToolNetwork::None
}

impl fmt::Display for ToolNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nobody",
            Self::Target => "its target alone",
            Self::Named => "what the proposal names",
        })
    }
}

/// One tool, as the team defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The program, by absolute path: a name would be looked up, and what is looked up can change.
    pub program: String,
    pub kind: ActionKind,
    /// Arguments that always come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefix: Vec<String>,
    #[serde(default)]
    pub arguments: Arguments,
    /// The cage profile it runs in.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// The most a proposal may ask for.
    #[serde(default)]
    pub limits: Limits,
    /// Whom it may reach; the scope and the profile must permit it too.
    #[serde(default, skip_serializing_if = "reaches_nobody")]
    pub network: ToolNetwork,
    /// The program's digest. When given, a worker whose program differs refuses to run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_digest: Option<Digest>,
}

fn default_profile() -> String {
    "default".to_owned()
}

impl Tool {
    pub fn version(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }
}

/// All tools of a project, and the cages they run in as far as those are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    tools: BTreeMap<ToolName, Tool>,
    cages: Cages,
    credentials: CredentialBook,
}

/// A tools file that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    #[error("the tools file cannot be read as TOML: {0}")]
    Syntax(String),
    #[error("tool `{name}`: the program `{program}` is not an absolute path")]
    RelativeProgram { name: ToolName, program: String },
    #[error("tool `{name}` runs in the profile `{profile}`, which does not exist; name one of {known}")]
    UnknownProfile { name: ToolName, profile: String, known: String },
    #[error("the credential `{credential}` is for the tool `{tool}`, which does not exist")]
    UnknownTool { credential: String, tool: ToolName },
    #[error("tool `{name}`: {which} must be at least 1")]
    ZeroLimit { name: ToolName, which: &'static str },
}

impl Tools {
    /// Reads a `tools.toml`: one table per tool.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let tools: BTreeMap<ToolName, Tool> = toml::from_str(text).map_err(|e| ToolError::Syntax(e.to_string()))?;
        for (name, tool) in &tools {
            if !tool.program.starts_with('/') || tool.program.contains('\0') {
                return Err(ToolError::RelativeProgram { name: name.clone(), program: tool.program.clone() });
            }
            if let Some(which) = tool.limits.first_zero() {
                return Err(ToolError::ZeroLimit { name: name.clone(), which });
            }
        }
        Ok(Self { tools, cages: Cages::default(), credentials: CredentialBook::default() })
    }

    /// The same tools, each in a cage that is known: from here on what is sealed says what its cage amounts to.
    pub fn in_cages(self, cages: Cages) -> Result<Self, ToolError> {
        if let Some((name, tool)) = self.iter().find(|(_, tool)| cages.get(&tool.profile).is_none()) {
            let (name, profile, known) = (name.clone(), tool.profile.clone(), cages.listed());
            return Err(ToolError::UnknownProfile { name, profile, known });
        }
        Ok(Self { cages, ..self })
    }

    /// The same tools, some of which may use these credentials.
    pub fn with_credentials(self, credentials: CredentialBook) -> Result<Self, ToolError> {
        for (name, rule) in credentials.iter() {
            if let Some(tool) = rule.tools.iter().find(|tool| self.get(tool).is_none()) {
                return Err(ToolError::UnknownTool { credential: name.to_string(), tool: tool.clone() });
            }
        }
        Ok(Self { credentials, ..self })
    }

    /// What credentials there are for actions, and for which.
    pub const fn credentials(&self) -> &CredentialBook {
        &self.credentials
    }

    pub fn get(&self, name: &ToolName) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The cages that are known.
    pub const fn cages(&self) -> &Cages {
        &self.cages
    }

    /// What the cage of a tool amounts to, where cages are known.
    pub fn cage_of(&self, tool: &Tool) -> Option<Digest> {
        self.cages.get(&tool.profile)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &Tool)> {
        self.tools.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NMAP: &str = r#"
        [nmap]
        program = "/usr/bin/nmap"
        kind = "network_scan"
        arguments.only = { flags = ["-sV", "-Pn"], options = ["-p"] }
    "#;

    fn arguments(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_strict_tool_takes_only_what_it_lists() {
        let tools = Tools::parse(NMAP).unwrap();
        let nmap = tools.get(&"nmap".parse().unwrap()).unwrap();
        let refused = |words: &[&str]| nmap.arguments.first_refused(&arguments(words)).map(ToOwned::to_owned);
        assert_eq!(refused(&["-sV", "-Pn", "-p", "1-1000"]), None);
        assert_eq!(refused(&["-sV", "10.0.0.6"]), Some("10.0.0.6".into()), "a second target is not a way out");
        assert_eq!(refused(&["-iL", "hosts"]), Some("-iL".into()));
        assert_eq!(refused(&["-p"]), Some("-p".into()), "an option without a value");
        assert_eq!(refused(&["-p", "--script=x"]), Some("-p".into()), "a switch is no value");
    }

    #[test]
    fn an_unknown_key_or_a_relative_program_refuses_the_file() {
        let typo = Tools::parse(&NMAP.replace("kind", "kid")).unwrap_err().to_string();
        assert!(typo.contains("kid"), "{typo}");
        let relative = Tools::parse(&NMAP.replace("/usr/bin/nmap", "nmap")).unwrap_err().to_string();
        assert!(relative.contains("not an absolute path"), "{relative}");
    }

    #[test]
    fn any_change_of_the_definition_is_another_version() {
        let version = |text: &str| Tools::parse(text).unwrap().get(&"nmap".parse().unwrap()).unwrap().version();
        assert_ne!(version(NMAP), version(&NMAP.replace("-Pn", "-A")));
        assert_eq!(version(NMAP), version(NMAP));
    }

    #[test]
    fn tools_of_a_profile_that_is_not_there_are_refused_with_those_that_are() {
        let cages =
            |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Digest::of(name.as_bytes()))).collect();
        let tools = Tools::parse(NMAP).unwrap().in_cages(cages(&["default"])).unwrap();
        let nmap = tools.get(&"nmap".parse().unwrap()).unwrap();
        assert_eq!(tools.cage_of(nmap), Some(Digest::of(b"default")));
        let lost = Tools::parse(&format!("{NMAP}profile = \"ours\"")).unwrap();
        let why = lost.in_cages(cages(&["default", "other"])).unwrap_err().to_string();
        assert!(why.contains("`nmap`") && why.contains("`ours`") && why.contains("default, other"), "{why}");
    }

    #[test]
    fn kinds_print_as_they_are_written() {
        for kind in ActionKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
