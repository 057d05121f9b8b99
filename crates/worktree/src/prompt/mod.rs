//! The working prompt of an agent: profile, ticket, scope and rules, put into a template that the team can override
//! (`agents/templates/prompt.md`).
//!
//! The words of a ticket are data. They never become part of the template's syntax, they are only available as one quoted
//! block whose fence is longer than any in them, and what nobody would see in them is dropped. A template that names
//! something that is not there fails; nothing is filled in silently. What the prompt says is enforced elsewhere.

mod quote;
mod view;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use placet_domain::scope::Glob;
use placet_domain::worktree::{BranchName, Manifest, Ticket};

use crate::commit_form::CommitForm;
use crate::team::{Agent, Check, PROMPT_TEMPLATE, Team, branch_of};
use view::View;

/// The template for teams that have none of their own.
pub const SHIPPED_TEMPLATE: &str = include_str!("template.md");
/// Longer tickets are not tickets; what is needed of a log belongs into a file.
const LONGEST_TICKET: usize = 256 * 1024;
/// Steps a template may take: far more than any needs, and an end for one that would not end.
const MOST_STEPS: u64 = 2_000_000;

/// What an agent is to work at, in the words of whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketText {
    pub id: Ticket,
    pub title: Option<String>,
    pub body: Option<String>,
}

/// What holds for one worktree, as it was recorded when it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub branch: BranchName,
    pub base_branch: BranchName,
    /// The branch that the work starts from: the base, or the previous agent's branch.
    pub started_from: BranchName,
    pub worktree: PathBuf,
    pub manifest: Manifest,
    /// Protected paths that a person allows this worktree to change.
    pub exempted: Vec<Glob>,
    pub commit_form: CommitForm,
    pub checks: Vec<Check>,
    /// Named ports that belong to the worktree.
    pub ports: BTreeMap<String, u16>,
}

impl Facts {
    /// The facts of a worktree that starts now, as the team's files are. Ports are leased elsewhere.
    pub fn of(team: &Team, agent: &Agent, ticket: &Ticket, worktree: &Path) -> Self {
        Self {
            branch: branch_of(ticket, agent.name()),
            base_branch: team.policy().base_branch.clone(),
            started_from: team.policy().base_branch.clone(),
            worktree: worktree.to_owned(),
            manifest: team.manifest(agent),
            exempted: Vec::new(),
            commit_form: team.policy().commit_form.clone(),
            checks: team.checks_of(agent).cloned().collect(),
            ports: BTreeMap::new(),
        }
    }

    /// Adds the facts recorded when the worktree was opened, and the exemptions granted since.
    #[must_use]
    pub fn recorded(self, manifest: Manifest, exempted: Vec<Glob>, started_from: BranchName) -> Self {
        Self { manifest, exempted, started_from, ..self }
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("the ticket has {bytes} bytes and may have {LONGEST_TICKET}; shorten it, or put logs into files")]
    TicketTooLong { bytes: usize },
    #[error("{PROMPT_TEMPLATE}:{line}: {message}")]
    Template { line: usize, message: String },
}

/// The prompt for an agent that works at a ticket.
pub fn render(team: &Team, agent: &Agent, ticket: &TicketText, facts: &Facts) -> Result<String, PromptError> {
    let bytes = [&ticket.title, &ticket.body].into_iter().flatten().map(String::len).sum();
    if bytes > LONGEST_TICKET {
        return Err(PromptError::TicketTooLong { bytes });
    }
    let template = team.prompt_template().unwrap_or(SHIPPED_TEMPLATE);
    fill(template, &View::new(agent, ticket, facts)).map_err(|(line, message)| PromptError::Template { line, message })
}

/// What is wrong with a template, with its line. It is tried with an example, so that names that do not exist are found
/// before an agent waits for its prompt.
pub(crate) fn flaw(template: &str) -> Option<(usize, String)> {
    fill(template, &View::example()).err()
}

fn fill(template: &str, view: &View) -> Result<String, (usize, String)> {
    environment().render_str(template, Serde(view)).map_err(|error| {
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        (error.line().unwrap_or(1), format!("{}{detail}", error.kind()))
    })
}

/// Templates see the view and the plain filters of the language, and nothing of the machine.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Markdown is no HTML: `<` stays `<`.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(MOST_STEPS));
    environment.add_filter("code", |text: String| quote::span(&text));
    if let Ok(syntax) =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()
    {
        environment.set_syntax(syntax);
    }
    environment
}
