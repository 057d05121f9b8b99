//! Whoever is away has a stand-in, who is told and decides by their own rights.

use placet_control::Security;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateProject, ListAbsences, RevokeIdentity, StartAbsence};
use serde_json::{Value, json};

use crate::moves::scan;
use crate::person::{Answer, Person};
use crate::post_office::{PostOffice, dialer};
use crate::scenario::Scenario;
use crate::telling::{telling, to_people};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

async fn goes_away(person: &Person, to: &str) -> Answer {
    // Scenarios begin on 31 January.
    let away = json!({ "to": to, "until": "2026-02-02T09:30:00Z" });
    person.post(&StartAbsence { identity: person.id }.path(), &away).await
}

#[tokio::test]
async fn a13_who_stands_in_gets_the_letter_until_it_ends() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, rita) = telling(vec![to_people("people", server, &["rita-alpha", "ralf-alpha"])]).await;
    let before = app.size();
    goes_away(&rita, "ralf-alpha").await.is(200);
    assert_eq!(app.kinds_from(before).await, ["identity.went_away"], "it is on the record");
    agent.proposes(app.team.run, &scan()).await;
    let letters = office.until_taken(1).await;
    assert_eq!(letters[0].to, "ralf-alpha@example.org");
    assert!(letters[0].body.contains("for rita-alpha, who is away until 2026-02-02 09:30 UTC"), "{}", letters[0].body);
    app.pass_ms(2 * DAY_MS);
    agent.proposes(app.team.run, &crate::moves::sweep()).await;
    let letters = office.until_taken(3).await;
    let mut told: Vec<_> = letters[1..].iter().map(|letter| letter.to.as_str()).collect();
    told.sort_unstable();
    assert_eq!(told, ["ralf-alpha@example.org", "rita-alpha@example.org"], "it ended by itself");
    assert!(letters[1..].iter().all(|letter| !letter.body.contains("away until")));
}

#[tokio::test]
async fn a13_who_is_away_now_is_told_to_colleagues_and_to_nobody_else() {
    let (app, _, rita, _) = Scenario::start().await;
    let away =
        async |person: &Person| person.get(&ListAbsences {}.path()).await.is(200).json::<Value>()["absences"].clone();
    assert_eq!(away(&rita).await, json!([]));
    goes_away(&rita, "ralf-alpha").await.is(200);
    let told = json!([{
        "id": rita.id, "name": "rita-alpha", "to": app.team.second.id, "to_name": "ralf-alpha",
        "until": "2026-02-02T09:30:00.000Z", "unreached": false,
    }]);
    assert_eq!(away(&app.team.second).await, told);
    assert_eq!(away(&app.auditor).await, told);
    // Whoever shares no project with her does not even learn that there is somebody.
    let beta: Value = app.admin.post(&CreateProject {}.path(), &json!({ "name": "beta" })).await.is(201).json();
    let stranger = app.hire(json!({ "name": "sam", "roles": ["reviewer"], "projects": [beta["id"]] })).await;
    assert_eq!(away(&stranger).await, json!([]));
    app.pass_ms(2 * DAY_MS);
    assert_eq!(away(&rita).await, json!([]), "it ended by itself");
}

#[tokio::test]
async fn a13_what_a_stand_in_refuses_comes_to_whoever_is_away_and_that_is_on_the_record_once() {
    let office = PostOffice::open(&json!({ "tls": "none", "refuse": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, rita) = telling(vec![to_people("people", server, &["rita-alpha", "ralf-alpha"])]).await;
    goes_away(&rita, "ralf-alpha").await.is(200);
    let before = app.size();
    let noted = || async {
        app.kinds_from(before).await.into_iter().filter(|kind| kind == "identity.stand_in_unreached").count()
    };
    for taken in [1, 2] {
        let action = agent.proposes(app.team.run, &scan()).await;
        let letters = office.until_taken(taken).await;
        let letter = &letters[taken - 1];
        assert_eq!(letter.to, "rita-alpha@example.org");
        assert!(letter.body.contains(&action.id.to_string()) && !letter.body.contains("away until"), "{}", letter.body);
    }
    let recorded = async {
        while noted().await == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::scenario::PATIENCE, recorded).await.expect("it is on the record");
    assert_eq!(noted().await, 1, "once for each time that somebody is away");
}

#[tokio::test]
async fn a13_what_a_stand_in_was_owed_who_is_gone_comes_to_whoever_is_away() {
    let office = PostOffice::open(&json!({ "tls": "none", "full": "ralf-alpha@example.org" })).await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, rita) = telling(vec![to_people("people", server, &["rita-alpha", "ralf-alpha"])]).await;
    goes_away(&rita, "ralf-alpha").await.is(200);
    let waiting = agent.proposes(app.team.run, &scan()).await;
    office.until_said("full").await;
    app.admin.post(&RevokeIdentity { identity: app.team.second.id }.path(), &json!({})).await.is(200);
    let letters = office.until_taken(1).await;
    assert_eq!(letters[0].to, "rita-alpha@example.org");
    assert!(letters[0].body.contains(&waiting.id.to_string()), "{}", letters[0].body);
}

#[tokio::test]
async fn a13_standing_in_hands_over_no_right_and_what_the_stand_in_cannot_decide_comes_to_oneself() {
    let office = PostOffice::plain().await;
    let server = office.server(Security::None, None, dialer(None));
    let (app, agent, rita) = telling(vec![]).await;
    let beta = app.neighbours("beta").await;
    let projects = json!([app.team.project, beta.project]);
    let wide = app.hire(json!({ "name": "wanda", "roles": ["reviewer"], "projects": projects })).await;
    let mut app = app;
    app.restart_telling(crate::telling::routes(vec![to_people("people", server, &["wanda", "rita-alpha"])])).await;
    goes_away(&wide, "rita-alpha").await.is(200);
    let theirs = beta.agent.proposes(beta.run, &scan()).await;
    let letters = office.until_taken(1).await;
    assert_eq!(letters[0].to, "wanda@example.org", "rita sees nothing of beta, and is told nothing of it");
    rita.approves(&theirs).await.problem(404, "unknown");
    agent.proposes(app.team.run, &scan()).await;
    let letters = office.until_taken(2).await;
    assert_eq!(letters[1].to, "rita-alpha@example.org");
}

#[tokio::test]
async fn a13_nobody_learns_by_naming_a_stand_in_who_there_is_elsewhere() {
    let (app, _, rita, _) = Scenario::start().await;
    let beta = app.neighbours("beta").await;
    let nobody: Value = goes_away(&rita, "nobody-at-all").await.is(404).json();
    for hidden in ["rita-beta".to_owned(), beta.reviewer.id.to_string()] {
        let told: Value = goes_away(&rita, &hidden).await.is(404).json();
        assert_eq!(told["detail"], nobody["detail"]);
    }
    goes_away(&rita, "rita-alpha").await.problem(422, "invalid");
    goes_away(&rita, "olga-alpha").await.problem(422, "invalid");
    let path = format!("/api/v1/identities/{}/away", app.team.second.id);
    let other = json!({ "to": "rita-alpha", "until": "2026-02-02T09:30:00Z" });
    rita.post(&path, &other).await.problem(404, "unknown");
    let bad = json!({ "to": "ralf-alpha", "until": "tomorrow" });
    rita.post(&StartAbsence { identity: rita.id }.path(), &bad).await.problem(400, "bad_body");
}
