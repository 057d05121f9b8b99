//! `placet run audit`: everything that the ledger says of a run, a row for each entry. `--json` has ids and digests in full.

use placet_domain::budget::dollars;
use placet_domain::id::RunId;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{AuditQuery, AuditRow, AuditTrail};
use placet_wire::endpoint::ShowAudit;

use crate::context::{run_id, short};
use crate::error::CliError;
use crate::out::{BOLD, Out, styled, table};

const COLUMNS: [&str; 10] =
    ["entry", "at", "event", "action", "kind", "decision", "by", "input", "output", "tokens, cost"];

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let trail = whole_trail(client, id).await?;
    out.answer(&trail, |trail| text(&trail.rows));
    Ok(())
}

/// All of it, page by page: an audit that leaves something out is none.
async fn whole_trail(client: &Client, run: RunId) -> Result<AuditTrail, CliError> {
    let mut whole = client.get(ShowAudit { run, query: AuditQuery::default() }).await?;
    while let Some(last) = whole.rows.last() {
        let query = AuditQuery { after: Some(last.seq), limit: None };
        let page = client.get(ShowAudit { run, query }).await?;
        if page.rows.is_empty() {
            break;
        }
        whole.rows.extend(page.rows);
    }
    Ok(whole)
}

fn text(rows: &[AuditRow]) -> String {
    let head = COLUMNS.map(|name| styled(BOLD, name)).to_vec();
    table(&std::iter::once(head).chain(rows.iter().map(cells)).collect::<Vec<_>>())
}

fn cells(row: &AuditRow) -> Vec<String> {
    let ended = |id: &Option<String>| id.as_deref().map(short).unwrap_or_default();
    let words = |text: &Option<String>| text.as_deref().map(spelled_out).unwrap_or_default();
    let used = match (row.tokens, row.cost_usd_micros) {
        (0, 0) => String::new(),
        (tokens, cost) => format!("{tokens}, {}", dollars(cost)),
    };
    vec![
        row.seq.to_string(),
        row.timestamp.clone(),
        row.event.clone(),
        ended(&row.action),
        words(&row.action_type),
        words(&row.approval_status),
        ended(&row.approver),
        ended(&row.input_digest),
        ended(&row.output_digest),
        used,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(more: serde_json::Value) -> AuditRow {
        let mut row = serde_json::json!({
            "seq": 7, "timestamp": "2026-01-31T09:30:00.000Z", "actor": "idn_1", "event": "run.model_called",
            "tokens": 0, "cost_usd_micros": 0,
        });
        row.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn c14_the_text_tells_who_decided_about_which_bytes_and_what_it_took() {
        let called = row(serde_json::json!({
            "input_digest": format!("sha256:{}", "ab".repeat(32)), "output_digest": format!("sha256:{}", "cd".repeat(32)),
            "tokens": 15, "cost_usd_micros": 100,
        }));
        let approved = row(serde_json::json!({
            "event": "action.approved", "action": "act_11112222", "action_type": "send_email", "approval_status": "approved",
            "approver": "idn_33334444",
        }));
        let text = text(&[called, approved]);
        for part in ["…abababab", "…cdcdcdcd", "15, $0.0001", "…11112222", "send_email", "approved", "…33334444"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
