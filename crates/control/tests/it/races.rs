//! Many at once: exactly one wins, and the ledger says who.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::ShowCaller;
use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{join, join_all};
use placet_domain::id::RunId;
use placet_testkit::rounds;
use placet_wire::api;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::moves::{reading, scan};
use crate::person::{Answer, Person};
use crate::scenario::{PATIENCE, Scenario};

/// How many succeeded; the others were refused because they came too late, and for no other reason.
#[track_caller]
fn winners(answers: &[Answer]) -> usize {
    let late = |answer: &&Answer| answer.status != 200;
    answers.iter().filter(late).for_each(|answer| {
        let problem = answer.any_problem();
        assert_eq!(problem.status, 409, "{problem:?}");
    });
    answers.iter().filter(|answer| answer.status == 200).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t10_sixteen_reviewers_approve_at_once_and_one_completes_it() {
    let (app, agent, _, _) = Scenario::start().await;
    let reviewers: Vec<Person> = join_all((0..16).map(|number| app.another("reviewer", number))).await;
    for _ in 0..10 {
        let action = agent.proposes(app.team.run, &scan()).await;
        let before = app.size();
        let answers = join_all(reviewers.iter().map(|reviewer| reviewer.approves(&action))).await;
        assert_eq!(winners(&answers), 1);
        assert_eq!(app.kinds_from(before).await, ["action.approved"]);
    }
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t10_approve_against_reject_has_one_winner() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for _ in 0..rounds(25, 100) {
        let action = agent.proposes(app.team.run, &scan()).await;
        let before = app.size();
        let (yes, no) = join(reviewer.approves(&action), app.team.second.rejects(&action)).await;
        let kinds = app.kinds_from(before).await;
        assert_eq!(kinds, [if yes.status == 200 { "action.approved" } else { "action.rejected" }]);
        assert_eq!(winners(&[yes, no]), 1);
    }
    app.assert_sound().await;
}

/// One approves, one rejects, two amend, the agent withdraws. What is approved can still be withdrawn, and what is made of
/// it is another action; but of the decisions on what waited, one is the first, and the others come too late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b4_t10_amend_against_amend_approve_and_reject_has_one_winner() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (third, fourth) = (app.another("reviewer", 3).await, app.another("reviewer", 4).await);
    let mut won = BTreeSet::new();
    for _ in 0..rounds(25, 100) {
        let action = agent.proposes(app.team.run, &scan()).await;
        let before = app.size();
        let yes_and_no = join(reviewer.approves(&action), app.team.second.rejects(&action));
        let [less, fewer] = [json!({ "timeout_ms": 1_000 }), json!({ "arguments": ["-sn"] })];
        let amendments = join(third.amends(&action, less), fourth.amends(&action, fewer));
        let ((less, yes), (fewer, no)) = {
            let ((yes, no), (less, fewer)) = join(yes_and_no, amendments).await;
            ((less, yes), (fewer, no))
        };
        let all = [&less, &fewer, &yes, &no];
        let winners: Vec<_> = all.iter().filter(|answer| answer.status < 300).collect();
        assert_eq!(winners.len(), 1);
        all.iter().filter(|answer| answer.status >= 300).for_each(|answer| drop(answer.problem(409, "not_now")));
        let kinds = app.kinds_from(before).await;
        let amended = ["action.superseded", "action.proposed", "action.judged", "action.approved"];
        match kinds.len() {
            1 => assert!(["action.approved", "action.rejected"].contains(&kinds[0].as_str()), "{kinds:?}"),
            _ => assert_eq!(kinds, amended),
        }
        won.insert(kinds.first().cloned());
    }
    assert!(won.len() > 1, "it always ended alike: {won:?}");
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t10_reject_against_withdraw_has_one_winner() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for _ in 0..rounds(25, 100) {
        let action = agent.proposes(app.team.run, &scan()).await;
        let before = app.size();
        let (no, back) = join(reviewer.rejects(&action), agent.withdraws(&action)).await;
        let kinds = app.kinds_from(before).await;
        assert_eq!(kinds, [if no.status == 200 { "action.rejected" } else { "action.withdrawn" }]);
        assert_eq!(winners(&[no, back]), 1);
    }
    app.assert_sound().await;
}

/// Approve, reject, withdraw and the end of the whole run, all at once. More than one may succeed, one after the other:
/// what is approved can still be withdrawn. But each success is one entry, and each refusal none.
async fn free_for_all(app: &Scenario, run: RunId) -> Vec<&'static str> {
    let action = app.team.agent.proposes(run, &scan()).await;
    let before = app.size();
    let decisions = join(app.team.reviewer.approves(&action), app.team.second.rejects(&action));
    let ends = join(app.team.agent.withdraws(&action), app.team.operator.cancels(run));
    let ((yes, no), (back, cancel)) = join(decisions, ends).await;
    let named =
        [(&yes, "action.approved"), (&no, "action.rejected"), (&back, "action.withdrawn"), (&cancel, "run.cancelled")];
    let won: BTreeSet<&str> = named.iter().filter(|(answer, _)| answer.status == 200).map(|(_, kind)| *kind).collect();
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds.iter().map(String::as_str).collect::<BTreeSet<_>>(), won);
    assert_eq!(kinds.len(), won.len());
    assert!(won.contains("run.cancelled"), "nobody can keep a run from being cancelled");
    assert!(!(won.contains("action.approved") && won.contains("action.rejected")));
    assert!(!(won.contains("action.rejected") && won.contains("action.withdrawn")));
    winners(&[yes, no, back, cancel]);
    assert!(app.team.worker.leases().await.is_none(), "nothing of a cancelled run is executed");
    won.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t10_approve_reject_withdraw_and_cancel_at_once_leave_one_story() {
    let (app, _, _, _) = Scenario::start().await;
    let mut outcomes = BTreeSet::new();
    for _ in 0..rounds(25, 100) {
        let run = app.team.start_run().await;
        outcomes.insert(free_for_all(&app, run).await);
    }
    assert!(outcomes.len() > 1, "it always ended alike: {outcomes:?}");
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i2_sixteen_workers_lease_each_action_once() {
    let (app, agent, _, _) = Scenario::start().await;
    let workers: Vec<Person> = join_all((0..16).map(|number| app.another("worker", number))).await;
    let wish = reading();
    let proposed = join_all((0..64).map(|_| agent.proposes(app.team.run, &wish))).await;
    let take_all = |worker: Person| async move {
        let mut jobs: Vec<api::Job> = Vec::new();
        while let Some(job) = worker.leases().await {
            worker.redeems(&job).await.is(200);
            jobs.push(job);
        }
        jobs
    };
    let jobs: Vec<_> = join_all(workers.into_iter().map(take_all)).await.into_iter().flatten().collect();
    assert_eq!(jobs.len(), 64);
    assert!(jobs.iter().all(|job| job.attempt == 1));
    let leased: BTreeSet<_> = jobs.iter().map(|job| job.action).collect();
    assert_eq!(leased, proposed.iter().map(|action| action.id).collect());
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i7_a_permit_that_two_present_at_once_is_redeemed_once() {
    let (app, agent, _, worker) = Scenario::start().await;
    let thief = app.another("worker", 1).await;
    for round in 0..20 {
        agent.proposes(app.team.run, &reading()).await;
        let job = worker.leases().await.unwrap();
        let before = app.size();
        let both = (0..8).flat_map(|_| [worker.redeems(&job), thief.redeems(&job)]);
        let answers = join_all(both).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        answers.iter().filter(|answer| answer.status != 200).for_each(|answer| drop(answer.problem(403, "permit")));
        let kinds = app.kinds_from(before).await;
        assert_eq!(kinds.iter().filter(|kind| *kind == "permit.redeemed").count(), 1);
        // Each is recorded, until there are so many that more of them would tell nothing.
        let refused = kinds.iter().filter(|kind| *kind == "refused").count();
        assert!(refused == 15 || round > 0 && refused < 15, "{refused} in round {round}");
    }
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_reports_of_one_result_count_once() {
    let (app, agent, _, worker) = Scenario::start().await;
    for _ in 0..10 {
        agent.proposes(app.team.run, &reading()).await;
        let job = worker.leases().await.unwrap();
        worker.redeems(&job).await.is(200);
        let manifest = worker.manifest(&job, vec![]);
        let before = app.size();
        let answers = join_all((0..8).map(|_| worker.reports(&job, &manifest))).await;
        answers.into_iter().for_each(|answer| drop(answer.is(200)));
        let kinds = app.kinds_from(before).await;
        assert_eq!(kinds.iter().filter(|kind| *kind == "job.completed").count(), 1, "{kinds:?}");
    }
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn projects_of_one_name_are_made_once() {
    let (app, _, _, _) = Scenario::start().await;
    let new = json!({ "name": "contested" });
    let answers = join_all((0..16).map(|_| app.admin.post("/api/v1/projects", &new))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    answers.iter().filter(|answer| answer.status != 201).for_each(|answer| drop(answer.problem(409, "exists")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t8_a_revoked_token_is_dead_the_moment_the_revocation_is_answered() {
    let (app, _, _, _) = Scenario::start().await;
    for number in 0..40 {
        let victim = app.another("reviewer", number).await;
        let path = format!("/api/v1/identities/{}/revoke", victim.id);
        let hammer = join_all((0..16).map(|_| victim.get("/api/v1/whoami")));
        let (revoked, _) = join(app.admin.post(&path, &json!({})), hammer).await;
        revoked.is(200);
        victim.get(&ShowCaller {}.path()).await.problem(401, "unauthorized");
    }
}

/// Sends a revocation and hangs up a moment later, without waiting for the answer.
async fn revoke_and_hang_up(app: &Scenario, victim: &Person, moment: usize) {
    let (id, token) = (victim.id, &app.admin.token);
    let request = format!(
        "POST /api/v1/identities/{id}/revoke HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    let mut socket = TcpStream::connect(app.address()).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    for _ in 0..moment * 4 {
        tokio::task::yield_now().await;
    }
    // On a machine that has much else to do, some of them must wait longer to get anywhere at all.
    tokio::time::sleep(Duration::from_millis((moment % 5) as u64)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t8_who_is_revoked_by_somebody_who_hangs_up_is_revoked_all_the_same() {
    let (app, _, _, _) = Scenario::start().await;
    let mut arrived = 0;
    for number in 0..60 {
        let victim = app.another("reviewer", number).await;
        victim.get(&ShowCaller {}.path()).await.is(200);
        let before = app.size();
        revoke_and_hang_up(&app, &victim, number).await;
        // Either the server noticed the end before it had decided anything, or the revocation holds.
        let recorded = tokio::time::timeout(Duration::from_millis(30), app.until(before, "identity.revoked")).await;
        if recorded.is_ok() {
            let dead = async { while victim.get(&ShowCaller {}.path()).await.status != 401 {} };
            tokio::time::timeout(PATIENCE, dead).await.expect("the revoked token stops working");
            arrived += 1;
        }
    }
    assert!(arrived > 0, "nobody ever got as far as being revoked");
}
