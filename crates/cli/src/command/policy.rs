//! `placet policy`: check, test and explain the rules, without a control plane.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use placet_domain::catalogue::Bounds;
use placet_domain::id::{IdentityId, RunId};
use placet_domain::policy::{Frame, Policy, RuleSummary, Verdict};
use placet_domain::proposal::{Action, Proposal, Tools};
use placet_domain::run::Posture;
use placet_domain::scope::{Scope, ScopeDraft};
use placet_wire::api::VerdictView;

use super::catalog;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::{policy_files, read};
use crate::out::{BOLD, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// A directory of .cedar files (default: the home's)
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// A tools file (default: the home's)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Load the rules and name everything that is wrong with them, with file, line and hint
    Check(Files),
    /// Run every example of every rule
    Test(Files),
    /// What the rules say of an action, and why
    #[command(
        after_help = "Example:\n  placet policy explain nmap --target 10.0.0.5 -- -sV -Pn -p 1-1000\n  placet policy explain tee --entry code_agent --output notes.md"
    )]
    Explain {
        /// A tool of tools.toml
        tool: String,
        /// What the tool is given; write `--` before arguments that begin with a hyphen
        arguments: Vec<String>,
        #[arg(long)]
        target: Option<String>,
        #[arg(long = "output", value_name = "PATH")]
        outputs: Vec<String>,
        /// A scope file (default: one that permits exactly what is named here)
        #[arg(long, value_name = "FILE")]
        scope: Option<PathBuf>,
        /// An agent of the catalogue: what its entry does not allow is refused
        #[arg(long, value_name = "ID")]
        entry: Option<String>,
        #[command(flatten)]
        files: Files,
    },
}

pub(crate) fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Check(files) => {
            let (policy, _) = load(&files, who)?;
            let rules: Vec<serde_json::Value> = policy.rules().map(rule_json).collect();
            let view = serde_json::json!({ "version": policy.version(), "rules": rules });
            out.answer(&view, |_| {
                let rows: Vec<Vec<String>> = policy.rules().map(rule_row).collect();
                format!("{}\n\n{} {} rules, {}", table(&rows), styled(GOOD, "good:"), rows.len(), policy.version())
            });
            Ok(())
        }
        Command::Test(files) => {
            let (policy, _) = load(&files, who)?;
            let view = serde_json::json!({ "rules": policy.rules().count(), "examples": policy.examples_checked() });
            out.answer(&view, |_| {
                format!(
                    "{} {} examples of {} rules hold",
                    styled(GOOD, "good:"),
                    policy.examples_checked(),
                    policy.rules().count()
                )
            });
            Ok(())
        }
        Command::Explain { tool, arguments, target, outputs, scope, entry, files } => {
            let (policy, tools) = load(&files, who)?;
            let proposal = proposal(&tool, arguments, target.as_deref(), outputs)?;
            let scope = match scope {
                Some(path) => Scope::lock(
                    toml::from_str(&read(&path)?)
                        .map_err(|error| CliError::usage(format!("`{}`: {error}", path.display())))?,
                ),
                None => scope_of(&proposal)?,
            };
            let (run, agent) = (RunId::from_uuid(uuid::Uuid::nil()), IdentityId::from_uuid(uuid::Uuid::nil()));
            let action = Action::seal(&proposal, &tools, &scope, run, agent)
                .map_err(|error| CliError::usage(error.to_string()))?;
            let bounds = entry.map(|entry| bounds_of(&entry, who)).transpose()?;
            let frame = Frame { scope: &scope, posture: &Posture::default(), bounds: bounds.as_ref() };
            let verdict = policy.judge(&action, &frame);
            out.answer(&VerdictView::from(&verdict), |_| explanation(&verdict));
            Ok(())
        }
    }
}

fn load(files: &Files, who: &Who) -> Result<(Policy, Tools), CliError> {
    let tools = match &files.tools {
        Some(path) => {
            Tools::parse(&read(path)?).map_err(|error| CliError::usage(format!("`{}`: {error}", path.display())))?
        }
        None => who.home()?.tools()?,
    };
    let folder = match &files.policy {
        Some(folder) => folder.clone(),
        None => who.home()?.dir().join("policy"),
    };
    let policy = Policy::load(&policy_files(&folder)?, &tools);
    let policy = policy.map_err(|problems| CliError::new(Code::Usage, problems.to_string()))?;
    Ok((policy, tools))
}

/// What an agent of the catalogue is held to: one of the home, or one that ships.
fn bounds_of(entry: &str, who: &Who) -> Result<Bounds, CliError> {
    let agents = catalog::listing(who)?.agents;
    let id = entry.parse().map_err(|error: placet_domain::name::BadName| CliError::usage(error.to_string()))?;
    let found = agents.get(&id).ok_or_else(|| CliError::new(Code::NotFound, format!("no agent `{entry}`")));
    Ok(found.map_err(|error| error.hint("`placet catalog list` names them all"))?.bounds())
}

fn rule_json(rule: &RuleSummary) -> serde_json::Value {
    serde_json::json!({
        "id": rule.id, "file": rule.file, "line": rule.line, "effect": rule.effect.to_string(),
        "demands": rule.demands.to_string(), "weight": rule.risk.to_string(), "because": rule.rationale.to_string(),
        "reason": rule.rationale,
    })
}

fn rule_row(rule: &RuleSummary) -> Vec<String> {
    let place = format!("{}:{}", rule.file, rule.line);
    vec![rule.id.clone(), rule.demands.to_string(), rule.risk.to_string(), place, rule.rationale.to_string()]
}

fn proposal(
    tool: &str,
    arguments: Vec<String>,
    target: Option<&str>,
    outputs: Vec<String>,
) -> Result<Proposal, CliError> {
    let usage = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    Ok(Proposal {
        tool: tool.parse().map_err(|error| usage(&error))?,
        arguments,
        target: target.map(str::parse).transpose().map_err(|error| usage(&error))?,
        environment: BTreeMap::new(),
        files: Vec::new(),
        outputs,
        network: Vec::new(),
        credentials: BTreeSet::new(),
        timeout_ms: None,
        justification: String::new(),
    })
}

/// A scope that permits exactly what was named, so that only the rules speak.
fn scope_of(proposal: &Proposal) -> Result<Scope, CliError> {
    let usage = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let target =
        proposal.target.as_ref().map(|target| target.to_string().parse()).transpose().map_err(|error| usage(&error))?;
    let allow =
        if proposal.outputs.is_empty() { Vec::new() } else { vec!["**".parse().map_err(|error| usage(&error))?] };
    let tools = [proposal.tool.clone()].into();
    Ok(Scope::lock(ScopeDraft { allow, deny: Vec::new(), targets: target.into_iter().collect(), tools }))
}

fn explanation(verdict: &Verdict) -> String {
    let mut rows: Vec<Vec<String>> = verdict
        .reasons()
        .iter()
        .map(|reason| {
            vec![reason.weight.to_string(), reason.demands.to_string(), reason.rule.clone(), reason.because.to_string()]
        })
        .collect();
    let meaning = verdict.tier().meaning().to_owned();
    rows.push(vec![verdict.risk().to_string(), verdict.tier().to_string(), styled(BOLD, "risk and tier"), meaning]);
    table(&rows)
}
