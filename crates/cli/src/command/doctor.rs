//! `placet doctor`: what this machine can really enforce, found out by trying, each with what to do about it.

use std::process::Command;

use placet_sandbox::{Exit, LeastTier, Profile, Profiles, Request, State, Tier, launch, probe};
use placet_worker::share;
use serde::Serialize;

use super::sandbox::Private;
use super::work::JOBS;
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::open_files;
use crate::out::{ASK, BAD, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "full: every layer holds. degraded: cages stand, some second layer is missing; profiles that demand\nfull start nothing. unavailable: no cage can be built, and no worker starts.\n\nExamples:\n  placet doctor\n  placet --json doctor"
)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
struct Finding {
    name: String,
    good: bool,
    detail: String,
    /// What to do where it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<String>,
}

#[derive(Debug, Serialize)]
struct Diagnosis {
    cage: Tier,
    findings: Vec<Finding>,
}

pub(crate) fn run(_: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let report = probe();
    let caged = report.checks.iter().map(|check| Finding {
        name: check.name.to_owned(),
        good: check.state == State::Enforced,
        detail: check.detail.clone(),
        todo: check.todo.map(ToOwned::to_owned),
    });
    let mut findings: Vec<Finding> = caged.collect();
    findings.push(layers());
    findings.push(git());
    findings.push(descriptors(open_files::most()));
    findings.push(home(who));
    findings.push(profiles(who, &report.tier));
    let diagnosis = Diagnosis { cage: report.tier, findings };
    out.answer(&diagnosis, words);
    match diagnosis.cage {
        Tier::Unavailable { reason } => {
            Err(CliError::new(Code::NoCage, format!("no cage can be built here: {reason}")))
        }
        Tier::Full | Tier::Degraded { .. } => Ok(()),
    }
}

/// A cage whose workspace is in layers, from end to end.
fn layers() -> Finding {
    let tried = Private::make().map_err(|error| error.message).and_then(|private| {
        let request = Request::new(["touch", "made"]).workspace(private.layers_above("/usr/share"));
        let profile = Profile::builtin("default").ok_or("the default profile is missing")?;
        let ended = launch(&profile, request).and_then(|running| running.wait()).map_err(|error| chain(&error))?;
        if ended.exit == Exit::Code(0) { Ok(()) } else { Err(format!("the trial command ended with {:?}", ended.exit)) }
    });
    let (good, detail) = match tried {
        Ok(()) => (true, "written to and removed".to_owned()),
        Err(why) => (false, why),
    };
    let todo =
        (!good).then(|| "use Linux 5.11 or later with the module `overlay`, and a TMPDIR on ext4, xfs or btrfs".into());
    Finding { name: "layered workspace".into(), good, detail, todo }
}

fn git() -> Finding {
    let version = Command::new("git").arg("--version").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output();
    let detail = version.as_ref().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let good = version.as_ref().is_ok_and(|output| output.status.success());
    let todo = (!good).then(|| "install git".to_owned());
    Finding { name: "git".into(), good, detail: detail.unwrap_or_else(|error| error.to_string()), todo }
}

/// What a worker could have open here, and what that means for actions with a way out.
fn descriptors(most: u64) -> Finding {
    let (good, connections) = (most >= share::ENOUGH_OPEN_FILES, share::connections(most, JOBS));
    let detail = format!("{most}; each of {JOBS} actions may hold {connections} connections");
    let todo = (!good).then(|| format!("raise the hard limit (`ulimit -Hn`) to {} or more", share::ENOUGH_OPEN_FILES));
    Finding { name: "open files".into(), good, detail, todo }
}

/// The home is optional here: `doctor` is what people run first.
fn home(who: &Who) -> Finding {
    match who.home().and_then(|home| home.rules().map(|rules| (home, rules))) {
        Ok((home, rules)) => {
            let detail = format!("{} with {} rules", home.dir().display(), rules.policy().rules().count());
            Finding { name: "home".into(), good: true, detail, todo: None }
        }
        Err(error) => Finding { name: "home".into(), good: false, detail: error.message, todo: error.hint },
    }
}

/// Which profiles demand more than this machine has.
fn profiles(who: &Who, here: &Tier) -> Finding {
    let name = "profiles".to_owned();
    let profiles = match who.home().map_or_else(|_| Ok(Profiles::default()), |home| home.profiles()) {
        Ok(profiles) => profiles,
        Err(error) => return Finding { name, good: false, detail: error.message, todo: error.hint },
    };
    let demanding = profiles.iter().filter(|profile| profile.demands() == LeastTier::Full && *here != Tier::Full);
    let unmet: Vec<&str> = demanding.map(Profile::name).collect();
    if unmet.is_empty() {
        return Finding { name, good: true, detail: profiles.listed(), todo: None };
    }
    let todo = Some("give this machine what is missing above, or let them demand less".to_owned());
    Finding { name, good: false, detail: format!("nothing runs here in {}", unmet.join(", ")), todo }
}

fn words(diagnosis: &Diagnosis) -> String {
    let row = |finding: &Finding| {
        let mark = if finding.good { styled(GOOD, "✓") } else { styled(ASK, "–") };
        let todo = finding.todo.as_ref().map(|todo| styled(DIM, format!("; {todo}"))).unwrap_or_default();
        vec![mark, finding.name.clone(), format!("{}{todo}", finding.detail)]
    };
    let verdict = match &diagnosis.cage {
        Tier::Full => format!("{} every layer of the cage holds here", styled(GOOD, "full:")),
        Tier::Degraded { reasons } => format!("{} {}", styled(ASK, "degraded:"), reasons.join("; ")),
        Tier::Unavailable { reason } => format!("{} {reason}", styled(BAD, "unavailable:")),
    };
    format!("{}\n\n{verdict}", table(&diagnosis.findings.iter().map(row).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d9_a_machine_on_which_actions_get_few_connections_is_told_what_to_do() {
        let few = descriptors(256);
        assert!(!few.good && few.detail.contains("32 connections") && few.todo.unwrap().contains("ulimit"));
        assert!(descriptors(4_096).good && descriptors(4_096).todo.is_none());
    }
}
