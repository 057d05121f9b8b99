//! How a team works with its agents: branches, tickets, commits, checks, setup, ports, quotas, sequences. Every key may be
//! left out; the defaults are here and in the published schema, and a test compares them.

mod contradictions;

use std::collections::BTreeMap;

use placet_domain::name::BadName;
use placet_domain::scope::{Case, Glob, ScopePath};
use placet_domain::worktree::{AgentName, BranchName, Ticket};
use serde::{Deserialize, Serialize};

use super::files::Root;
use super::name::{BranchGlob, CheckName, TicketKind};
use super::problem::Problem;
use super::sheet::{Sheet, read};
use crate::commit_form::CommitForm;

pub(crate) const POLICY: &str = "agents/policy.json";

/// What `agents/policy.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    pub base_branch: BranchName,
    pub protected_branches: Vec<BranchGlob>,
    pub tickets: Tickets,
    #[serde(rename = "commitTypes")]
    pub commit_form: CommitForm,
    pub checks: Vec<Check>,
    pub setup: Setup,
    pub ports: Ports,
    pub quotas: Quotas,
    /// For each kind of ticket, the agents that work on it one after the other.
    pub sequences: BTreeMap<TicketKind, Vec<AgentName>>,
}

impl Default for Policy {
    fn default() -> Self {
        let glob = |text: &str| text.parse().expect("it keeps the rule of its type");
        Self {
            base_branch: "main".parse().expect("it keeps the rule of its type"),
            protected_branches: ["main", "master", "release/**"].map(glob).into(),
            tickets: Tickets::default(),
            commit_form: CommitForm::default(),
            checks: Vec::new(),
            setup: Setup::default(),
            ports: Ports::default(),
            quotas: Quotas::default(),
            sequences: BTreeMap::new(),
        }
    }
}

/// What tickets are called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tickets {
    /// The prefixes that are accepted; any, if the list is empty.
    pub prefixes: Vec<String>,
}

/// A check of the Definition of Done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    pub name: CheckName,
    /// A program and its arguments; never empty.
    pub command: Vec<String>,
    #[serde(default)]
    pub when: Vec<Glob>,
    #[serde(default = "ten_minutes")]
    pub timeout_seconds: u32,
    #[serde(default = "yes", rename = "cage")]
    pub is_caged: bool,
}

fn ten_minutes() -> u32 {
    600
}

fn yes() -> bool {
    true
}

impl Check {
    /// Whether it counts when these paths changed.
    pub fn applies_to<'p>(&self, mut changed: impl Iterator<Item = &'p ScopePath>) -> bool {
        self.when.is_empty() || changed.any(|path| self.when.iter().any(|glob| glob.matches(path, Case::Exact)))
    }
}

/// What makes a worktree ready to work in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    pub caches: Vec<Cache>,
    pub generate: Vec<Generate>,
    pub environment: Environment,
}

/// A directory of the host that spares agents a download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Absolute, or from the home of whoever starts the worktree (`~/`).
    pub from: String,
    /// Absolute in the cage, or from the root of the worktree.
    pub to: String,
    pub how: CacheMode,
}

/// How a cache is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CacheMode {
    /// A private tree whose files are the host's until they are replaced.
    Hardlink,
    /// The directory itself, not writable.
    ReadOnly,
}

/// A command that makes files the repository does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    pub name: CheckName,
    pub command: Vec<String>,
}

/// Variables that an agent sees besides those of its cage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    pub pass: Vec<String>,
    pub set: BTreeMap<String, String>,
}

/// Which ports worktrees get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Ports {
    pub first: u16,
    pub per_worktree: u16,
    /// The variables that hold the numbers, in order.
    pub names: Vec<String>,
}

impl Default for Ports {
    fn default() -> Self {
        Self { first: 20_000, per_worktree: 10, names: Vec::new() }
    }
}

impl Ports {
    /// The named ports of the worktree in a slot, counted from 0.
    pub fn of_slot(&self, slot: u32) -> BTreeMap<String, u16> {
        let first = u64::from(self.first) + u64::from(slot) * u64::from(self.per_worktree);
        let numbers = (first..).map_while(|number| u16::try_from(number).ok());
        self.names.iter().cloned().zip(numbers).collect()
    }
}

/// How much room agents may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Quotas {
    pub disk_bytes_per_worktree: u64,
    pub disk_bytes_total: u64,
    pub worktrees: u32,
    pub max_age_days: u32,
}

impl Default for Quotas {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self { disk_bytes_per_worktree: 10 * GIB, disk_bytes_total: 100 * GIB, worktrees: 32, max_age_days: 30 }
    }
}

/// A ticket that the team's policy does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTicket {
    #[error(transparent)]
    Name(#[from] BadName),
    #[error("`{0}` is no ticket: write letters and digits, a hyphen and a number of up to 9 digits, such as `PAY-123`")]
    Form(Ticket),
    #[error("the ticket `{ticket}` has none of the prefixes in `agents/policy.json`: {prefixes}")]
    Prefix { ticket: Ticket, prefixes: String },
}

impl Policy {
    /// Reads the name of a ticket.
    pub fn ticket(&self, text: &str) -> Result<Ticket, BadTicket> {
        let ticket: Ticket = text.parse()?;
        let Some(prefix) = prefix(text) else { return Err(BadTicket::Form(ticket)) };
        let accepted = &self.tickets.prefixes;
        if accepted.is_empty() || accepted.iter().any(|one| one == prefix) {
            return Ok(ticket);
        }
        Err(BadTicket::Prefix { ticket, prefixes: accepted.join(", ") })
    }

    /// Whether nothing is pushed to a branch: the base, or one that a pattern names.
    pub fn is_protected_branch(&self, branch: &str) -> bool {
        branch.eq_ignore_ascii_case(self.base_branch.as_str())
            || self.protected_branches.iter().any(|glob| glob.matches(branch))
    }
}

/// What stands before the hyphen of a ticket, if it has the form of one.
fn prefix(ticket: &str) -> Option<&str> {
    let (prefix, number) = ticket.split_once('-')?;
    let is_number = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(prefix)
}

/// The policy with its sheet, for checks against other files; none if it was left out.
pub(crate) struct Written {
    pub(crate) policy: Policy,
    pub(crate) sheet: Option<Sheet>,
}

/// Reads the policy; the defaults, if there is no file. Nothing, if it is wrong.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> Option<Written> {
    let before = problems.len();
    let Some(bytes) = read(root, POLICY, problems) else {
        return (problems.len() == before).then(|| Written { policy: Policy::default(), sheet: None });
    };
    let sheet = Sheet::check(POLICY, &bytes, "policy.schema.json", problems)?;
    let policy: Policy = sheet.typed(problems)?;
    problems.extend(
        contradictions::contradictions(&policy).into_iter().map(|(pointer, message)| sheet.problem(&pointer, message)),
    );
    Some(Written { policy, sheet: Some(sheet) })
}
