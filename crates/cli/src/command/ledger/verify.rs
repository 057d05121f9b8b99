//! `placet ledger verify`: an export against nothing but a public key, a head one kept, and witnesses one trusts.

use std::path::PathBuf;

use placet_ledger::{Hash, WitnessVerifierKey, bundle};

use super::kept_head::known_head;
use super::parse_key;
use super::signings::{Checked, Signings};
use crate::error::{CliError, Code};
use crate::out::{BAD, GOOD, Out, styled};
use crate::progress::WaitLine;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    dir: PathBuf,
    /// The ledger's verifier key, or a file that holds it
    #[arg(long)]
    key: String,
    /// A signed head you kept: detects a rollback to an older copy and a rewritten history
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
    /// A witness that must have cosigned the head, by its verifier key or a file that holds it; may be repeated
    #[arg(long, value_name = "VKEY")]
    witness: Vec<String>,
}

pub(super) fn run(args: &Args, out: &Out) -> Result<(), CliError> {
    let (dir, key) = (&args.dir, parse_key(&args.key)?);
    let witnesses: Vec<WitnessVerifierKey> =
        args.witness.iter().map(|text| parse_key(text)).collect::<Result<_, _>>()?;
    let known = args.since.as_deref().map(|path| known_head(path, &key)).transpose()?;
    let mut signings = Signings::default();
    let report = {
        let _wait = WaitLine::start(out, "verifying");
        bundle::verify_reading(dir, &key, known.as_ref(), &mut |bytes| signings.read(bytes))
    };
    let signings = signings.finish();
    out.answer(&Found { report: &report, signings: &signings }, |found| {
        [words(found.report)].into_iter().chain(found.signings.words()).collect::<Vec<_>>().join("\n")
    });
    if let Some(first) = report.faults.first() {
        return Err(CliError::new(Code::Integrity, format!("the ledger is not what was signed: {first}")));
    }
    signings.check()?;
    witnesses.iter().try_for_each(|witness| needs_cosignature(&report, witness, out))
}

/// What is told: whether the ledger is what was signed, and whether its approvals are.
#[derive(serde::Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    report: &'a bundle::Report,
    signings: &'a Checked,
}

/// A head that a witness has not seen may be one of two histories.
fn needs_cosignature(report: &bundle::Report, witness: &WitnessVerifierKey, out: &Out) -> Result<(), CliError> {
    let missing = |why: String| {
        let message = format!("the head is not cosigned by the witness `{}`: {why}", witness.name());
        CliError::new(Code::Integrity, message).hint("have it cosigned, and put the cosigned head into `checkpoint`")
    };
    let head = report.head.as_ref().ok_or_else(|| missing("there is no head".to_owned()))?;
    let at_unix_s = witness.verify(head).map_err(|error| missing(error.to_string()))?;
    let at = i64::try_from(at_unix_s).ok().and_then(|at| jiff::Timestamp::from_second(at).ok());
    let at = at.map_or_else(|| format!("{at_unix_s} s"), |at| at.to_string());
    out.note(&format!("{} by {} at {at}", styled(GOOD, "cosigned"), witness.name()));
    Ok(())
}

pub(crate) fn words(report: &bundle::Report) -> String {
    if report.is_sound() {
        let root = report.root.as_ref().map(Hash::to_string).unwrap_or_default();
        return format!("{} {} entries, root {root}", styled(GOOD, "verified"), report.entries);
    }
    let faults: Vec<String> = report.faults.iter().map(|fault| format!("  {fault}")).collect();
    format!(
        "{} {} of {} entries are as recorded\n{}",
        styled(BAD, "broken"),
        report.entries,
        report.size,
        faults.join("\n")
    )
}
