//! The text of an entry becomes an entry, or a list of everything that is wrong with it.

use std::collections::BTreeSet;

use super::{Averages, Cage, Capability, Entry, EntryId, Launch, Laws, Rate, Speaks, Switches};
use crate::budget::Amounts;
use crate::datafile::{self, Problem, Section};
use crate::proposal::ToolName;

/// Beyond these an entry cannot be reviewed by a person.
const MOST_TOOLS: usize = 100;
const MOST_FILES: usize = 64;
const MOST_ARGUMENTS: usize = 64;
const MOST_VARIABLES: usize = 64;

const NAME: &str = "text in quotes, at most 100 bytes";
const SENTENCE: &str = "a sentence in quotes, at most 500 bytes";
const NUMBER: &str = "a whole number";

pub(super) fn entry(file: &str, text: &str) -> Result<(EntryId, Entry), Vec<Problem>> {
    let entry = datafile::read(file, text, |top| {
        let id = top.need("id", "a short lowercase name, as in \"code_agent\"");
        let name = top.need("name", NAME);
        let about = top.need("about", SENTENCE);
        let level = top.need("level", "\"L2\" or \"L3\"");
        let provider = top.need("provider", NAME);
        let capabilities = capabilities(top);
        let tools = tools(top);
        let limits = top.section("limits", limits);
        let checkpoint = top.need_where("checkpoint", CHECKPOINT, |every: &super::CheckpointEvery| {
            (every.count() == 0).then_some("it would never stand still")
        });
        let cage = top.section("cage", cage);
        let laws = top.section("laws", laws);
        let switches = top.may::<Switches>("switches", "a table of switches, each `true` or `false`");
        let launch = top.section("launch", launch);
        let averages = top.section("averages", averages);
        Some(Entry {
            id: id?,
            name: name?,
            about: about?,
            level: level?,
            provider: provider?,
            capabilities: capabilities?,
            tools: tools?,
            limits: limits?,
            checkpoint: checkpoint?,
            cage: cage?,
            laws: laws?,
            switches: switches?,
            launch: launch?,
            averages: averages?,
        })
    })?;
    Ok((entry.id.clone(), entry))
}

const CHECKPOINT: &str = "{ steps = N }, { minutes = N } or { pages = N }, with N at least 1";

fn capabilities(top: &mut Section<'_, '_>) -> Option<BTreeSet<Capability>> {
    let words: Vec<&str> = Capability::ALL.iter().map(|capability| capability.as_str()).collect();
    let expects = format!("a list of some of: {}", words.join(", "));
    top.need_where("capabilities", &expects, |list: &BTreeSet<Capability>| {
        list.is_empty().then_some("an agent that can do nothing is never chosen")
    })
}

fn tools(top: &mut Section<'_, '_>) -> Option<BTreeSet<ToolName>> {
    top.need_where("tools", "a list of names of tools.toml, at most 100", |tools: &BTreeSet<ToolName>| {
        (tools.len() > MOST_TOOLS).then_some("there are more than 100 tools")
    })
}

/// Every limit is written down: one that was forgotten must not mean "none" or "any".
fn limits(section: &mut Section<'_, '_>) -> Option<Amounts> {
    let tokens = section.number("tokens", 0, "a whole number of tokens; 0 for an agent without a language model");
    let usd_micros = section.number("usd_micros", 0, "a whole number of millionths of a dollar");
    let wall_ms = section.number("wall_ms", 1, "a whole number of milliseconds, at least 1");
    let actions = section.number("actions", 1, "a whole number, at least 1");
    let pages = section.number("pages", 0, "a whole number; 0 for an agent that visits none");
    let disk_bytes = section.number("disk_bytes", 0, "a whole number of bytes");
    Some(Amounts {
        tokens: tokens?,
        usd_micros: usd_micros?,
        wall_ms: wall_ms?,
        actions: actions?,
        pages: pages?,
        disk_bytes: disk_bytes?,
    })
}

fn cage(section: &mut Section<'_, '_>) -> Option<Cage> {
    let profile = section.need("profile", "the name of a profile, as `placet sandbox profiles` lists them");
    let capabilities = section.need("capabilities", "a list of some of: execute_code, screenshots");
    let network = section.need("network", "\"none\", \"filtered\" or { allow = [\"example.org\", …] }");
    Some(Cage { profile: profile?, capabilities: capabilities?, network: network? })
}

fn laws(section: &mut Section<'_, '_>) -> Option<Laws> {
    let mut law = |key| section.need(key, "how the agent keeps this law, in a sentence of at most 500 bytes");
    let (safe, non_autonomous) = (law("safe"), law("non_autonomous"));
    let (representational, privacy, transparency) = (law("representational"), law("privacy"), law("transparency"));
    Some(Laws {
        safe: safe?,
        non_autonomous: non_autonomous?,
        representational: representational?,
        privacy: privacy?,
        transparency: transparency?,
    })
}

fn launch(section: &mut Section<'_, '_>) -> Option<Launch> {
    let speaks = section.need("speaks", "\"placet-api\" or \"external\"");
    let program = section.may("program", "an absolute path in quotes");
    let arguments = section.may("arguments", "a list of at most 64 arguments in quotes");
    let files = section.may("files", "a list of at most 64 files or folders beside the entry, in quotes");
    let profile = section.may("profile", "the name of a profile in quotes");
    let environment = section.may("environment", "a list of at most 64 names of variables, never of values");
    let by_hand = section.may("by_hand", "what a person types, in quotes");
    let launch = Launch {
        speaks: speaks?,
        program: program?,
        arguments: arguments?,
        files: files?,
        profile: profile?,
        environment: environment?,
        by_hand: by_hand?,
    };
    contradiction(&launch).inspect(|(key, message, hint)| section.refuse(key, message, hint));
    Some(launch)
}

type Contradiction = (&'static str, &'static str, &'static str);

/// What of a launch cannot be meant.
fn contradiction(launch: &Launch) -> Option<Contradiction> {
    const ONE_OF_BOTH: &str = "a program Placet starts has `program`; one a person starts has `by_hand`";
    match (launch.speaks, &launch.program, &launch.by_hand) {
        (Speaks::External, Some(_), _) => {
            Some(("program", "nobody starts the program of an external agent", ONE_OF_BOTH))
        }
        (Speaks::External, None, None) => Some(("by_hand", "nobody is told how to start it", ONE_OF_BOTH)),
        (Speaks::PlacetApi, _, Some(_)) => Some(("by_hand", "Placet starts it, not a person", ONE_OF_BOTH)),
        (Speaks::PlacetApi, None, None) if !launch.arguments.is_empty() => {
            Some(("arguments", "there is no program to give them to", "name a `program`, or remove them"))
        }
        (_, None, _) if !launch.files.is_empty() || launch.profile.is_some() => Some((
            "files",
            "there is no program that they are for",
            "name a `program`, or remove `files` and `profile`",
        )),
        _ if launch.files.len() > MOST_FILES => {
            Some(("files", "there are more than 64 of them", "put them into a folder and name that"))
        }
        _ if launch.arguments.len() > MOST_ARGUMENTS => {
            Some(("arguments", "there are more than 64 of them", "put them into a file that the program reads"))
        }
        _ if launch.environment.len() > MOST_VARIABLES => {
            Some(("environment", "there are more than 64 of them", "pass on what the program needs"))
        }
        (Speaks::External, None, Some(_)) | (Speaks::PlacetApi, _, None) => None,
    }
}

fn averages(section: &mut Section<'_, '_>) -> Option<Averages> {
    let basis = section.need("basis", "where the numbers come from, in a sentence of at most 500 bytes");
    let worst =
        section.number("worst_case_percent", 100, "a whole number, at least 100: what is reserved of the average");
    let price_in = section.number("usd_micros_per_1k_tokens_in", 0, "a whole number of millionths of a dollar");
    let price_out = section.number("usd_micros_per_1k_tokens_out", 0, "a whole number of millionths of a dollar");
    let turn = section.section("turn", rate);
    let page = section.section("page", rate);
    Some(Averages {
        basis: basis?,
        worst_case_percent: worst?,
        usd_micros_per_1k_tokens_in: price_in?,
        usd_micros_per_1k_tokens_out: price_out?,
        turn: turn?,
        page: page?,
    })
}

fn rate(section: &mut Section<'_, '_>) -> Option<Rate> {
    let mut number = |key| section.number(key, 0, NUMBER);
    let (tokens_in, tokens_out, wall_ms) = (number("tokens_in"), number("tokens_out"), number("wall_ms"));
    let (actions, disk_bytes) = (number("actions"), number("disk_bytes"));
    Some(Rate {
        tokens_in: tokens_in?,
        tokens_out: tokens_out?,
        wall_ms: wall_ms?,
        actions: actions?,
        disk_bytes: disk_bytes?,
    })
}
