//! `placet sandbox explain`: what a cage would be made of, each part with its reason, without entering one.

use std::path::Path;

use placet_domain::digest::Digest;
use placet_sandbox::{
    Change, Effect, Launcher, LeastTier, LimitName, Limits, Mount, MountKind, Profile, Programs, Step, SyscallRule,
};
use serde::Serialize;

use super::changes::Private;
use super::options::{Options, not_started};
use super::way_out;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{ASK, BAD, BOLD, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
    /// Also every step on the way into the cage, in order
    #[arg(long)]
    steps: bool,
    /// The command; write `--` before it
    #[arg(last = true, value_name = "COMMAND", default_value = "true")]
    command: Vec<String>,
}

/// A cage, as people and machines read it.
#[derive(Debug, Serialize)]
struct Explanation {
    profile: String,
    /// What it amounts to: an approval names it.
    digest: Digest,
    about: String,
    lineage: Vec<String>,
    demands: LeastTier,
    /// Why it would not start on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_not_start: Option<String>,
    programs: Programs,
    doors: String,
    changes: Vec<Change>,
    files: Vec<Part>,
    variables: Vec<Part>,
    limits: Vec<Part>,
    refused_calls: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<String>>,
}

/// One part of it.
#[derive(Debug, Serialize)]
struct Part {
    name: String,
    is: String,
    reason: String,
}

impl Part {
    fn new(name: impl Into<String>, is: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), is: is.into(), reason: reason.into() }
    }
}

pub(super) fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let profile = args.options.profile(who)?;
    let private = args.options.is_layered().then(Private::make).transpose()?;
    args.options.hides_homes(who)?;
    let request = args.options.request(&profile, &args.command, private.as_ref(), None)?;
    // The way out itself is not made for it: that would read credentials.
    let request = if args.options.requests()?.is_some() { request.door(way_out::PORT) } else { request };
    let (limits, asked) = (args.options.limits(&profile)?, args.options.asked()?);
    let foreseen = Launcher::default().foresee(&profile, request).map_err(|error| not_started(&error));
    if args.steps
        && let Err(error) = foreseen
    {
        return Err(error);
    }
    let explanation = Explanation {
        would_not_start: foreseen.as_ref().err().map(|error| error.message.clone()),
        steps: args.steps.then(|| foreseen.iter().flatten().map(Step::to_string).collect()),
        ..explain(&profile, limits, asked)
    };
    out.answer(&explanation, words);
    Ok(())
}

/// What the options of the command line add to the profile.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) files: Vec<(String, String)>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) doors: Vec<u16>,
}

const ASKED: &str = "asked for on the command line";

fn explain(profile: &Profile, limits: Limits, asked: Asked) -> Explanation {
    let files = profile.mounts().iter().filter_map(file);
    let more = asked.files.into_iter().map(|(at, what)| Part::new(at, what, ASKED));
    let variables = profile.variables().iter();
    let variables = variables.map(|one| Part::new(one.name.as_ref(), one.value.as_ref(), one.reason.as_ref()));
    let set = asked.variables.into_iter().map(|(name, value)| Part::new(name, value, ASKED));
    Explanation {
        profile: profile.name().to_owned(),
        digest: Digest::of(&profile.effective()),
        about: profile.about().to_owned(),
        lineage: profile.lineage().iter().map(ToString::to_string).collect(),
        demands: profile.demands(),
        would_not_start: None,
        programs: profile.programs(),
        doors: doors(profile, &asked.doors),
        changes: profile.changes().to_vec(),
        files: files.chain(more).collect(),
        variables: variables.chain(set).collect(),
        limits: LimitName::ALL.into_iter().filter_map(|name| limit(profile, limits, name)).collect(),
        refused_calls: profile.syscalls().iter().map(|rule| call(profile, rule)).collect(),
        steps: None,
    }
}

/// What is not on this machine does not appear in a cage either.
fn file(mount: &Mount) -> Option<Part> {
    let here = || Path::new(mount.at.as_ref()).symlink_metadata().is_ok();
    let what = match &mount.what {
        MountKind::Host | MountKind::Device if !here() => return None,
        MountKind::Host => "of the host, read-only".to_owned(),
        MountKind::HostAt(host) => format!("{host} of the host, read-only"),
        MountKind::Device => "device".to_owned(),
        MountKind::Scratch { size_bytes, programs: Programs::Allowed } => {
            format!("scratch, {}", LimitName::Memory.show(*size_bytes))
        }
        MountKind::Scratch { size_bytes, programs: Programs::Refused } => {
            format!("scratch, {}, no programs", LimitName::Memory.show(*size_bytes))
        }
        MountKind::File(text) if text.is_empty() => "empty file".to_owned(),
        MountKind::File(_) => "file of the cage's own".to_owned(),
        MountKind::Link(target) => format!("link to {target}"),
        MountKind::Directory => "empty directory".to_owned(),
        MountKind::Proc => "processes of the cage".to_owned(),
        MountKind::Frozen => "read-only".to_owned(),
        MountKind::Masked => "looks empty".to_owned(),
    };
    Some(Part::new(mount.at.as_ref(), what, mount.reason.as_ref()))
}

fn limit(profile: &Profile, limits: Limits, name: LimitName) -> Option<Part> {
    let value = name.of(&limits)?;
    let own = name.of(&profile.limits()) == Some(value);
    Some(Part::new(name.as_str(), name.show(value), if own { profile.limit_reason(name) } else { ASKED }))
}

fn call(profile: &Profile, rule: &SyscallRule) -> Part {
    let answer = std::io::Error::from_raw_os_error(rule.errno).to_string();
    let answer = answer.split(" (os error").next().unwrap_or_default().to_lowercase();
    Part::new(rule.name, answer, profile.syscall_reason(rule))
}

fn doors(profile: &Profile, asked: &[u16]) -> String {
    let listed = |ports: &mut dyn Iterator<Item = &u16>| ports.map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let allowed = match profile.doors() {
        None => "any that is asked for".to_owned(),
        Some(ports) if ports.is_empty() => "none".to_owned(),
        Some(ports) => listed(&mut ports.iter()),
    };
    let open = if asked.is_empty() { "none".to_owned() } else { listed(&mut asked.iter()) };
    format!("none but a loopback of its own; doors allowed: {allowed}; doors asked for: {open}")
}

fn words(cage: &Explanation) -> String {
    let mut parts = vec![heading(cage)];
    if !cage.changes.is_empty() {
        parts.push(section("what it changes", cage.changes.iter().map(change)));
    }
    parts.push(section("files", cage.files.iter().map(row)));
    parts.push(section("variables", cage.variables.iter().map(row)));
    parts.push(section("limits", cage.limits.iter().map(row)));
    parts.push(section("refused system calls", cage.refused_calls.iter().map(row)));
    parts.push(format!("{}\n  {}", styled(BOLD, "network"), cage.doors));
    if let Some(steps) = &cage.steps {
        let numbered = steps.iter().enumerate().map(|(at, step)| vec![format!("{:>3}", at + 1), step.clone()]);
        parts.push(section("steps", numbered));
    }
    parts.join("\n\n")
}

fn heading(cage: &Explanation) -> String {
    let built =
        if cage.lineage.is_empty() { String::new() } else { format!(", built on {}", cage.lineage.join(" › ")) };
    let programs = match cage.programs {
        Programs::Allowed => "programs written in the cage can be started",
        Programs::Refused => "programs written in the cage cannot be started",
    };
    let here = match &cage.would_not_start {
        None => format!("{} it would start", styled(GOOD, "here:")),
        Some(why) => format!("{} it would not start: {why}", styled(BAD, "here:")),
    };
    let (name, about) = (styled(BOLD, &cage.profile), &cage.about);
    let digest = styled(DIM, cage.digest);
    format!("{name}: {about}\n  {digest}\n  demands tier {}{built}; {programs}\n  {here}", cage.demands)
}

fn section(title: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let indented = rows.map(|mut row| {
        row[0] = format!("  {}", row[0]);
        row
    });
    format!("{}\n{}", styled(BOLD, title), table(&indented.collect::<Vec<_>>()))
}

fn row(part: &Part) -> Vec<String> {
    vec![part.name.clone(), part.is.clone(), styled(DIM, &part.reason)]
}

fn change(change: &Change) -> Vec<String> {
    let effect = match change.effect {
        Effect::Loosens => styled(ASK, change.effect),
        Effect::Adds | Effect::Tightens => styled(GOOD, change.effect),
    };
    vec![effect, change.what.clone(), styled(DIM, format!("{} ({})", change.reason, change.profile))]
}
