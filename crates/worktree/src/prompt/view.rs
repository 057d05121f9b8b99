//! What a template can name. Everything in it is clean: on one line where a line is meant, and the ticket only as a block.

use placet_domain::digest::Digest;
use placet_domain::worktree::Protected;
use serde::Serialize;

use super::quote;
use super::{Facts, TicketText};
use crate::team::{Agent, Check};

#[derive(Debug, Serialize)]
pub(super) struct View {
    agent: AgentView,
    ticket: TicketView,
    branch: String,
    base_branch: String,
    started_from: String,
    worktree: String,
    scope: ScopeView,
    commit_types: Vec<String>,
    checks: Vec<CheckView>,
    ports: Vec<PortView>,
}

#[derive(Debug, Serialize)]
struct AgentView {
    name: String,
    display_name: String,
    role: String,
    mission: String,
    skills: Vec<String>,
    rules: Vec<String>,
}

#[derive(Debug, Serialize)]
struct TicketView {
    id: String,
    /// Title and body as one quoted block; empty if there are none.
    block: String,
    /// Depends on every word of the block, so that no word in it can pretend to be the end of the quote.
    mark: String,
}

#[derive(Debug, Serialize)]
struct ScopeView {
    allow: Vec<String>,
    deny: Vec<String>,
    protected: Vec<ProtectedView>,
    exempted: Vec<String>,
}

/// Paths that are protected for the same reason.
#[derive(Debug, Serialize)]
struct ProtectedView {
    reason: String,
    paths: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckView {
    name: String,
    command: String,
    when: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PortView {
    name: String,
    number: u16,
}

impl View {
    pub(super) fn new(agent: &Agent, ticket: &TicketText, facts: &Facts) -> Self {
        Self {
            agent: AgentView::new(agent),
            ticket: TicketView::new(ticket),
            branch: facts.branch.to_string(),
            base_branch: facts.base_branch.to_string(),
            started_from: facts.started_from.to_string(),
            worktree: quote::line(&facts.worktree.display().to_string()),
            scope: ScopeView {
                allow: lines(&facts.manifest.scope.rules().allow),
                deny: lines(&facts.manifest.scope.rules().deny),
                protected: by_reason(&protected(facts)),
                exempted: lines(&facts.exempted),
            },
            commit_types: lines(facts.commit_form.types()),
            checks: facts.checks.iter().map(CheckView::new).collect(),
            ports: facts
                .ports
                .iter()
                .map(|(name, number)| PortView { name: quote::line(name), number: *number })
                .collect(),
        }
    }

    /// Something of everything, to try templates with.
    pub(super) fn example() -> Self {
        let text = || "example".to_owned();
        let texts = || vec!["example".to_owned()];
        Self {
            agent: AgentView {
                name: text(),
                display_name: text(),
                role: text(),
                mission: text(),
                skills: texts(),
                rules: texts(),
            },
            ticket: TicketView { id: text(), block: quote::block("example"), mark: text() },
            branch: text(),
            base_branch: text(),
            started_from: text(),
            worktree: text(),
            scope: ScopeView {
                allow: texts(),
                deny: texts(),
                protected: vec![ProtectedView { reason: text(), paths: texts() }],
                exempted: texts(),
            },
            commit_types: texts(),
            checks: vec![CheckView { name: text(), command: text(), when: texts() }],
            ports: vec![PortView { name: text(), number: 1 }],
        }
    }
}

impl AgentView {
    fn new(agent: &Agent) -> Self {
        Self {
            name: agent.name().to_string(),
            display_name: quote::line(agent.display_name()),
            role: quote::line(agent.role()),
            mission: quote::visible(agent.mission()).trim().to_owned(),
            skills: lines(agent.skills()),
            rules: lines(agent.rules()),
        }
    }
}

impl TicketView {
    fn new(ticket: &TicketText) -> Self {
        let title = ticket.title.as_deref().map(quote::line).unwrap_or_default();
        let body = ticket.body.as_deref().map(quote::visible).unwrap_or_default();
        let parts: Vec<&str> = [title.trim(), body.trim()].into_iter().filter(|part| !part.is_empty()).collect();
        let block = if parts.is_empty() { String::new() } else { quote::block(&parts.join("\n\n")) };
        let mark = Digest::of(block.as_bytes()).to_hex().chars().take(16).collect();
        Self { id: ticket.id.to_string(), block, mark }
    }
}

impl CheckView {
    fn new(check: &Check) -> Self {
        let command: Vec<String> = check.command.iter().map(|argument| shown(argument)).collect();
        Self { name: check.name.to_string(), command: command.join(" "), when: lines(&check.when) }
    }
}

/// An argument as one would type it, if it is plain; else as a JSON text, so that its ends are seen.
fn shown(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    let is_plain = !argument.is_empty() && argument.chars().all(plain);
    if is_plain { argument.to_owned() } else { serde_json::Value::from(argument).to_string() }
}

fn lines<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(|item| quote::line(&item.to_string())).collect()
}

/// Lists the paths that are still protected.
fn protected(facts: &Facts) -> Vec<Protected> {
    let all = facts.manifest.protected.iter();
    all.filter(|protected| !facts.exempted.contains(&protected.path)).cloned().collect()
}

/// Groups what is protected for the same reason. A directory is left out where its inside is listed: who reads `docs/**`
/// does not put a link in the place of `docs`, and who tries is told.
fn by_reason(protected: &[Protected]) -> Vec<ProtectedView> {
    let is_listed = |path: String| protected.iter().any(|other| other.path.as_str() == path);
    let mut groups: Vec<ProtectedView> = Vec::new();
    for Protected { path, reason } in protected {
        if is_listed(format!("{path}/**")) || is_listed(format!("{path}/")) {
            continue;
        }
        let (path, reason) = (quote::line(path.as_str()), quote::line(reason));
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.paths.push(path),
            None => groups.push(ProtectedView { reason, paths: vec![path] }),
        }
    }
    groups
}
