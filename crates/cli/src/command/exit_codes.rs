//! `placet exit-codes`: what scripts can rely on.

use crate::error::{CliError, Code};
use crate::out::{Out, table};

pub(crate) fn run(out: &Out) -> Result<(), CliError> {
    let codes: Vec<serde_json::Value> =
        Code::MEANINGS.iter().map(|(code, meaning)| serde_json::json!({ "code": code, "meaning": meaning })).collect();
    out.answer(&codes, |_| {
        let rows: Vec<Vec<String>> =
            Code::MEANINGS.iter().map(|(code, meaning)| vec![code.to_string(), (*meaning).to_owned()]).collect();
        table(&rows)
    });
    Ok(())
}
