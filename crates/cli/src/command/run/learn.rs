//! `placet run learn`: from what a run really asked for and left to the narrowest scope, profile or entry that would have
//! sufficed. It reads recorded evidence, shows a difference for a person to read, and changes nothing.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use placet_domain::proposal::Opening;
use placet_domain::scope::{Authority, Place, Target, TargetRule};
use placet_egress::learn::learn;
use placet_egress::rules::{PathRule, RuleDraft, Speaks};
use placet_egress::{EgressRecord, Rules};
use placet_wire::Client;
use placet_wire::api::RunView;
use placet_wire::endpoint::ShowRun;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::command::evidence;
use crate::context::{all_actions, run_id};
use crate::error::CliError;
use crate::home::read;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a file it lists whom the run reached, as proposals name them. With one it shows what to change in it:\n\n  placet run learn RUN --scope scope.toml\n  placet run learn RUN --profile .placet/profiles/ours.toml\n  placet run learn RUN --entry .placet/catalog/ours.toml\n\nNothing is changed; `patch` takes what it prints."
)]
pub(crate) struct Args {
    /// The run, by its id or the end of it
    run: String,
    /// A file for `placet scope lock`: its targets, and the paths that may change
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "entry"])]
    scope: Option<PathBuf>,
    /// A profile: the most that its programs may reach
    #[arg(long, value_name = "FILE", conflicts_with = "entry")]
    profile: Option<PathBuf>,
    /// An entry of the catalogue: the network of its cage
    #[arg(long, value_name = "FILE")]
    entry: Option<PathBuf>,
}

/// What a run used.
#[derive(Debug, Default, Serialize)]
struct Used {
    /// Whom it reached, as proposals name them.
    openings: BTreeSet<Opening>,
    /// What it left, where that is known by path.
    paths: Option<BTreeSet<String>>,
    /// Requests that were let out, and those that were not.
    requests: usize,
    refused: usize,
    /// Where lists were full: what is learned may be too little.
    unlisted: u64,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Learned {
    #[serde(flatten)]
    used: Used,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    let used = used(client, &args.run).await?;
    if used.unlisted > 0 {
        out.note(&format!("{} requests that were refused or led nowhere are counted and not listed", used.unlisted));
    }
    if used.paths.is_none() && args.scope.is_some() {
        out.note("its actions change files of the run without naming them: `allow` is left as it is");
    }
    let diff = match (&args.scope, &args.profile, &args.entry) {
        (Some(file), _, _) => Some(difference(file, |text| scope(text, &used))?),
        (_, Some(file), _) => Some(difference(file, |text| profile(text, &used))?),
        (_, _, Some(file)) => Some(difference(file, |text| entry(text, &used))?),
        (None, None, None) => None,
    };
    out.answer(&Learned { used, diff }, |learned| match &learned.diff {
        Some(diff) if diff.is_empty() => "nothing would change".to_owned(),
        Some(diff) => diff.trim_end().to_owned(),
        None => listed(&learned.used),
    });
    Ok(())
}

fn listed(used: &Used) -> String {
    let lines: Vec<String> = used.openings.iter().map(|opening| format!("--network '{opening}'")).collect();
    let sums = format!("{} requests were let out, {} were refused", used.requests, used.refused);
    std::iter::once(sums).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Read from evidence, each piece checked against the digest that was recorded.
async fn used(client: &Client, run: &str) -> Result<Used, CliError> {
    let id = run_id(client, run).await?;
    let view: RunView = client.get(ShowRun { run: id }).await?;
    let (mut used, mut records, mut paths) = (Used::default(), Vec::new(), BTreeSet::new());
    for action in all_actions(client, id).await?.into_iter().filter(|action| action.evidence.is_some()) {
        let (detail, manifest) = evidence::find(client, &action.id.to_string()).await?;
        used.unlisted += manifest.usage.network.map_or(0, |traffic| traffic.unlisted);
        paths.extend(manifest.items.iter().filter_map(|item| item.name.strip_prefix("out/")).map(str::to_owned));
        if let Some(item) = manifest.items.iter().find(|item| item.name == "network.jsonl") {
            records.extend(parsed(&evidence::fetch(client, &detail, item).await?)?);
        }
    }
    used.requests = records.iter().filter(|record| record.address.is_some()).count();
    used.refused = records.len() - used.requests;
    used.openings = learn(&records, &Rules::default()).allow.iter().flat_map(|rule| openings(rule.draft())).collect();
    // Where a run has files of its own, its actions change them without saying which.
    used.paths = view.launch.is_none().then_some(paths);
    Ok(used)
}

fn parsed(lines: &[u8]) -> Result<Vec<EgressRecord>, CliError> {
    let bad = |error: serde_json::Error| CliError::failed(format!("a record of a request cannot be read: {error}"));
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(bad)).collect()
}

/// A rule as openings say it: an exact path becomes that path and what is below it, the least an opening can say. Where its name led to
/// addresses that are not public, each is opened beside it: a name alone does not lead there.
fn openings(rule: &RuleDraft) -> Vec<Opening> {
    let beside = rule.networks.iter().map(|network| Opening::all_of(Target::Network(*network)));
    requests(rule).into_iter().chain(beside).collect()
}

fn requests(rule: &RuleDraft) -> Vec<Opening> {
    let place = match &rule.host {
        TargetRule::Within(Target::Host(host)) => Place::Named(host.clone()),
        TargetRule::Within(Target::Network(network)) => Place::At(network.address()),
        TargetRule::Within(Target::Url(_)) | TargetRule::Below(_) => return Vec::new(),
    };
    let scheme = match rule.speaks {
        Speaks::Http => "http",
        Speaks::Https => "https",
        Speaks::Tcp => return Vec::new(),
    };
    let paths: Vec<String> = rule.paths.iter().map(path_of).collect();
    let paths = if paths.is_empty() { vec!["/".to_owned()] } else { paths };
    let at = |port: u16| Authority::new(place.clone(), port).ok();
    // Of TLS that was opened requests were seen, with their methods; of a tunnel nothing was.
    let is_tunnel = rule.speaks == Speaks::Https && rule.methods.is_empty();
    let one = |at: &Authority, path: &String| {
        let to = format!("{scheme}://{at}{path}").parse().ok()?;
        let opening = if is_tunnel { Opening::unseen(to) } else { Opening::new(to, rule.methods.clone()) };
        opening.ok()
    };
    let all = rule.ports.iter().filter_map(|port| at(*port));
    all.flat_map(|at| paths.iter().filter_map(|path| one(&at, path)).collect::<Vec<_>>()).collect()
}

fn path_of(rule: &PathRule) -> String {
    match rule {
        PathRule::Below(path) | PathRule::Exactly(path) => path.to_string(),
    }
}

/// What would be another text, as a difference to the one that is there.
fn difference(file: &Path, change: impl FnOnce(&str) -> Result<String, toml::de::Error>) -> Result<String, CliError> {
    let (name, before) = (file.display().to_string(), read(file)?);
    let after = change(&before).map_err(|error| CliError::usage(format!("`{name}`: {error}")))?;
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    Ok(similar::TextDiff::from_lines(&before, &after).unified_diff().header(&old, &new).to_string())
}

/// Each place once: what methods were used is said by proposals.
fn places(used: &Used) -> BTreeSet<String> {
    used.openings.iter().map(|opening| opening.to().to_string()).collect()
}

fn array(values: &BTreeSet<String>) -> String {
    let lines: String = values.iter().map(|value| format!("  {value:?},\n")).collect();
    if values.is_empty() { "[]".to_owned() } else { format!("[\n{lines}]") }
}

/// Where the values are that may be replaced; everything else of the file stays as it is.
#[derive(Deserialize)]
struct ScopeFile {
    allow: Option<Spanned<toml::Value>>,
    targets: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
struct ProfileFile {
    network: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
struct EntryFile {
    cage: Option<ProfileFile>,
}

fn scope(text: &str, used: &Used) -> Result<String, toml::de::Error> {
    let file: ScopeFile = toml::from_str(text)?;
    let mut changes = vec![("targets", file.targets.map(|value| value.span()), array(&places(used)))];
    if let Some(paths) = &used.paths {
        changes.push(("allow", file.allow.map(|value| value.span()), array(paths)));
    }
    Ok(replaced(text, changes))
}

fn profile(text: &str, used: &Used) -> Result<String, toml::de::Error> {
    let file: ProfileFile = toml::from_str(text)?;
    let value = format!("{{ is = {}, reason = \"what a recorded run reached\" }}", array(&places(used)));
    Ok(replaced(text, vec![("network", file.network.map(|value| value.span()), value)]))
}

fn entry(text: &str, used: &Used) -> Result<String, toml::de::Error> {
    let file: EntryFile = toml::from_str(text)?;
    let (places, span) = (places(used), file.cage.and_then(|cage| cage.network).map(|value| value.span()));
    let value = if places.is_empty() { "\"none\"".to_owned() } else { format!("{{ allow = {} }}", array(&places)) };
    // An entry always says what its network is.
    Ok(span.map_or_else(|| text.to_owned(), |span| replaced(text, vec![("network", Some(span), value)])))
}

/// The text with other values: from the last to the first, so that places stay where they are. What is not there comes first,
/// before any table begins.
fn replaced(text: &str, mut changes: Vec<(&str, Option<Range<usize>>, String)>) -> String {
    changes.sort_by_key(|(_, span, _)| std::cmp::Reverse(span.as_ref().map_or(0, |span| span.start)));
    changes.into_iter().fold(text.to_owned(), |text, (key, span, value)| match span {
        Some(span) => format!("{}{value}{}", &text[..span.start], &text[span.end..]),
        None => format!("{key} = {value}\n{text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(openings: &[&str], paths: &[&str]) -> Used {
        let openings = openings.iter().map(|text| text.parse().unwrap()).collect();
        Used { openings, paths: Some(paths.iter().map(ToString::to_string).collect()), ..Used::default() }
    }

    #[test]
    fn a_scope_keeps_its_words_and_gets_what_was_used() {
        let text = "# ours\nallow = [\"**\"] # too much\ntargets = [\n  \"*.example.org\",\n]\ntools = [\"sh\"]\n";
        let narrower = scope(text, &used(&["GET http://a.example.org/v1"], &["out/a.txt"])).unwrap();
        assert_eq!(
            narrower,
            "# ours\nallow = [\n  \"out/a.txt\",\n] # too much\ntargets = [\n  \"http://a.example.org:80/v1\",\n]\ntools = [\"sh\"]\n"
        );
        assert_eq!(scope(&narrower, &used(&["GET http://a.example.org/v1"], &["out/a.txt"])).unwrap(), narrower);
        let none = scope("tools = []\n", &used(&[], &[])).unwrap();
        assert!(toml::from_str::<placet_domain::scope::ScopeDraft>(&none).is_ok(), "{none}");
    }

    #[test]
    fn a_profile_and_an_entry_are_narrowed_where_they_speak_of_the_network() {
        let ours = "about = \"x\"\nextends = \"default\"\n[limits]\nwall = { is = \"1h\", reason = \"r\" }\n";
        let narrower = profile(ours, &used(&["https://a.test/"], &[])).unwrap();
        let read = placet_sandbox::Profiles::with([("ours", narrower.as_str())]).unwrap();
        assert_eq!(read.get("ours").unwrap().network().unwrap().iter().next().unwrap(), "https://a.test:443/");
        let text = "[cage]\nnetwork = \"filtered\" # wide\n";
        assert_eq!(
            entry(text, &used(&["https://a.test/"], &[])).unwrap(),
            "[cage]\nnetwork = { allow = [\n  \"https://a.test:443/\",\n] } # wide\n"
        );
        assert_eq!(entry(text, &used(&[], &[])).unwrap(), "[cage]\nnetwork = \"none\" # wide\n");
    }

    #[test]
    fn a_rule_that_was_learned_becomes_openings() {
        let rule = |text: &str| toml::from_str::<RuleDraft>(text).unwrap();
        let lines = |text: &str| openings(&rule(text)).iter().map(ToString::to_string).collect::<Vec<_>>();
        let plain =
            "host = \"a.test\"\nspeaks = \"http\"\nports = [80]\nmethods = [\"GET\"]\npaths = [\"=/a\", \"/b\"]";
        assert_eq!(lines(plain), ["GET http://a.test:80/b", "GET http://a.test:80/a"]);
        assert_eq!(lines("host = \"::1\"\nspeaks = \"https\"\nports = [443]"), ["unseen https://[::1]:443/"]);
        let seen = "host = \"a.test\"\nspeaks = \"https\"\nports = [443]\nmethods = [\"PUT\"]\n";
        let seen = format!("{seen}paths = [\"=/a\"]\nnetworks = [\"10.1.2.3\"]");
        assert_eq!(lines(&seen), ["PUT https://a.test:443/a", "10.1.2.3"], "with the address that its name led to");
        assert!(lines("host = \"a.test\"\nspeaks = \"tcp\"\nports = [22]").is_empty());
    }
}
