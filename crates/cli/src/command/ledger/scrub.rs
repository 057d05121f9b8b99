//! `placet ledger scrub`: everything in the store of the home, hashed and computed again.

use placet_store::{Difference, EvidenceCheck, Scrub, StoreError};
use serde_json::{Value, json};

use crate::command::serve::open_store;
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::out::{BAD, GOOD, Out, styled};
use crate::progress::WaitLine;

pub(super) async fn run(who: &Who, out: &Out) -> Result<(), CliError> {
    let (scrub, differences, evidence) = {
        let _wait = WaitLine::start(out, "going through everything");
        let store = open_store(&who.home()?).await?;
        let scrub = store.scrub().await.map_err(|fault| unreadable(&fault))?;
        let differences = store.check_projections().await.map_err(|fault| unreadable(&fault))?;
        (scrub, differences, store.check_evidence().await.map_err(|fault| unreadable(&fault))?)
    };
    out.answer(&view(&scrub, &differences, &evidence), |_| words(&scrub, &differences, &evidence));
    match scrub.faults.len() + differences.len() + evidence.faults.len() {
        0 => Ok(()),
        1 => Err(CliError::new(Code::Integrity, "the store is not what it was in one place")),
        many => Err(CliError::new(Code::Integrity, format!("the store is not what it was in {many} places"))),
    }
}

fn unreadable(fault: &StoreError) -> CliError {
    let code = if matches!(fault, StoreError::Integrity(_)) { Code::Integrity } else { Code::Failed };
    CliError::new(code, chain(fault))
}

fn view(scrub: &Scrub, differences: &[Difference], evidence: &EvidenceCheck) -> Value {
    let difference = |found: &Difference| json!({ "what": found.what, "id": found.id, "stored": found.stored, "computed": found.computed });
    json!({
        "entries": scrub.entries,
        "heads": scrub.heads,
        "faults": scrub.faults,
        "differences": differences.iter().map(difference).collect::<Vec<_>>(),
        "evidence": { "intact": evidence.intact, "removed": evidence.removed, "faults": evidence.faults },
    })
}

fn words(scrub: &Scrub, differences: &[Difference], evidence: &EvidenceCheck) -> String {
    let EvidenceCheck { intact, removed, .. } = evidence;
    let mut seen = format!("{} entries, {} heads, {intact} pieces of evidence", scrub.entries, scrub.heads);
    if *removed > 0 {
        seen += &format!(" ({removed} removed, each with an entry)");
    }
    if scrub.is_sound() && differences.is_empty() && evidence.is_sound() {
        return format!("{} {seen}, and everything that follows from them", styled(GOOD, "sound"));
    }
    let faults = scrub.faults.iter().map(|fault| format!("\n  {fault}"));
    let differences = differences.iter().map(|difference| format!("\n  {difference}"));
    let evidence = evidence.faults.iter().map(|fault| format!("\n  {fault}"));
    format!("{} {seen}{}", styled(BAD, "broken"), faults.chain(differences).chain(evidence).collect::<String>())
}
