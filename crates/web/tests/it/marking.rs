//! Marks on files: one's own, about these bytes at this path, and nothing is decided by them.

use serde_json::json;

use crate::browser::{Browser, Filled};
use crate::deciding::state;
use crate::scenario::Scenario;
use crate::showing::file;

/// The mark on a file of this number, as the page offers it.
fn marking(browser: &Browser, page: &crate::person::Answer, index: usize, wanted: &str) -> Filled {
    let form = browser.form(page, "reject");
    let form = Filled { to: form.to.replace("/reject", "/seen"), ..form };
    assert!(page.text().contains(&format!("action=\"{}\"", form.to)), "the page offers it");
    form.with("file", &index.to_string()).with("seen-file", wanted)
}

#[tokio::test]
async fn c16_what_a_reviewer_marked_as_seen_is_folded_wherever_the_same_bytes_stand_at_the_same_path() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (a, b) = (file(&app, "docs/a.sh", b"echo a\n").await, file(&app, "docs/b.sh", b"echo b\n").await);
    let other = file(&app, "docs/a.sh", b"echo other\n").await;
    let moved = file(&app, "docs/c.sh", b"echo a\n").await;
    let wish = |files: serde_json::Value| json!({ "tool": "sh", "arguments": ["true"], "network": ["http://10.0.0.5/"], "files": files });
    let first = agent.proposes(app.team.run, &wish(json!([a, b]))).await;
    let second = agent.proposes(app.team.run, &wish(json!([a, moved]))).await;
    let third = agent.proposes(app.team.run, &wish(json!([other]))).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let path = |action: &placet_wire::api::ActionView| format!("/actions/{}", action.id);
    let page = rita.open(&path(&first)).await.is(200);
    assert!(page.text().contains("<strong>0 of 2</strong>"), "{}", page.text());
    let size = app.size();
    let answer = rita.send(&marking(&rita, &page, 0, "yes")).await.is(303);
    assert_eq!(answer.header("location"), format!("/actions/{}#files", first.id));
    assert_eq!((app.size(), state(&reviewer, &first).await.as_str()), (size, "PENDING_APPROVAL"), "it decides nothing");
    let tally = async |browser: &Browser, action: &placet_wire::api::ActionView| {
        let text = browser.open(&path(action)).await.is(200).text();
        (text.matches("seen by you").count(), text.matches("<details class=\"file\" open>").count())
    };
    assert_eq!(tally(&rita, &first).await, (1, 1));
    assert_eq!(tally(&rita, &second).await, (1, 1), "the same bytes at the same path, not at another");
    assert_eq!(tally(&rita, &third).await, (0, 1), "other bytes are new");
    let ralf = Browser::visiting(&app, &app.team.second).await;
    assert_eq!(tally(&ralf, &first).await, (0, 2), "a mark is its person's own");
    // Whoever marked nothing decides all the same, and a mark is taken back.
    app.team.second.approves(&second).await.is(200);
    let page = rita.open(&path(&first)).await.is(200);
    rita.send(&marking(&rita, &page, 0, "no")).await.is(303);
    assert_eq!(tally(&rita, &first).await, (0, 2));
    let decided = rita.open(&path(&second)).await.is(200).text();
    assert!(
        !decided.contains("Mark as seen") && !decided.contains("files seen"),
        "nothing is left to be marked: {decided}"
    );
}

#[tokio::test]
async fn c16_nobody_marks_what_an_action_is_not_given_or_what_they_do_not_review() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let a = file(&app, "docs/a.sh", b"echo a\n").await;
    let wish = json!({ "tool": "sh", "arguments": ["true"], "network": ["http://10.0.0.5/"], "files": [a] });
    let action = agent.proposes(app.team.run, &wish).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    for (index, wanted) in [(1, "yes"), (0, "perhaps"), (usize::MAX, "yes")] {
        rita.send(&marking(&rita, &page, index, wanted)).await.is(400);
    }
    let form = marking(&rita, &page, 0, "yes");
    rita.send(&form.clone().with("csrf", "of another visit")).await.is(403);
    let beta = app.neighbours("beta").await;
    let mut bea = Browser::visiting(&app, &beta.reviewer).await;
    let hers = bea.form(&bea.open("/settings").await.is(200), "halt").with("file", "0").with("seen-file", "yes");
    bea.send(&Filled { to: form.to.clone(), ..hers }).await.is(404);
    let mut olga = Browser::visiting(&app, &app.team.operator).await;
    let page = olga.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(!page.contains("Mark as seen") && !page.contains("files seen"), "{page}");
    let hers = olga.form(&olga.open("/settings").await.is(200), "halt").with("file", "0").with("seen-file", "yes");
    olga.send(&Filled { to: form.to, ..hers }).await.is(403);
}
