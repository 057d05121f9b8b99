//! Servers that hang up, stall, refuse or take nothing, and control planes that end: who is told then, how often, and who waits for whom.

use std::time::Duration;

use placet_control::{Backoff, Security};
use serde_json::json;

use super::letters::{PEOPLE, names};
use crate::moves::scan;
use crate::post_office::{PostOffice, dialer};
use crate::room::Room;
use crate::telling::{settled, telling, to_mailboxes, to_people, to_room};

#[tokio::test]
async fn b12_a_letter_that_a_server_hung_up_on_is_sent_again_under_the_same_id() {
    let office = PostOffice::open(&json!({ "tls": "none", "drop": 1 })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, _) = telling(vec![to_people("people", server, &["rita-alpha"])]).await;
    agent.proposes(app.team.run, &scan()).await;
    office.until_taken(1).await;
    let letters = office.letters();
    assert_eq!(letters.iter().map(|letter| letter.taken).collect::<Vec<_>>(), [false, true]);
    assert!(letters.iter().all(|letter| letter.id == letters[0].id), "{letters:#?}");
}

#[tokio::test]
async fn b12_a_letter_that_may_have_been_taken_is_not_sent_thrice() {
    // Hung up on after the letter, and left without an answer.
    for silent in [json!({ "tls": "none", "drop": 4 }), json!({ "tls": "none", "stall": 4 })] {
        let office = PostOffice::open(&silent).await;
        let patience = (Duration::from_millis(50), Duration::from_millis(100));
        let server = office.server(Security::None, None, dialer(None)).waited_for(patience.0, patience.1);
        let (app, agent, _) = telling(vec![to_people("people", server, &["rita-alpha"])]).await;
        agent.proposes(app.team.run, &scan()).await;
        office.until_heard(2).await;
        agent.proposes(app.team.run, &crate::moves::sweep()).await;
        office.until_heard(4).await;
        let third = agent.proposes(app.team.run, &scan()).await;
        let taken = office.until_taken(1).await;
        assert!(taken[0].body.contains(&third.id.to_string()), "{}", taken[0].body);
        let ids: Vec<String> = office.letters().into_iter().map(|letter| letter.id).collect();
        assert_eq!(ids.len(), 5, "{ids:?}");
        assert!(ids[0] == ids[1] && ids[1] != ids[2] && ids[2] == ids[3] && ids[3] != ids[4], "twice each: {ids:?}");
        let text = app.admin.get("/metrics").await.is(200).text();
        assert!(text.contains(r#"{route="people",outcome="unanswered"} 4"#), "{text}");
    }
}

#[tokio::test]
async fn b12_a_server_that_stalls_after_a_letter_holds_up_its_own_mailbox_alone() {
    let office = PostOffice::open(&json!({ "tls": "none", "stall": 9, "stalled": "ralf-alpha@example.org" })).await;
    let server = || office.server(Security::None, None, dialer(None));
    let room = Room::open().await;
    let all = vec![to_people("people", server(), PEOPLE), to_room("team", &room)];
    let (app, agent, _) = telling(all).await;
    agent.proposes(app.team.run, &scan()).await;
    office.until_taken(1).await;
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = office.until_taken(2).await;
    assert_eq!(names(&letters), ["rita-alpha", "rita-alpha"], "the same route goes on");
    room.until_taken(2).await;
    let held = office.letters().iter().filter(|letter| !letter.taken).count();
    assert_eq!(held, 1, "it is waited for, and sent nothing more meanwhile");
}

#[tokio::test]
async fn b12_a_mailbox_that_takes_nothing_is_owed_the_newest_and_a_number_and_nobody_waits_for_it() {
    const ASKED: usize = 130;
    let office = PostOffice::open(&json!({ "tls": "none", "full": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, agent, _) = telling(vec![]).await;
    let slow = Backoff { first_ms: 3_600_000, most_ms: 3_600_000 };
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)]).retried(slow)).await;
    for _ in 0..ASKED {
        agent.proposes(app.team.run, &scan()).await;
    }
    settled(&app, "notify/people").await;
    assert!(office.letters().iter().all(|letter| letter.to == "rita-alpha@example.org"), "she took all of hers");
    assert_eq!(office.said("full").len(), 1, "and it rests");
    // Somebody emptied it.
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)])).await;
    let letters = office.until_taken(1).await;
    assert_eq!(letters[0].to, "ralf-alpha@example.org");
    assert!(
        letters[0].body.contains("asks 100 times") && letters[0].body.contains("and 30 more"),
        "{}",
        letters[0].body
    );
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = office.until_taken(3).await;
    assert_eq!(names(&letters), ["ralf-alpha", "ralf-alpha", "rita-alpha"], "one letter about all that was");
}

#[tokio::test]
async fn b12_a_restart_neither_tells_again_nor_forgets_who_is_owed() {
    let office = PostOffice::open(&json!({ "tls": "none", "full": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, agent, _) = telling(vec![to_people("people", server, PEOPLE)]).await;
    let first = agent.proposes(app.team.run, &scan()).await;
    office.until_taken(1).await;
    settled(&app, "notify/people").await;
    for _ in 0..3 {
        app.restart().await;
    }
    let after = PostOffice::plain().await;
    let server = after.server(Security::None, None, dialer(None));
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)])).await;
    let letters = after.until_taken(1).await;
    assert_eq!(letters[0].to, "ralf-alpha@example.org", "what is owed is not forgotten");
    assert!(letters[0].body.contains(&first.id.to_string()), "{}", letters[0].body);
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = after.until_taken(3).await;
    assert_eq!(names(&letters), ["ralf-alpha", "ralf-alpha", "rita-alpha"]);
    assert_eq!(names(&office.until_taken(1).await), ["rita-alpha"], "and nobody was told again");
}

#[tokio::test]
async fn b12_a_mailbox_that_is_refused_is_given_up_and_the_others_get_theirs_once() {
    let office = PostOffice::open(&json!({ "tls": "none", "refuse": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, _) = telling(vec![to_people("people", server, PEOPLE)]).await;
    agent.proposes(app.team.run, &scan()).await;
    office.until_taken(1).await;
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = office.until_taken(2).await;
    assert_eq!(names(&letters), ["rita-alpha", "rita-alpha"]);
    assert!(!letters[1].body.contains("tier B"), "what was told is not told again: {}", letters[1].body);
    let text = app.admin.get("/metrics").await.is(200).text();
    assert!(text.contains(r#"placet_notify_messages_total{route="people",outcome="given_up"}"#), "{text}");
}

#[tokio::test]
async fn b12_a_mailbox_that_is_full_for_now_holds_up_nobody_else_of_its_route() {
    let office = PostOffice::open(&json!({ "tls": "none", "full": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, agent, _) = telling(vec![]).await;
    // Longer than anybody waits here: who is told at all is told before the mailbox is tried again.
    let slow = Backoff { first_ms: 3_600_000, most_ms: 3_600_000 };
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)]).retried(slow)).await;
    agent.proposes(app.team.run, &scan()).await;
    office.until_taken(1).await;
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = office.until_taken(2).await;
    assert_eq!(names(&letters), ["rita-alpha", "rita-alpha"]);
    assert!(!letters[1].body.contains("tier B"), "what was told is not told again: {}", letters[1].body);
    assert_eq!(office.said("full").len(), 1, "and it rests");
}

#[tokio::test]
async fn b12_what_a_mailbox_that_is_gone_was_owed_comes_to_the_one_that_is_there_instead_and_to_nobody_twice() {
    let office = PostOffice::open(&json!({ "tls": "none", "full": "old@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let route = to_mailboxes("list", server, &["old@example.org", "team@example.org"]);
    let (mut app, agent, _) = telling(vec![route]).await;
    let waiting = agent.proposes(app.team.run, &scan()).await;
    assert_eq!(office.until_taken(1).await[0].to, "team@example.org");
    settled(&app, "notify/list").await;
    // Its owner mends the settings.
    let after = PostOffice::plain().await;
    let server = after.server(Security::None, None, dialer(None));
    let route = to_mailboxes("list", server, &["new@example.org", "team@example.org"]);
    app.restart_telling(crate::telling::routes(vec![route])).await;
    let letters = after.until_taken(1).await;
    assert_eq!(letters[0].to, "new@example.org");
    assert!(letters[0].body.contains(&waiting.id.to_string()), "{}", letters[0].body);
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = after.until_taken(3).await;
    assert_eq!(names(&letters), ["new", "new", "team"], "and nobody was told again");
}

#[tokio::test]
async fn b12_older_ones_that_were_only_counted_are_told_where_the_newest_are_decided() {
    const ASKED: usize = 103;
    let office = PostOffice::open(&json!({ "tls": "none", "full": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, agent, rita) = telling(vec![]).await;
    let slow = Backoff { first_ms: 3_600_000, most_ms: 3_600_000 };
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)]).retried(slow)).await;
    let mut asked = Vec::new();
    for _ in 0..ASKED {
        asked.push(agent.proposes(app.team.run, &scan()).await);
    }
    settled(&app, "notify/people").await;
    for newer in &asked[2..] {
        rita.rejects(newer).await.is(200);
    }
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)])).await;
    let letters = office.until_taken(1).await;
    assert_eq!(letters[0].to, "ralf-alpha@example.org");
    let told = |number: usize| letters[0].body.contains(&asked[number].id.to_string());
    assert!(told(0) && told(1) && !told(2), "just those that wait: {}", letters[0].body);
    assert!(!letters[0].body.contains("more"), "{}", letters[0].body);
}
