//! RECORD: the audit trail has every field, and a stranger can check the ledger with what the API gives.

use placet_ledger::{
    ConsistencyProof, Entry, Hash, InclusionProof, SignedTreeHead, StoredEntry, Tree, VerifierKey, leaf_hash,
    verify_entries,
};
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::ShowHead;
use serde_json::Value;

use crate::moves::scan;
use crate::person::Person;
use crate::scenario::Scenario;

/// One action from proposal to evidence.
async fn whole_story(app: &Scenario) -> api::ActionView {
    let action = app.team.agent.proposes(app.team.run, &scan()).await;
    app.team.reviewer.approves(&action).await.is(200);
    let job = app.team.worker.leases().await.unwrap();
    app.team.worker.executes(&job).await.action
}

#[tokio::test]
async fn c14_audit_rows_have_all_the_fields() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = whole_story(&app).await;
    let path = format!("/api/v1/runs/{}/audit", app.team.run);
    let trail: api::AuditTrail = app.auditor.get(&path).await.is(200).json();
    let row = |event: &str| trail.rows.iter().find(|row| row.event == event).unwrap_or_else(|| panic!("no {event}"));
    for row in &trail.rows {
        assert_eq!(row.agent.as_deref(), Some(agent.id.to_string().as_str()));
        assert!(row.timestamp.starts_with("2026-01-31T09:30:00.000") && row.timestamp.ends_with('Z'), "{row:?}");
        assert!(row.actor == "runtime" || row.actor.starts_with("idn_"));
    }
    assert!(trail.rows.is_sorted_by_key(|row| row.seq));
    let proposed = row("action.proposed");
    assert_eq!(proposed.action_type.as_deref(), Some("network_scan"));
    assert_eq!(proposed.input_digest, Some(action.digest.to_string()));
    assert_eq!(row("action.judged").approval_status.as_deref(), Some("tier B"));
    let approved = row("action.approved");
    assert_eq!(
        (approved.approver.clone(), approved.approval_status.as_deref()),
        (Some(reviewer.id.to_string()), Some("approved"))
    );
    let completed = row("job.completed");
    assert_eq!(completed.output_digest, action.evidence.map(|digest| digest.to_string()));
    assert_eq!((completed.tokens, completed.cost_usd_micros), (0, 0));
    assert_eq!(row("run.plan_approved").approver, Some(reviewer.id.to_string()));
    let raw: Value = app.auditor.get(&path).await.json();
    let first = raw["rows"][0].as_object().unwrap();
    for field in ["seq", "timestamp", "actor", "event", "tokens", "cost_usd_micros"] {
        assert!(first.contains_key(field), "{field}");
    }
}

#[tokio::test]
async fn c14_the_trail_is_paged_without_gaps() {
    let (app, _, _, _) = Scenario::start().await;
    whole_story(&app).await;
    let path = format!("/api/v1/runs/{}/audit", app.team.run);
    let whole: api::AuditTrail = app.auditor.get(&path).await.is(200).json();
    let mut seen: Vec<u64> = Vec::new();
    loop {
        let after = seen.last().map_or(String::new(), |seq| format!("&after={seq}"));
        let page: api::AuditTrail = app.auditor.get(&format!("{path}?limit=2{after}")).await.is(200).json();
        if page.rows.is_empty() {
            break;
        }
        seen.extend(page.rows.iter().map(|row| row.seq));
    }
    assert_eq!(seen, whole.rows.iter().map(|row| row.seq).collect::<Vec<_>>());
}

async fn head(person: &Person) -> (SignedTreeHead, VerifierKey) {
    let view: api::HeadView = person.get(&ShowHead {}.path()).await.is(200).json();
    let key: VerifierKey = view.key.parse().unwrap();
    let head = SignedTreeHead::verify(view.note.as_bytes(), &key).unwrap();
    assert_eq!((head.head().size(), head.head().root().to_string()), (view.size, view.root));
    (head, key)
}

#[tokio::test]
async fn c14_a_stranger_verifies_the_whole_ledger_with_what_the_api_gives() {
    let (app, _, _, _) = Scenario::start().await;
    whole_story(&app).await;
    let (head, _) = head(&app.auditor).await;
    let mut entries: Vec<api::EntryView> = Vec::new();
    while (entries.len() as u64) < head.head().size() {
        let after = entries.last().map_or(String::new(), |entry| format!("&after={}", entry.seq));
        let page: api::EntryList =
            app.auditor.get(&format!("/api/v1/ledger/entries?limit=10{after}")).await.is(200).json();
        assert!(!page.entries.is_empty());
        entries.extend(page.entries);
    }
    let stored = entries.iter().map(|view| {
        let entry: Entry = serde_json::from_value(view.entry.clone()).unwrap();
        let bytes = entry.to_bytes().unwrap();
        Ok::<_, std::convert::Infallible>(StoredEntry { seq: view.seq, bytes, leaf: view.leaf.parse().unwrap() })
    });
    let tree = verify_entries(Tree::empty(), stored).unwrap().into_tree().unwrap();
    assert_eq!((tree.size(), tree.root()), (head.head().size(), head.head().root()));
}

#[tokio::test]
async fn c14_inclusion_and_consistency_proofs_verify_and_wrong_ones_do_not() {
    let (app, agent, _, _) = Scenario::start().await;
    let (old, key) = head(&agent).await;
    whole_story(&app).await;
    let (new, _) = head(&agent).await;
    let hashes = |texts: &[String]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Hash>>();
    for seq in 0..app.size() {
        let proof: api::InclusionProof =
            app.auditor.get(&format!("/api/v1/ledger/proof?seq={seq}")).await.is(200).json();
        let under = SignedTreeHead::verify(proof.note.as_bytes(), &key).unwrap();
        let leaf = leaf_hash(proof.entry.as_bytes());
        assert_eq!(leaf.to_string(), proof.leaf);
        let way = InclusionProof { index: seq, tree_size: proof.size, path: hashes(&proof.proof) };
        way.verify(&leaf, under.head()).unwrap();
        assert!(way.verify(&leaf_hash(b"another entry"), under.head()).is_err());
        assert!(InclusionProof { index: seq + 1, ..way }.verify(&leaf, under.head()).is_err());
    }
    let (from, to) = (old.head().size(), new.head().size());
    let path = format!("/api/v1/ledger/consistency?from={from}&to={to}");
    let proof: api::ConsistencyProof = agent.get(&path).await.is(200).json();
    let grown = ConsistencyProof { old_size: from, new_size: to, path: hashes(&proof.proof) };
    grown.verify(old.head(), new.head()).unwrap();
    assert!(grown.verify(new.head(), old.head()).is_err());
}

#[tokio::test]
async fn i8_an_auditor_of_one_project_sees_only_its_entries() {
    let (app, _, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let auditor =
        app.hire(serde_json::json!({ "name": "olaf", "roles": ["auditor"], "projects": [others.project] })).await;
    let list: api::EntryList = auditor.get("/api/v1/ledger/entries").await.is(200).json();
    assert!(!list.entries.is_empty());
    let mine = Value::from(others.project.to_string());
    assert!(list.entries.iter().all(|view| view.entry["project"] == mine));
    let seen: Vec<u64> = list.entries.iter().map(|view| view.seq).collect();
    for seq in 0..app.size() {
        let status = auditor.get(&format!("/api/v1/ledger/proof?seq={seq}")).await.status;
        assert_eq!(status == 200, seen.contains(&seq), "entry {seq}");
    }
}
