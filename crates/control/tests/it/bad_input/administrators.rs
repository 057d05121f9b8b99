//! Administrators of one project stay administrators of one project.

use placet_wire::api;
use serde_json::json;

use crate::person::Person;
use crate::scenario::Scenario;

async fn limited_admin(app: &Scenario) -> Person {
    app.hire(json!({ "name": "ann", "roles": ["admin"], "projects": [app.team.project] })).await
}

#[tokio::test]
async fn i8_nobody_makes_an_identity_that_reaches_further_than_they_do() {
    let (app, _, _, _) = Scenario::start().await;
    let (others, admin) = (app.neighbours("beta").await, limited_admin(&app).await);
    let before = app.size();
    for projects in [json!(null), json!([others.project]), json!([app.team.project, others.project])] {
        let new = json!({ "name": "spy", "roles": ["admin", "reviewer"], "projects": projects });
        admin.post("/api/v1/identities", &new).await.problem(422, "invalid");
    }
    let adopted =
        json!({ "name": "spy", "roles": ["agent"], "projects": [app.team.project], "parent": others.agent.id });
    admin.post("/api/v1/identities", &adopted).await.problem(404, "unknown");
    assert_eq!(app.size(), before);
    let new = json!({ "name": "colleague", "roles": ["reviewer"], "projects": [app.team.project] });
    admin.post("/api/v1/identities", &new).await.is(201);
}

#[tokio::test]
async fn i8_nobody_takes_over_an_identity_that_reaches_further_than_they_do() {
    let (app, agent, _, _) = Scenario::start().await;
    let (others, admin) = (app.neighbours("beta").await, limited_admin(&app).await);
    let before = app.size();
    for victim in [&app.admin, &app.auditor, &others.agent, &others.reviewer] {
        for verb in ["token", "revoke"] {
            let path = format!("/api/v1/identities/{}/{verb}", victim.id);
            admin.post(&path, &json!({})).await.problem(404, "unknown");
        }
        victim.get("/api/v1/whoami").await.is(200);
    }
    assert_eq!(app.size(), before);
    admin.post(&format!("/api/v1/identities/{}/revoke", agent.id), &json!({})).await.is(200);
    agent.get("/api/v1/whoami").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn i8_nobody_decides_for_projects_that_they_do_not_reach() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let admin = limited_admin(&app).await;
    let limits = json!({ "limits": { "pages": 1_000 } });
    app.team.operator.cancels(app.team.run).await.is(200);
    app.admin.post("/api/v1/organisation/budget", &limits).await.is(200);
    admin.post("/api/v1/organisation/budget", &limits).await.problem(403, "reach");
    reviewer.post("/api/v1/halt", &json!({ "reason": "fire" })).await.is(200);
    admin.post("/api/v1/release", &json!({ "reason": "it is out" })).await.problem(403, "reach");
    let (whole, part): (api::OrganisationView, api::OrganisationView) = (
        app.admin.get("/api/v1/organisation").await.is(200).json(),
        admin.get("/api/v1/organisation").await.is(200).json(),
    );
    assert!(whole.budget.is_some() && part.budget.is_none(), "what others use up is none of their business");
    assert!(whole.halted && part.halted);
}
