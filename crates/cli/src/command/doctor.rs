//! `placet doctor`: what this machine can really enforce, found out by trying, each with what to do about it.

use std::process::Command;

use placet_sandbox::{State, Tier, probe};
use serde::Serialize;

use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{ASK, BAD, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
struct Finding {
    name: String,
    good: bool,
    detail: String,
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
    });
    let mut findings: Vec<Finding> = caged.collect();
    findings.push(git());
    findings.push(home(who));
    let diagnosis = Diagnosis { cage: report.tier, findings };
    out.answer(&diagnosis, words);
    match diagnosis.cage {
        Tier::Unavailable { reason } => {
            Err(CliError::new(Code::NoCage, format!("no cage can be built here: {reason}")))
        }
        Tier::Full | Tier::Degraded { .. } => Ok(()),
    }
}

fn git() -> Finding {
    let version = Command::new("git").arg("--version").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output();
    let detail = version.as_ref().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let good = version.as_ref().is_ok_and(|output| output.status.success());
    Finding { name: "git".into(), good, detail: detail.unwrap_or_else(|error| format!("{error}; install git")) }
}

/// The home is optional here: `doctor` is what people run first.
fn home(who: &Who) -> Finding {
    match who.home().and_then(|home| home.rules().map(|rules| (home, rules))) {
        Ok((home, rules)) => {
            let detail = format!("{} with {} rules", home.dir().display(), rules.policy.rules().count());
            Finding { name: "home".into(), good: true, detail }
        }
        Err(error) => Finding { name: "home".into(), good: false, detail: error.message },
    }
}

fn words(diagnosis: &Diagnosis) -> String {
    let row = |finding: &Finding| {
        let mark = if finding.good { styled(GOOD, "✓") } else { styled(ASK, "–") };
        vec![mark, finding.name.clone(), finding.detail.clone()]
    };
    let verdict = match &diagnosis.cage {
        Tier::Full => format!("{} every layer of the cage holds here", styled(GOOD, "full:")),
        Tier::Degraded { reasons } => format!("{} {}", styled(ASK, "degraded:"), reasons.join("; ")),
        Tier::Unavailable { reason } => format!("{} {reason}", styled(BAD, "unavailable:")),
    };
    format!("{}\n\n{verdict}", table(&diagnosis.findings.iter().map(row).collect::<Vec<_>>()))
}
