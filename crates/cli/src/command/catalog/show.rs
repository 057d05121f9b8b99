//! `placet catalog show` and `placet catalog template`: one of them, in words, as JSON, or as the file it is.

use std::path::PathBuf;
use std::str::FromStr;

use placet_domain::budget::Resource;
use placet_domain::catalogue::{Entry, EntryId, shipped};
use placet_domain::digest::Digest;
use placet_domain::planning::{Template, shipped_templates};
use serde::Serialize;

use super::{listing, origin};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::read;
use crate::out::{ASK, BOLD, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, as `placet catalog list` names it
    id: String,
    /// The text of its file, to begin one of your own with
    #[arg(long)]
    source: bool,
}

/// One of them, with what its file does not say itself.
#[derive(Debug, Serialize)]
struct Shown<T> {
    version: Digest,
    /// `None` for one that ships.
    file: Option<PathBuf>,
    #[serde(flatten)]
    says: T,
}

pub(super) fn agent(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let agents = listing(who)?.agents;
    let id = known(&args.id)?;
    let entry = agents.get(&id).ok_or_else(|| unknown("agent", &args.id))?;
    let file = agents.file_of(&id).map(PathBuf::from);
    if args.source {
        return source(&args.id, file.as_ref(), shipped(), out);
    }
    let shown = Shown { version: entry.version(), file, says: entry.clone() };
    out.answer(&shown, agent_words);
    Ok(())
}

/// Returns the text of an agent's file.
pub(super) fn text_of(id: &EntryId, file: Option<&str>) -> Result<String, CliError> {
    text(id.as_str(), file.map(PathBuf::from).as_ref(), shipped())
}

pub(super) fn template(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let templates = listing(who)?.templates;
    let id = known(&args.id)?;
    let template = templates.get(&id).ok_or_else(|| unknown("template", &args.id))?;
    let file = templates.file_of(&id).map(PathBuf::from);
    if args.source {
        return source(&args.id, file.as_ref(), shipped_templates(), out);
    }
    let shown = Shown { version: template.version(), file, says: template.clone() };
    out.answer(&shown, template_words);
    Ok(())
}

pub(super) fn known<I: FromStr<Err: std::fmt::Display>>(id: &str) -> Result<I, CliError> {
    id.parse().map_err(|error: I::Err| CliError::usage(error.to_string()).hint("`placet catalog list` names them all"))
}

pub(super) fn unknown(what: &str, id: &str) -> CliError {
    CliError::new(Code::NotFound, format!("no {what} `{id}`")).hint("`placet catalog list` names them all")
}

fn source(id: &str, file: Option<&PathBuf>, shipped: &[(&str, &str)], out: &Out) -> Result<(), CliError> {
    out.answer(&text(id, file, shipped)?, Clone::clone);
    Ok(())
}

fn text(id: &str, file: Option<&PathBuf>, shipped: &[(&str, &str)]) -> Result<String, CliError> {
    let named = |(name, _): &&(&str, &str)| name.strip_suffix(".toml") == Some(id);
    Ok(match file {
        Some(file) => read(file)?,
        None => shipped.iter().find(named).map(|(_, text)| (*text).to_owned()).unwrap_or_default(),
    })
}

fn agent_words(shown: &Shown<Entry>) -> String {
    let entry = &shown.says;
    let head = format!("{}  {}\n{}", styled(BOLD, &entry.id), entry.name, entry.about);
    let rows = [facts(shown), limits(entry), launch(entry)].concat();
    let laws: Vec<Vec<String>> = entry.laws.iter().map(|(law, how)| vec![law.to_owned(), how.to_string()]).collect();
    let basis = styled(DIM, format!("averages: {}", entry.averages.basis));
    format!("{head}\n\n{}\n\n{}\n\n{basis}", table(&rows), table(&laws))
}

fn row(name: &str, value: impl ToString) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}

fn listed<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = all.into_iter().map(|item| item.to_string()).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

fn facts(shown: &Shown<Entry>) -> Vec<Vec<String>> {
    let (entry, cage) = (&shown.says, &shown.says.cage);
    vec![
        row("level", entry.level),
        row("made by", &entry.provider),
        row("can", listed(&entry.capabilities)),
        row("may propose", listed(&entry.tools)),
        row("stands still", entry.checkpoint),
        row("cage", format!("{}, good for {}", cage.profile, listed(&cage.capabilities))),
        row("network", &cage.network),
        row("closed", closed(entry)),
        row("from", origin(shown.file.as_ref())),
        row("version", shown.version),
    ]
}

fn closed(entry: &Entry) -> String {
    let switches = &entry.switches;
    let all = [
        ("payments", switches.block_payments),
        ("login forms", switches.block_login_forms),
        ("messages", switches.block_messages),
        ("publishing", switches.block_publishing),
        ("deletion", switches.block_deletion),
    ];
    listed(all.into_iter().filter(|(_, on)| *on).map(|(name, _)| name))
}

fn limits(entry: &Entry) -> Vec<Vec<String>> {
    let limits = Resource::ALL.iter().map(|resource| format!("{resource} {}", entry.limits.of(*resource)));
    vec![row("at most", listed(limits))]
}

fn launch(entry: &Entry) -> Vec<Vec<String>> {
    let launch = &entry.launch;
    let started = match (entry.is_startable(), &launch.program) {
        (Err(why), _) => styled(ASK, why),
        (Ok(()), program) => {
            let words = program.iter().map(ToString::to_string).chain(launch.arguments.iter().map(ToString::to_string));
            styled(GOOD, words.collect::<Vec<_>>().join(" "))
        }
    };
    let files = (!launch.files.is_empty()).then(|| row("with", listed(&launch.files)));
    let by_hand = launch.by_hand.iter().map(|line| row("by hand", line));
    std::iter::once(row("started by", started)).chain(files).chain(by_hand).collect()
}

fn template_words(shown: &Shown<Template>) -> String {
    let template = &shown.says;
    let head = format!("{}  {}\n{}", styled(BOLD, &template.id), template.name, template.about);
    let heading = ["step", "takes", "pages", "turns", "times", "checkpoint"].map(|word| styled(BOLD, word)).to_vec();
    let steps = template.step.iter().map(|step| {
        let (pages, turns, times) = (step.pages.to_string(), step.turns.to_string(), step.repeat.to_string());
        let after = if step.checkpoint { "after it" } else { "" };
        vec![step.title.to_string(), step.capability.to_string(), pages, turns, times, after.to_owned()]
    });
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(steps).collect();
    format!("{head}\n\n{}\n\nfrom {}, {}", table(&rows), origin(shown.file.as_ref()), shown.version)
}
