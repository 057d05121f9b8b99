//! What receivers are told: everything they want, in order, signed, at least once, whatever fails in between.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::receiver::{Got, Receiver, Reply};
use super::{telling, told};
use crate::moves::{reading, scan};
use crate::person::Person;
use crate::scenario::{PATIENCE, Scenario};

/// A control plane that tells one receiver of these kinds.
async fn tells(events: &[&str]) -> (Scenario, Person, Receiver) {
    let (mut app, agent, _, _) = Scenario::start().await;
    let receiver = Receiver::start().await;
    app.restart_with(telling(vec![told("chat", &receiver.url, events)])).await;
    (app, agent, receiver)
}

async fn propose(app: &Scenario, agent: &Person, count: usize) {
    for _ in 0..count {
        agent.proposes(app.team.run, &scan()).await;
    }
}

fn seqs(got: &[Got]) -> Vec<u64> {
    got.iter().map(Got::seq).collect()
}

/// The numbers of all entries of these kinds from `from` on, read past the API.
async fn recorded(app: &Scenario, from: u64, kind: &str) -> Vec<u64> {
    let entries = app.entries_from(from).await.into_iter();
    entries.filter(|entry| entry.kind.starts_with(kind)).map(|entry| entry.seq).collect()
}

/// Waits until the receiver's yes to this entry is on disk, which is a moment after it was given.
async fn until_settled(app: &Scenario, seq: u64) {
    let settled = async {
        while app.store().cursor("chat").await.unwrap() <= Some(seq) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.expect("a yes is written down");
}

#[tokio::test]
async fn b12_entries_arrive_in_order_signed_and_as_the_ledger_holds_them() {
    let (app, agent, receiver) = tells(&["action.judged", "run.*"]).await;
    let from = app.size();
    propose(&app, &agent, 2).await;
    app.team.operator.cancels(app.team.run).await.is(200);
    let got = receiver.until_taken(3).await;
    assert_eq!(got.iter().map(Got::kind).collect::<Vec<_>>(), ["action.judged", "action.judged", "run.cancelled"]);
    let entries = app.entries_from(from).await;
    for message in &got {
        let entry = entries.iter().find(|entry| entry.seq == message.seq()).unwrap();
        let data: Value = serde_json::from_slice(&entry.bytes).unwrap();
        assert_eq!(message.body, serde_json::json!({ "type": entry.kind, "timestamp": data["at"], "data": data }));
        assert_eq!(message.id, format!("example.com/ledger/{}/chat", entry.seq));
        assert_eq!(message.path, "/hook");
    }
    assert!(seqs(&got).is_sorted());
}

#[tokio::test]
async fn b12_a_failed_message_is_sent_again_under_its_id_and_nothing_overtakes_it() {
    let (app, agent, receiver) = tells(&["action.judged"]).await;
    receiver.replies(&[Reply::Status(500), Reply::Redirect, Reply::Status(404), Reply::Status(200)]);
    propose(&app, &agent, 3).await;
    receiver.until_taken(3).await;
    let got = receiver.got();
    assert_eq!(got.len(), 6, "{got:#?}");
    assert!(got.iter().all(|message| message.path == "/hook"), "redirects are not followed");
    assert!(got[..4].iter().all(|message| message.id == got[0].id && message.body == got[0].body));
    assert_eq!(seqs(&receiver.taken()), recorded(&app, 0, "action.judged").await);
}

#[tokio::test]
async fn b12_nothing_is_lost_or_told_again_across_restarts() {
    let (mut app, agent, receiver) = tells(&["action.judged"]).await;
    propose(&app, &agent, 2).await;
    receiver.until_taken(2).await;
    receiver.always(Reply::Status(503));
    propose(&app, &agent, 2).await;
    receiver.until("a failure", |got| got.iter().any(|message| !message.taken)).await;
    app.restart().await;
    propose(&app, &agent, 1).await;
    receiver.always(Reply::Status(200));
    let taken = receiver.until_taken(5).await;
    until_settled(&app, taken[4].seq()).await;
    app.restart().await;
    propose(&app, &agent, 1).await;
    let taken = receiver.until_taken(6).await;
    assert_eq!(seqs(&taken), recorded(&app, 0, "action.judged").await, "each once, in order");
    let ids: BTreeSet<_> = receiver.got().into_iter().map(|message| message.id).collect();
    assert_eq!(ids.len(), 6, "a message has one id, however often and by whichever process it is sent");
}

#[tokio::test]
async fn b12_a_new_receiver_is_told_of_what_comes_and_not_of_what_was() {
    let (app, agent, receiver) = tells(&["*"]).await;
    propose(&app, &agent, 1).await;
    let got = receiver.until_taken(3).await;
    assert_eq!(got[0].kind(), "runtime.started", "the start that first knows it is the first thing it hears of");
    assert_eq!(seqs(&got), (got[0].seq()..got[0].seq() + 3).collect::<Vec<_>>(), "and then everything");
}

#[tokio::test]
async fn b12_a_receiver_that_is_gone_is_left_alone_until_a_restart() {
    let (mut app, agent, receiver) = tells(&["action.judged"]).await;
    receiver.replies(&[Reply::Status(410)]);
    propose(&app, &agent, 1).await;
    receiver.until("the 410", |got| got.len() == 1).await;
    propose(&app, &agent, 1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(receiver.got().len(), 1);
    app.restart().await;
    let taken = receiver.until_taken(2).await;
    assert_eq!(seqs(&taken), recorded(&app, 0, "action.judged").await, "then it gets what it missed");
}

#[tokio::test]
async fn b12_a_dead_receiver_holds_up_nobody_else() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let (receiver, hanging) = (Receiver::start().await, tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap());
    let silent = format!("http://{}/", hanging.local_addr().unwrap());
    let dead = ["http://127.0.0.1:1/", &silent].map(|url| url.to_owned());
    let hooks = vec![
        told("closed", &dead[0], &["*"]),
        told("silent", &dead[1], &["*"]),
        told("chat", &receiver.url, &["action.*"]),
    ];
    app.restart_with(telling(hooks)).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let got = receiver.until_taken(3).await;
    let kinds: Vec<_> = got.iter().map(Got::kind).collect();
    assert_eq!(kinds, ["action.proposed", "action.judged", "action.approved"]);
    app.stop().await;
}

#[tokio::test]
async fn b12_an_answer_without_end_is_not_read_to_its_end() {
    let (app, agent, receiver) = tells(&["action.judged"]).await;
    receiver.always(Reply::Endless);
    propose(&app, &agent, 3).await;
    receiver.until_taken(3).await;
}

#[tokio::test]
async fn b12_deliveries_are_counted_by_receiver() {
    let (app, agent, receiver) = tells(&["action.judged"]).await;
    receiver.replies(&[Reply::Status(500), Reply::Status(500)]);
    agent.proposes(app.team.run, &reading()).await;
    receiver.until_taken(1).await;
    let wanted = [
        r#"placet_webhook_deliveries_total{hook="chat",outcome="delivered"} 1"#,
        r#"placet_webhook_deliveries_total{hook="chat",outcome="failed"} 2"#,
    ];
    // The answer is counted a moment after the receiver has given it.
    let counted = async {
        loop {
            let text = String::from_utf8(app.admin.get("/metrics").await.is(200).body.to_vec()).unwrap();
            if wanted.iter().all(|line| text.contains(line)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, counted).await.expect("both are counted");
}
