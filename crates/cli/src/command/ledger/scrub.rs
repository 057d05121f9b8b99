//! `placet ledger scrub`: everything in the store of the home, hashed and computed again.

use placet_store::{Difference, Scrub, StoreError};
use serde_json::{Value, json};

use crate::command::serve::open_store;
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::out::{BAD, GOOD, Out, styled};
use crate::progress::Spinner;

pub(super) async fn run(who: &Who, out: &Out) -> Result<(), CliError> {
    let (scrub, differences) = {
        let _spinner = Spinner::start(out, "going through everything");
        let store = open_store(&who.home()?).await?;
        let scrub = store.scrub().await.map_err(|fault| unreadable(&fault))?;
        (scrub, store.check_projections().await.map_err(|fault| unreadable(&fault))?)
    };
    out.answer(&view(&scrub, &differences), |_| words(&scrub, &differences));
    match scrub.faults.len() + differences.len() {
        0 => Ok(()),
        1 => Err(CliError::new(Code::Integrity, "the store is not what it was in one place")),
        many => Err(CliError::new(Code::Integrity, format!("the store is not what it was in {many} places"))),
    }
}

fn unreadable(fault: &StoreError) -> CliError {
    let code = if matches!(fault, StoreError::Integrity(_)) { Code::Integrity } else { Code::Failed };
    CliError::new(code, chain(fault))
}

fn view(scrub: &Scrub, differences: &[Difference]) -> Value {
    let difference = |found: &Difference| json!({ "what": found.what, "id": found.id, "stored": found.stored, "computed": found.computed });
    json!({
        "entries": scrub.entries,
        "heads": scrub.heads,
        "faults": scrub.faults,
        "differences": differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

fn words(scrub: &Scrub, differences: &[Difference]) -> String {
    let seen = format!("{} entries, {} heads", scrub.entries, scrub.heads);
    if scrub.is_sound() && differences.is_empty() {
        return format!("{} {seen}, and everything that follows from them", styled(GOOD, "sound"));
    }
    let faults = scrub.faults.iter().map(|fault| format!("\n  {fault}"));
    let differences = differences.iter().map(|difference| format!("\n  {difference}"));
    format!("{} {seen}{}", styled(BAD, "broken"), faults.chain(differences).collect::<String>())
}
