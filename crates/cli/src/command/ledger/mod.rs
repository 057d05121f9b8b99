//! `placet ledger`: check, prove and export the record of everything. Checking needs only files and a public key.

mod cosign;
mod export;
mod kept_head;
mod prove;
mod scrub;
mod signings;
mod verify;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use placet_ledger::{Hash, KeyError};
use placet_wire::api::HeadView;
use placet_wire::endpoint::ShowHead;

use crate::context::Who;
use crate::error::CliError;
use crate::home::read;
use crate::out::{DIM, Out, styled};
pub(crate) use export::export;
use kept_head::key_in;
pub(crate) use verify::words;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The newest signed tree head; keep it, it is what you can hold the ledger to later
    Head,
    /// Write the whole ledger to an empty directory that anybody can verify
    Export {
        dir: PathBuf,
        /// Read the store of the home directly, while no control plane runs
        #[arg(long)]
        offline: bool,
    },
    /// Verify an export with nothing but its files and a public key
    #[command(
        after_help = "Examples:\n  placet ledger verify export/ --key 'placet/ab12+…'\n  placet ledger verify export/ --key ledger.pub --since last-week.head\n  placet ledger verify export/ --key ledger.pub --witness witness.pub\n\nWhat passkeys had to sign, and what they signed, is checked with the public keys that the entries name.\nExit code 4 means it is not what was signed; every fault is named and located."
    )]
    Verify(verify::Args),
    /// Prove that one entry is in the ledger; the proof can be checked offline
    Prove {
        seq: u64,
        /// Write the proof here instead of printing it
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Check a proof made by `prove`, offline
    CheckProof {
        file: PathBuf,
        #[arg(long)]
        key: String,
    },
    /// Witness a ledger: cosign a head that continues the last one you cosigned
    #[command(
        after_help = "Examples:\n  placet ledger cosign --head new.head --key ledger.pub --witness-seed witness.seed --name example.org/witness --state seen/\n  placet ledger cosign --head new.head --key ledger.pub --witness-seed witness.seed --name example.org/witness --state seen/ --proof proof.json > cosigned.head\n\nThe seed is 64 hex digits in a file that only you can read. The proof is the answer to\nGET /api/v1/ledger/consistency?from=A&to=B. Run this on another machine than the ledger's.\nExit code 4 means that the ledger went back or was rewritten."
    )]
    Cosign(cosign::Args),
    /// Go through the whole store of the home, while no control plane runs
    #[command(
        after_help = "Every entry is hashed again, every tile and signed head compared, and everything that is known is computed\nanew from the ledger. Exit code 4 means that something is not what it was; all of it is named."
    )]
    Scrub,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Head => {
            let head: HeadView = who.client()?.get(ShowHead {}).await?;
            // Prints only the note to stdout, so that a redirected file is a valid note.
            out.answer(&head, |head| head.note.clone());
            out.note(&styled(DIM, format!("key {}", head.key)));
            Ok(())
        }
        Command::Export { dir, offline: true } => export::offline(&dir, who, out).await,
        Command::Export { dir, offline: false } => export::online(&dir, who, out).await,
        Command::Verify(args) => verify::run(&args, out),
        Command::Prove { seq, to } => prove::prove(&who.client()?, seq, to, out).await,
        Command::CheckProof { file, key } => prove::check_proof(&file, &parse_key(&key)?, out),
        Command::Cosign(args) => cosign::run(&args, out),
        Command::Scrub => scrub::run(who, out).await,
    }
}

/// A public key, or the file that holds it.
fn parse_key<K: FromStr<Err = KeyError>>(text: &str) -> Result<K, CliError> {
    let text = if Path::new(text).is_file() { key_in(&read(Path::new(text))?) } else { text.to_owned() };
    text.trim().parse().map_err(|error| CliError::usage(format!("not a verifier key: {error}")))
}

fn parse_hashes(proof: &[String]) -> Result<Vec<Hash>, CliError> {
    let path: Result<Vec<Hash>, _> = proof.iter().map(|hash| hash.parse()).collect();
    path.map_err(|_| CliError::usage("the proof holds something that is no hash"))
}
