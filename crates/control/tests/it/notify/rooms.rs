//! What a chat is told, when, and when not.

use std::time::Duration;

use placet_control::{Pace, RouteParts, Schedule};
use placet_domain::notice::NoticeKind;
use placet_domain::policy::Tier;

use crate::moves::{deletion, scan, sweep};
use crate::room::Room;
use crate::scenario::{PATIENCE, Scenario};
use crate::telling::{quiet, routes, settled, telling, to_room, to_url};

const MINUTE_MS: u64 = 60_000;

fn every(parts: RouteParts, pace: Pace) -> RouteParts {
    RouteParts { schedule: Schedule { pace, quiet: None }, ..parts }
}

#[tokio::test]
async fn b4_what_was_decided_before_it_is_told_is_not_told() {
    let room = Room::open().await;
    let (app, agent, reviewer) = telling(vec![every(to_room("team", &room), Pace::Digest { every_minutes: 60 })]).await;
    let gone = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&gone).await.is(200);
    app.pass_ms(60 * MINUTE_MS);
    let waits = agent.proposes(app.team.run, &sweep()).await;
    app.pass_ms(60 * MINUTE_MS);
    let told = room.until_taken(1).await;
    assert!(told[0].contains(&waits.id.to_string()) && !told[0].contains(&gone.id.to_string()), "{}", told[0]);
    assert!(told[0].starts_with("Placet: 1 decision waits"), "{}", told[0]);
    assert_eq!(room.tries(), 1, "an hour in which everything was decided has no digest");
}

#[tokio::test]
async fn b4_an_escalation_happens_once_and_only_for_what_still_waits() {
    let (first, second) = (Room::open().await, Room::open().await);
    let escalation = RouteParts {
        what: [NoticeKind::Action].into(),
        ..every(to_room("boss", &second), Pace::Escalation { after_minutes: 30 })
    };
    let (mut app, agent, reviewer) = telling(vec![to_room("team", &first), escalation]).await;
    let (decided, waits) = (agent.proposes(app.team.run, &scan()).await, agent.proposes(app.team.run, &sweep()).await);
    first.until_taken(1).await;
    reviewer.approves(&decided).await.is(200);
    app.pass_ms(29 * MINUTE_MS);
    app.restart().await;
    app.pass_ms(MINUTE_MS);
    let told = second.until_taken(1).await;
    assert!(told[0].contains(&waits.id.to_string()) && !told[0].contains(&decided.id.to_string()), "{}", told[0]);
    settled(&app, "notify/boss").await;
    app.pass_ms(120 * MINUTE_MS);
    app.restart().await;
    agent.proposes(app.team.run, &deletion()).await;
    app.pass_ms(30 * MINUTE_MS);
    let told = second.until_taken(2).await;
    assert!(!told[1].contains(&waits.id.to_string()), "once: {}", told[1]);
    assert_eq!(second.tries(), 2);
}

#[tokio::test]
async fn b4_quiet_hours_hold_what_comes_and_then_tell_it_in_one_message() {
    let room = Room::open().await;
    // Scenarios begin at half past nine.
    let night = Schedule { pace: crate::telling::AT_ONCE, quiet: quiet("09:00", "10:00") };
    let (mut app, agent, _) = telling(vec![RouteParts { schedule: night, ..to_room("team", &room) }]).await;
    for minutes in [1, 20] {
        agent.proposes(app.team.run, &scan()).await;
        app.pass_ms(minutes * MINUTE_MS);
    }
    app.restart().await;
    agent.proposes(app.team.run, &sweep()).await;
    app.pass_ms(8 * MINUTE_MS);
    app.restart().await;
    assert_eq!(room.tries(), 0, "one minute to ten");
    app.pass_ms(MINUTE_MS);
    let told = room.until_taken(1).await;
    assert!(told[0].starts_with("Placet: 3 decisions wait"), "{}", told[0]);
}

#[tokio::test]
async fn b12_a_room_that_is_away_gets_what_still_waits_when_it_is_back_also_after_a_restart() {
    let room = Room::open().await;
    let (mut app, agent, reviewer) = telling(vec![to_room("team", &room)]).await;
    room.always(503);
    let first = agent.proposes(app.team.run, &scan()).await;
    room.until_tried(2).await;
    app.restart().await;
    let second = agent.proposes(app.team.run, &sweep()).await;
    reviewer.approves(&first).await.is(200);
    room.answers(&[500, 307, 404]);
    room.always(200);
    let told = room.until_taken(1).await;
    assert!(told[0].contains(&second.id.to_string()) && !told[0].contains(&first.id.to_string()), "{}", told[0]);
    settled(&app, "notify/team").await;
    app.restart().await;
    let third = agent.proposes(app.team.run, &deletion()).await;
    let told = room.until_taken(2).await;
    assert!(told[1].contains(&third.id.to_string()) && !told[1].contains(&second.id.to_string()), "{}", told[1]);
}

#[tokio::test]
async fn b4_a_route_tells_only_of_its_projects_and_tiers_and_of_nothing_that_was_before() {
    let (room, two) = (Room::open().await, Room::open().await);
    let (mut app, agent, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    agent.proposes(app.team.run, &scan()).await;
    let of_beta = RouteParts { projects: ["beta".to_owned()].into(), ..to_room("beta", &room) };
    let of_two = RouteParts { tiers: [Tier::C].into(), what: [NoticeKind::Action].into(), ..to_room("two", &two) };
    app.restart_telling(routes(vec![of_beta, of_two])).await;
    agent.proposes(app.team.run, &scan()).await;
    let swept = agent.proposes(app.team.run, &sweep()).await;
    let theirs = others.agent.proposes(others.run, &scan()).await;
    let told = room.until_taken(1).await;
    assert!(told[0].contains(&theirs.id.to_string()) && !told[0].contains("alpha"), "{}", told[0]);
    let told = two.until_taken(1).await;
    assert!(told[0].contains(&swept.id.to_string()) && told[0].contains("two reviewers"), "{}", told[0]);
    assert_eq!((room.tries(), two.tries()), (1, 1));
}

#[tokio::test]
async fn b12_a_dead_room_holds_up_nobody_and_everything_is_counted() {
    let (room, hanging) = (Room::open().await, tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap());
    let silent = format!("http://{}/canary", hanging.local_addr().unwrap());
    let all = vec![to_url("silent", &silent), to_url("closed", "http://127.0.0.1:1/canary"), to_room("team", &room)];
    let (app, agent, reviewer) = telling(all).await;
    room.answers(&[500]);
    let action = agent.proposes(app.team.run, &scan()).await;
    room.until_taken(1).await;
    reviewer.approves(&action).await.is(200);
    let wanted = [
        r#"placet_notify_messages_total{route="team",outcome="delivered"} 1"#,
        r#"placet_notify_messages_total{route="team",outcome="retried"} 1"#,
        r#"placet_notify_messages_total{route="closed",outcome="retried"}"#,
    ];
    let counted = async {
        loop {
            let text = app.admin.get("/metrics").await.is(200).text();
            assert!(!text.contains("canary"), "no address is in a metric");
            if wanted.iter().all(|line| text.contains(line)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, counted).await.expect("all are counted");
}
