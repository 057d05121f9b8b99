//! Standing orders by pages: given beside a decision, listed with what is left of them, taken back.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::StoreEvidence;
use serde_json::json;

use crate::browser::Browser;
use crate::moves::{scan, sweep};
use crate::scenario::{Scenario, rules_with};

/// Writing takes one person.
const WRITING_ASKS: &str = r#"
@id("write.one")
@risk("0.10")
@reason("the docs are read by customers")
@matches("tee docs/a.md")
@misses("cat README.md")
forbid (principal, action == Action::"create_file", resource)
unless { context.approvals >= 1 };
"#;

#[tokio::test]
async fn b4_an_order_is_given_listed_used_and_taken_back_by_pages() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let no = agent.proposes(app.team.run, &scan()).await;
    reviewer.rejects(&no).await.is(200);
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let text = page.text();
    for told in ["Approve this and its like", "the same question", "nobody will look", "somebody rejected it"] {
        assert!(text.contains(told), "`{told}` is not said:\n{text}");
    }
    let form = rita.form(&page, "order").with("minutes", "30").with("times", "2");
    assert_eq!(form.fields.iter().find(|(name, _)| name == "width").map(|(_, value)| value.as_str()), Some("exact"));
    let before = app.size();
    let answer = rita.send(&form).await.is(303);
    assert_eq!(app.kinds_from(before).await, ["action.approved", "run.order_given"]);
    let next = rita.open(answer.header("location")).await.is(200).text();
    let told = next.split("id=\"just\"").nth(1).unwrap().split("</p>").next().unwrap();
    let there = format!("<a href=\"/runs/{}#orders\">you gave order 1</a> (2 more of its like)", app.team.run);
    assert!(told.contains("You approved <a") && told.contains(&there), "one goes on as after any decision: {told}");
    let run = rita.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(run.contains("Standing orders") && run.contains("<strong>0</strong> of 2"), "{run}");
    let passed = agent.proposes(app.team.run, &scan()).await;
    let shown = rita.open(&format!("/actions/{}", passed.id)).await.is(200).text();
    assert!(shown.contains("nobody looked at this one: approved by order"), "{shown}");
    assert!(shown.contains(&format!("/runs/{}#orders", app.team.run)));
    let orders = rita.open("/orders").await.is(200);
    assert!(orders.text().contains("<strong>1</strong> of 2") && orders.text().contains("rita-alpha"));
    let mut olga = Browser::visiting(&app, &app.team.operator).await;
    let revoke = olga.form(&olga.open("/orders").await.is(200), "").with("reason", "enough <b>");
    olga.send(&revoke).await.is(303);
    assert!(rita.open("/orders").await.is(200).text().contains("No order stands."));
    let run = rita.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(run.contains("REVOKED") && run.contains("enough &lt;b&gt;"), "{run}");
    rita.send(&form).await.is(409);
}

#[tokio::test]
async fn b4_an_order_by_a_page_is_about_what_was_shown_and_says_all_of_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = rita.form(&page, "order").with("minutes", "30").with("times", "2");
    let before = app.size();
    let other = Digest::of(b"what somebody else was shown").to_string();
    rita.send(&form.clone().with("seen", &other)).await.is(412);
    for (field, wrong, status) in [
        ("minutes", "", 400),
        ("minutes", "soon", 400),
        ("minutes", "0", 422),
        ("minutes", "481", 422),
        ("times", "", 400),
        ("times", "0", 422),
        ("times", "99999999999", 400),
        ("width", "all of it", 400),
        ("width", "contents", 422),
        ("csrf", "", 403),
    ] {
        rita.send(&form.clone().with(field, wrong)).await.is(status);
    }
    assert_eq!(app.size(), before, "nothing was decided");
}

#[tokio::test]
async fn b4_no_order_is_offered_where_none_can_be_given() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (two, one) = (agent.proposes(app.team.run, &sweep()).await, agent.proposes(app.team.run, &scan()).await);
    let rita = Browser::visiting(&app, &reviewer).await;
    assert!(!rita.open(&format!("/actions/{}", two.id)).await.is(200).text().contains("id=\"order\""));
    let olga = Browser::visiting(&app, &app.team.operator).await;
    assert!(!olga.open(&format!("/actions/{}", one.id)).await.is(200).text().contains("id=\"order\""));
}

#[tokio::test]
async fn t8_orders_of_another_project_are_on_nobodys_page_and_looking_takes_nothing_back() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/actions/{}/order", action.id);
    reviewer.post_if(&path, action.review, &json!({})).await.is(201);
    let beta = app.neighbours("beta").await;
    let stranger = Browser::visiting(&app, &beta.reviewer).await;
    assert!(stranger.open("/orders").await.is(200).text().contains("No order stands."));
    let otto = Browser::visiting(&app, &app.auditor).await;
    let page = otto.open("/orders").await.is(200).text();
    assert!(page.contains("STANDS") && !page.contains("/revoke"), "{page}");
}

#[tokio::test]
async fn c16_orders_are_told_in_french_too() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    rita.language = "fr";
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("Approuver celle-ci et ses semblables"), "{page}");
    assert!(rita.open("/orders").await.is(200).text().contains("Aucune consigne en vigueur."));
}

#[tokio::test]
async fn r5_a_file_is_never_compared_with_contents_that_only_an_order_let_pass() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    app.restart_under(rules_with(WRITING_ASKS)).await;
    let write = async |content: &'static [u8], more: &str| -> api::ActionView {
        let digest = Digest::of(content);
        agent.put(&StoreEvidence { project: app.team.project, digest }.path(), content).await.is(201);
        let files = json!([{ "path": "docs/in.md", "digest": digest, "size_bytes": content.len() }]);
        agent.proposes(app.team.run, &json!({ "tool": "tee", "arguments": [more], "files": files })).await
    };
    let first = write(b"read by rita\n", "docs/a.md").await;
    let path = format!("/api/v1/actions/{}/order", first.id);
    reviewer.post_if(&path, first.review, &json!({ "width": "contents" })).await.is(201);
    worker.executes(&worker.leases().await.unwrap()).await;
    let unseen = write(b"slipped in\n", "docs/a.md").await;
    assert_eq!(unseen.approvals[0].order, Some(1));
    worker.executes(&worker.leases().await.unwrap()).await;
    let last = write(b"slipped in\nand more\n", "docs/b.md").await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", last.id)).await.is(200).text();
    assert!(page.contains("read by rita"), "what somebody read is what it is compared with:\n{page}");
}
