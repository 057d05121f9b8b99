//! `placet ledger cosign`: a witness, who cosigns only what continues the last head it cosigned.
//!
//! It needs no control plane and no home: a head, the ledger's public key, its own seed, and a directory for what it has
//! seen. What it has seen is on disk before the cosignature is handed out, so a crash in between can cost a cosignature
//! but never make a second history possible.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use placet_ledger::{Hash, SignedTreeHead, VerifierKey, WitnessKey, WitnessRefusal};
use placet_wire::Endpoint as _;
use placet_wire::api::{ConsistencyProof, ConsistencyQuery};
use placet_wire::endpoint::ProveConsistency;

use super::kept_head::known_head;
use super::{parse_hashes, parse_key};
use crate::error::{CliError, Code};
use crate::home::{read, read_secret_key};
use crate::out::Out;

/// The last head that was cosigned, in the witness's directory.
const LAST: &str = "last.head";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The signed head to cosign
    #[arg(long, value_name = "FILE")]
    head: PathBuf,
    /// The ledger's verifier key, or a file that holds it
    #[arg(long, value_name = "VKEY")]
    key: String,
    /// The witness's secret: 64 hex digits in a file that only you can read
    #[arg(long, value_name = "FILE")]
    witness_seed: PathBuf,
    /// What the witness is called
    #[arg(long)]
    name: String,
    /// Where the last head you cosigned is kept; one directory for each ledger
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// That the head continues the last one: the answer to GET /api/v1/ledger/consistency
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &Out) -> Result<(), CliError> {
    let key: VerifierKey = parse_key(&args.key)?;
    let name = args.name.parse().map_err(|error| CliError::usage(format!("`{}`: {error}", args.name)))?;
    let witness = WitnessKey::from_seed(name, &read_secret_key(&args.witness_seed)?);
    let new = known_head(&args.head, &key)?;
    let state = State::open(&args.state)?;
    let last = state.last(&key)?;
    let path = consistency(last.as_ref(), &new, args.proof.as_deref())?;
    let now_s = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
    let cosigned = witness.cosign(last.as_ref().map(SignedTreeHead::head), &new, &path, now_s);
    let cosigned = cosigned.map_err(|refusal| refused(&refusal))?;
    state.keep(&cosigned)?;
    let verifier = witness.verifier().to_string();
    let view = serde_json::json!({ "size": cosigned.size(), "note": cosigned.to_string(), "witness": verifier });
    out.answer(&view, |_| cosigned.to_string());
    out.note(&format!("check it with --witness '{verifier}'"));
    Ok(())
}

/// What only the ledger's owner can have caused is a broken ledger; the rest is a wrong call.
fn refused(refusal: &WitnessRefusal) -> CliError {
    let code = match refusal {
        WitnessRefusal::Backwards { .. } | WitnessRefusal::Fork(_) => Code::Integrity,
        WitnessRefusal::OtherOrigin { .. }
        | WitnessRefusal::NeedlessProof { .. }
        | WitnessRefusal::Time { .. }
        | WitnessRefusal::Note(_) => Code::Usage,
    };
    let hint = "cosign nothing more of it; keep both heads, together they are the evidence";
    let error = CliError::new(code, format!("not cosigned: {refusal}"));
    if code == Code::Integrity { error.hint(hint) } else { error }
}

/// The proof from the last head to the new one; empty where none is possible.
fn consistency(
    last: Option<&SignedTreeHead>,
    new: &SignedTreeHead,
    proof: Option<&Path>,
) -> Result<Vec<Hash>, CliError> {
    let from = last.map_or(0, SignedTreeHead::size);
    let to = new.size();
    if from == 0 || from >= to {
        return Ok(Vec::new());
    }
    let needed = || {
        let target = ProveConsistency { query: ConsistencyQuery { from, to } }.target();
        format!("give the answer to GET {target} with --proof FILE")
    };
    let Some(file) = proof else {
        let message =
            format!("a head of {from} entries was cosigned before; a proof is needed that this one continues it");
        return Err(CliError::usage(message).hint(needed()));
    };
    let proof: ConsistencyProof = serde_json::from_str(&read(file)?)
        .map_err(|error| CliError::usage(format!("`{}` is no proof: {error}", file.display())).hint(needed()))?;
    if (proof.from, proof.to) != (from, to) {
        let message = format!("the proof is from {} to {} entries, not from {from} to {to}", proof.from, proof.to);
        return Err(CliError::usage(message).hint(needed()));
    }
    parse_hashes(&proof.proof)
}

/// What the witness has seen. Held by one at a time: two at once could each cosign another history.
struct State {
    dir: PathBuf,
    _lock: File,
}

impl State {
    fn open(dir: &Path) -> Result<Self, CliError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| failed(dir, &error))?;
        let path = dir.join("lock");
        let lock = File::options().write(true).create(true).truncate(false).open(&path);
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| failed(&path, &error))?;
        Ok(Self { dir: dir.to_owned(), _lock: lock })
    }

    /// The last head that was cosigned. One that cannot be read is not taken for none.
    fn last(&self, key: &VerifierKey) -> Result<Option<SignedTreeHead>, CliError> {
        let path = self.dir.join(LAST);
        if path.try_exists().map_err(|error| failed(&path, &error))? {
            // Only this command writes the kept head, so an unreadable one means damage.
            return known_head(&path, key).map(Some).map_err(|error| {
                CliError::new(Code::Integrity, error.message).hint("take another --state for another ledger")
            });
        }
        Ok(None)
    }

    /// Writes it beside the old one and puts it in its place, each step on disk before the next.
    fn keep(&self, head: &SignedTreeHead) -> Result<(), CliError> {
        let (draft, path) = (self.dir.join("next.head"), self.dir.join(LAST));
        let write = || -> std::io::Result<()> {
            let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
            file.write_all(head.to_string().as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|error| failed(&path, &error))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> CliError {
    CliError::failed(format!("`{}`: {error}", path.display()))
}
