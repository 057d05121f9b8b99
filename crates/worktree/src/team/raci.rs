//! Duties: for each operation who decides it, who works at it, who is asked and who is told. What the duties mean is decided
//! elsewhere; here is what the team wrote.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use placet_domain::identity::Role;
use serde::{Deserialize, Serialize};

use super::files::Root;
use super::init::RACI_STARTER;
use super::problem::Problem;
use super::sheet::{Sheet, read};

pub(crate) const RACI: &str = "agents/raci.json";

/// What is done with a worktree, as far as somebody is accountable for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Start,
    Execute,
    ScopeCheck,
    Close,
    Merge,
}

impl Operation {
    pub const ALL: [Self; 5] = [Self::Start, Self::Execute, Self::ScopeCheck, Self::Close, Self::Merge];

    /// As it is written in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Execute => "execute",
            Self::ScopeCheck => "scope_check",
            Self::Close => "close",
            Self::Merge => "merge",
        }
    }
}

/// Who has a duty: one identity by its name, or everybody with a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Member {
    Named(String),
    Role(Role),
}

/// A role that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role")]
pub struct BadMember(String);

impl Member {
    /// Whether an identity is meant.
    pub fn includes(&self, name: &str, roles: impl IntoIterator<Item = Role>) -> bool {
        match self {
            Self::Named(named) => named == name,
            Self::Role(role) => roles.into_iter().any(|one| one == *role),
        }
    }
}

impl FromStr for Member {
    type Err = BadMember;

    fn from_str(text: &str) -> Result<Self, BadMember> {
        let Some(role) = text.strip_prefix('@') else { return Ok(Self::Named(text.to_owned())) };
        let role = Role::ALL.iter().find(|known| known.as_str() == role);
        role.copied().map(Self::Role).ok_or_else(|| BadMember(text.to_owned()))
    }
}

impl TryFrom<String> for Member {
    type Error = BadMember;

    fn try_from(text: String) -> Result<Self, BadMember> {
        text.parse()
    }
}

impl From<Member> for String {
    fn from(member: Member) -> Self {
        member.to_string()
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Role(role) => write!(f, "@{role}"),
        }
    }
}

/// Who has which duty in one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duties {
    /// The only ones who can decide it; never empty.
    pub accountable: Vec<Member>,
    #[serde(default)]
    pub responsible: Vec<Member>,
    #[serde(default)]
    pub consulted: Vec<Member>,
    #[serde(default)]
    pub informed: Vec<Member>,
}

/// The duties of every operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raci(BTreeMap<Operation, Duties>);

impl Raci {
    pub fn of(&self, operation: Operation) -> &Duties {
        &self.0[&operation]
    }

    /// What decides must be a person: programs could be told to.
    fn of_programs(&self) -> impl Iterator<Item = (String, String)> {
        let places = self.0.iter().flat_map(|(operation, duties)| {
            duties.accountable.iter().enumerate().map(move |(index, member)| (operation, index, member))
        });
        let programs = places.filter(|(_, _, member)| matches!(member, Member::Role(Role::Agent | Role::Worker)));
        programs.map(|(operation, index, member)| {
            let pointer = format!("/{}/accountable/{index}", operation.as_str());
            (
                pointer,
                format!("`{member}` is a program, and only people can be accountable; name a person or `@reviewer`"),
            )
        })
    }
}

/// Reads the duties; those that `init` writes, if there is no file. Nothing, if they are wrong.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> Option<Raci> {
    let before = problems.len();
    let bytes = read(root, RACI, problems);
    if problems.len() > before {
        return None;
    }
    let sheet = Sheet::check(RACI, bytes.as_deref().unwrap_or(RACI_STARTER.as_bytes()), "raci.schema.json", problems)?;
    let raci: Raci = sheet.typed(problems)?;
    problems.extend(raci.of_programs().map(|(pointer, message)| sheet.problem(&pointer, message)));
    Some(raci)
}
