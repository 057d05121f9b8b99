//! Letters, through a server of mail that is not ours: with TLS and without, with a login, and with a server that hangs up.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateRun, ListHostings};
use std::time::Duration;

use placet_control::{Login, RouteParts, Security};
use placet_domain::digest::Digest;
use placet_domain::notice::NoticeKind;
use placet_testkit::tls::CertificateLab;
use placet_wire::api;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::moves::{opening, scan};
use crate::person::Person;
use crate::post_office::{PostOffice, dialer};
use crate::room::Room;
use crate::scenario::{PATIENCE, Team};
use crate::telling::{telling, to_people, to_room};

pub(super) const PEOPLE: &[&str] = &["rita-alpha", "ralf-alpha", "olga-alpha", "ada-alpha", "rita-beta"];

fn login() -> Login {
    Login::new("placet".to_owned(), Zeroizing::new("open sesame".to_owned()))
}

pub(super) fn names(letters: &[crate::post_office::Letter]) -> Vec<String> {
    let mut names: Vec<String> = letters.iter().map(|letter| letter.to.replace("@example.org", "")).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a13_only_those_who_can_decide_it_get_a_letter_and_nobody_of_another_project() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, agent, _) = telling(vec![]).await;
    let others = app.neighbours("beta").await;
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)])).await;
    agent.proposes(app.team.run, &scan()).await;
    let letters = office.until_taken(2).await;
    assert_eq!(names(&letters), ["ralf-alpha", "rita-alpha"], "the operator and the agent decide nothing");
    let letter = &letters[0];
    assert_eq!(letter.sender, "placet@example.org");
    assert!(
        letter.body.contains("nmap waits for a decision") && letter.body.contains("/actions/act_"),
        "{}",
        letter.body
    );
    assert!(letter.headers.contains("Auto-Submitted: auto-generated"), "{}", letter.headers);
    assert_ne!(letters[0].id, letters[1].id);
    others.agent.proposes(others.run, &scan()).await;
    let letters = office.until_taken(3).await;
    assert_eq!(letters[2].to, "rita-beta@example.org");
    assert!(letters[2].body.contains("project beta") && !letters[2].body.contains("alpha"), "{}", letters[2].body);
}

#[tokio::test]
async fn b4_whoever_approved_is_not_asked_again_and_the_other_still_is() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let pace = placet_control::Pace::Escalation { after_minutes: 10 };
    let route = RouteParts {
        what: [NoticeKind::Action].into(),
        schedule: placet_control::Schedule { pace, quiet: None },
        ..to_people("people", server, PEOPLE)
    };
    let (app, agent, reviewer) = telling(vec![route]).await;
    let action = agent.proposes(app.team.run, &crate::moves::sweep()).await;
    reviewer.approves(&action).await.is(200);
    app.pass_ms(10 * 60_000);
    let letters = office.until_taken(1).await;
    assert_eq!(names(&letters), ["ralf-alpha"]);
}

/// A hosted run whose agent is at work, with the agent's own voice.
async fn hosted(team: &Team) -> (String, Person) {
    let launch = json!({ "program": "/usr/bin/python3", "arguments": ["agent.py"], "profile": "default" });
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "launch": launch });
    let run: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.worker.post(&ListHostings {}.path(), &json!({})).await.is(200);
    team.worker.post(&path("host"), &json!({})).await.is(200);
    let digest = Digest::of(b"files");
    let snapshot = json!({ "number": 0, "workspace": digest, "memory": digest, "files": 1, "size_bytes": 1 });
    team.worker.post(&path("snapshots"), &snapshot).await.is(200);
    let once: api::TokenOnce = team.worker.post(&path("agent-token"), &json!({})).await.is(200).json();
    let agent = team.worker.holding(&once.token);
    agent.post(&path("attach"), &json!({})).await.is(200);
    (run.id.to_string(), agent)
}

#[tokio::test]
async fn b4_results_that_a_host_still_collects_are_told_of_to_those_who_decide_on_them() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, ..) = telling(vec![]).await;
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, PEOPLE)])).await;
    let (run, agent) = hosted(&app.team).await;
    agent.post(&format!("/api/v1/runs/{run}/finish"), &json!({ "summary": "done" })).await.is(200);
    let told = || office.letters().iter().filter(|letter| letter.body.contains("results wait")).count();
    let waited = tokio::time::timeout(PATIENCE, async {
        while told() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(waited.await.is_ok(), "nothing else tells of them when they are collected: {:#?}", office.letters());
}

#[tokio::test]
async fn a13_the_informed_get_a_letter_by_their_duties_and_nobody_else() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, ..) = telling(vec![to_people("people", server, PEOPLE)]).await;
    let path = format!("/api/v1/projects/{}/duties", app.team.project);
    let mut table = app.admin.get(&path).await.is(200).json::<Value>();
    table["duties"]["start"]["informed"] = json!(["olga-alpha", "rita-beta"]);
    app.admin.post(&path, &table).await.is(200);
    let path = format!("/api/v1/projects/{}/worktrees", app.team.project);
    app.team.operator.post(&path, &json!({ "opening": opening("backend", "PAY-1") })).await.is(201);
    let letters = office.until_taken(1).await;
    assert_eq!(names(&letters), ["olga-alpha"]);
    assert!(letters[0].body.contains("PAY-1 worktree\u{2024}opening"), "{}", letters[0].body);
}

#[tokio::test]
async fn a13_a_name_that_was_given_again_gets_nothing_of_another_by_duties_and_an_id_is_of_one() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (mut app, ..) = telling(vec![]).await;
    let olga = app.team.operator.id.to_string();
    let again = app.hire(json!({ "name": "olga-alpha", "roles": ["operator"], "projects": [app.team.project] })).await;
    let ids = [olga.as_str(), &again.id.to_string()].map(str::to_owned);
    let both: Vec<&str> = ids.iter().map(String::as_str).collect();
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, &both)])).await;
    let assign = |part: &'static str, people: Value| {
        let (admin, path) = (app.admin.clone(), format!("/api/v1/projects/{}/duties", app.team.project));
        async move {
            let mut table = admin.get(&path).await.is(200).json::<Value>();
            table["duties"]["start"][part] = people;
            admin.post(&path, &table).await.is(200);
        }
    };
    let path = format!("/api/v1/projects/{}/worktrees", app.team.project);
    assign("informed", json!(["olga-alpha"])).await;
    app.team.operator.post(&path, &json!({ "opening": opening("backend", "PAY-1") })).await.is(201);
    for person in [&app.team.operator, &again] {
        let told: Value = person.get("/api/v1/notices").await.is(200).json();
        assert_eq!(told["notices"], json!([]), "whose name it is nobody knows");
    }
    assign("informed", json!([olga])).await;
    app.team.operator.post(&path, &json!({ "opening": opening("backend", "PAY-2") })).await.is(201);
    let letters = office.until_taken(1).await;
    assert_eq!(names(&letters), [olga.as_str()]);
    assert!(letters[0].body.contains("PAY-2") && !letters[0].body.contains("PAY-1"), "{}", letters[0].body);
    let told: Value = app.team.operator.get("/api/v1/notices").await.is(200).json();
    assert_eq!(told["notices"].as_array().unwrap().len(), 1, "{told}");
    let next = json!({ "opening": opening("backend", "PAY-3") });
    for (accountable, statuses) in [(json!(["olga-alpha"]), [403, 403]), (json!([olga]), [403, 201])] {
        assign("accountable", accountable).await;
        for (person, status) in [&again, &app.team.operator].into_iter().zip(statuses) {
            person.post(&path, &next).await.is(status);
        }
    }
}

#[tokio::test]
async fn b12_letters_and_the_password_go_inside_of_tls() {
    let lab = CertificateLab::new();
    for (tls, security) in [("starttls", Security::StartTls), ("implicit", Security::Implicit)] {
        let login_wanted = json!({ "user": "placet", "password": "open sesame" });
        // aiosmtpd offers a login inside of implicit TLS only where it is told that it need not see TLS begin.
        let more = if tls == "starttls" { login_wanted } else { json!({}) };
        let office = PostOffice::secure(&lab, tls, more).await;
        let with = (tls == "starttls").then(login);
        let server = office.server(security, with, dialer(Some(&lab.path("ca.pem"))));
        let (app, agent, _) = telling(vec![to_people("people", server, &["rita-alpha"])]).await;
        agent.proposes(app.team.run, &scan()).await;
        let letters = office.until_taken(1).await;
        assert!(letters[0].tls, "{tls}");
        if tls == "starttls" {
            assert_eq!(letters[0].who.as_deref(), Some("placet"));
            assert!(office.said("login").iter().all(|login| login["tls"] == true), "no password before TLS");
        }
    }
}

#[tokio::test]
async fn b12_a_server_that_is_not_believed_or_offers_no_tls_gets_neither_letter_nor_password() {
    let lab = CertificateLab::new();
    let office = PostOffice::secure(&lab, "starttls", json!({})).await;
    let stripped = PostOffice::plain().await;
    let (room, nobody) = (Room::open().await, dialer(None));
    let believed = dialer(Some(&lab.path("ca.pem")));
    let routes = vec![
        to_people("strangers", office.server(Security::StartTls, Some(login()), nobody), &["rita-alpha"]),
        to_people("stripped", stripped.server(Security::StartTls, Some(login()), believed), &["rita-alpha"]),
        to_room("team", &room),
    ];
    let (app, agent, _) = telling(routes).await;
    agent.proposes(app.team.run, &scan()).await;
    room.until_taken(1).await;
    let tried = |text: &str, route: &str| {
        text.contains(&format!("notify_messages_total{{route=\"{route}\",outcome=\"retried\"}}"))
    };
    loop {
        let text = app.admin.get("/metrics").await.is(200).text();
        if tried(&text, "strangers") && tried(&text, "stripped") {
            assert!(!text.contains("route=\"strangers\",outcome=\"delivered\""), "{text}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(office.letters().is_empty() && stripped.letters().is_empty());
    assert!(office.said("login").is_empty() && stripped.said("login").is_empty());
}

#[tokio::test]
async fn a13_whoever_is_named_to_look_gets_a_letter_once_and_nobody_else_does() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let route = RouteParts { what: [NoticeKind::Assigned].into(), ..to_people("people", server, PEOPLE) };
    let (app, agent, reviewer) = telling(vec![route]).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/actions/{}/assign", action.id);
    let to = |name: &str, note: &str| json!({ "to": name, "note": note });
    reviewer.post(&path, &to("ralf-alpha", "between us")).await.is(200);
    let letters = office.until_taken(1).await;
    assert_eq!(names(&letters), ["ralf-alpha"]);
    let body = &letters[0].body;
    assert!(body.contains("ralf-alpha: nmap waits, and a colleague asks for a look"), "{body}");
    assert!(body.contains(&format!("/actions/{}", action.id)) && !body.contains("between us"), "{body}");
    reviewer.post(&path, &to("ralf-alpha", "between us")).await.problem(409, "not_now");
    reviewer.post(&path, &to("rita-alpha", "")).await.is(200);
    let letters = office.until_taken(2).await;
    assert_eq!(names(&letters), ["ralf-alpha", "rita-alpha"], "each once");
}
