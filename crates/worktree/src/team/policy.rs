//! How a team works with its agents: branches, tickets, commits, checks, setup, ports, quotas, sequences. Every key may be
//! left out; the defaults are here and in the published schema, and a test compares them.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::scope::{Case, Glob, ScopePath};
use placet_domain::worktree::{AgentName, BadName, BranchName, Ticket};
use serde::{Deserialize, Serialize};

use super::files::Root;
use super::name::{BranchGlob, CheckName, TicketKind};
use super::problem::Problem;
use super::sheet::{Sheet, read};
use crate::commit_form::CommitForm;

pub(crate) const POLICY: &str = "agents/policy.json";

/// The branch of any agent at any ticket looks like this one.
const SOME_AGENTS_BRANCH: &str = "feat/A-1-a";
const HIGHEST_PORT: u64 = 65_535;

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
    problems.extend(contradictions(&policy).into_iter().map(|(pointer, message)| sheet.problem(&pointer, message)));
    Some(Written { policy, sheet: Some(sheet) })
}

/// What a schema cannot see within the file.
fn contradictions(policy: &Policy) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let checks = policy.checks.iter().map(|check| &check.name);
    found.extend(
        repeated(checks).map(|(at, name)| (format!("/checks/{at}/name"), format!("there are two checks `{name}`"))),
    );
    let steps = policy.setup.generate.iter().map(|step| &step.name);
    found.extend(
        repeated(steps)
            .map(|(at, name)| (format!("/setup/generate/{at}/name"), format!("there are two steps `{name}`"))),
    );
    for (at, command) in commands(policy) {
        if command.first().is_some_and(|program| program.trim().is_empty()) {
            found.push((format!("{at}/command/0"), "the program is empty; name it".into()));
        }
    }
    for (at, glob) in policy.protected_branches.iter().enumerate() {
        if glob.matches(SOME_AGENTS_BRANCH) {
            let message =
                format!("`{glob}` protects the very branches that agents work on (`feat/<TICKET>-<agent>`); narrow it");
            found.push((format!("/protectedBranches/{at}"), message));
        }
    }
    found.extend(of_ports(policy));
    let quotas = &policy.quotas;
    if quotas.disk_bytes_per_worktree > quotas.disk_bytes_total {
        let message = "one worktree may take more than all together (diskBytesTotal); make one of them fit";
        found.push(("/quotas/diskBytesPerWorktree".into(), message.into()));
    }
    found
}

fn commands(policy: &Policy) -> impl Iterator<Item = (String, &Vec<String>)> {
    let checks = policy.checks.iter().enumerate().map(|(at, check)| (format!("/checks/{at}"), &check.command));
    let steps =
        policy.setup.generate.iter().enumerate().map(|(at, step)| (format!("/setup/generate/{at}"), &step.command));
    checks.chain(steps)
}

fn repeated<'n>(names: impl Iterator<Item = &'n CheckName>) -> impl Iterator<Item = (usize, &'n CheckName)> {
    let mut seen = BTreeSet::new();
    names.enumerate().filter(move |(_, name)| !seen.insert(*name))
}

fn of_ports(policy: &Policy) -> Option<(String, String)> {
    let (ports, worktrees) = (&policy.ports, u64::from(policy.quotas.worktrees));
    if ports.names.len() > usize::from(ports.per_worktree) {
        let message =
            format!("{} names for {} ports per worktree; raise perWorktree", ports.names.len(), ports.per_worktree);
        return Some(("/ports/names".into(), message));
    }
    let last = u64::from(ports.first) + u64::from(ports.per_worktree) * worktrees - 1;
    let message = || {
        format!(
            "the ports of {worktrees} worktrees would end at {last}, beyond {HIGHEST_PORT}; lower first or perWorktree"
        )
    };
    (last > HIGHEST_PORT && !ports.names.is_empty()).then(|| ("/ports".into(), message()))
}
