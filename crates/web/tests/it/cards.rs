//! The card: small in the inbox whatever somebody proposes, with whom it concerns, and what was decided before.

use placet_wire::api::ActionView;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::moves::{scan, sweep};
use crate::person::Person;
use crate::scenario::Scenario;
use crate::showing::file;

/// The aim for a page with everything that comes with it.
const MOST_BYTES: usize = 100_000;

/// What the inbox takes with this action chosen, style, script and icon included, and its text.
async fn inbox_of(app: &Scenario, reviewer: &Person, action: &ActionView) -> (usize, String) {
    let browser = Browser::visiting(app, reviewer).await;
    let page = browser.open(&format!("/?action={}", action.id)).await.is(200);
    let text = page.text();
    let mut sum = page.body.len();
    for part in text.split('"').filter(|part| part.starts_with("/assets/")) {
        sum += browser.open(part).await.is(200).body.len();
    }
    (sum, text)
}

/// The inbox stays small and leads to the whole card, which has everything and the way to approve it.
async fn assert_folded(what: &str, wish: &Value, shown: &[&str]) {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for number in 0..49 {
        agent
            .proposes(
                app.team.run,
                &json!({ "tool": "nmap", "arguments": ["-sV"], "target": format!("10.0.0.{number}") }),
            )
            .await;
    }
    let action = agent.proposes(app.team.run, wish).await;
    let (size, inbox) = inbox_of(&app, &reviewer, &action).await;
    assert!(size <= MOST_BYTES, "{what}: {size}");
    assert!(
        inbox.contains("This card is long") && inbox.contains(&format!("href=\"/actions/{}\"", action.id)),
        "{what}: {inbox}"
    );
    assert!(!inbox.contains("id=\"approve\""), "{what}: nobody approves what they were not shown");
    let whole = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(whole.contains("id=\"approve\"") && !whole.contains("This card is long"), "{what}");
    for part in shown {
        assert!(whole.contains(part), "{what}: `{part}` is not on the whole card");
    }
}

#[tokio::test]
async fn c16_an_inbox_stays_small_whatever_the_arguments_of_a_card_are() {
    let long = format!("{}; rm -rf docs", "echo x; ".repeat(4_000));
    assert_folded("one long argument", &json!({ "tool": "sh", "arguments": [long] }), &["rm -rf docs"]).await;
    let hidden = format!("{}; rm -rf docs", "\u{202e}a\u{200b}".repeat(1_000));
    assert_folded("one of tricks", &json!({ "tool": "sh", "arguments": [hidden] }), &["rm -rf docs", "⟦U+202E⟧"]).await;
}

#[tokio::test]
async fn c16_an_inbox_stays_small_whatever_files_a_card_has() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let large = format!("{}rm -rf docs\n", "echo nothing to see in this line\n".repeat(1_300));
    let one = file(&app, "docs/large.sh", large.as_bytes()).await;
    let action =
        agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["docs/large.sh"], "files": [one] })).await;
    let (size, inbox) = inbox_of(&app, &reviewer, &action).await;
    assert!(
        size <= MOST_BYTES && inbox.contains("docs/large.sh") && inbox.contains("This card is long"),
        "{size}: {inbox}"
    );
    assert!(inbox.contains("within the scope"), "{inbox}");
    let mut many = Vec::new();
    for number in 0..60 {
        many.push(file(&app, &format!("docs/{number}.sh"), format!("echo {number}\n").repeat(40).as_bytes()).await);
    }
    let action = agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["true"], "files": many })).await;
    let (size, inbox) = inbox_of(&app, &reviewer, &action).await;
    assert!(size <= MOST_BYTES && inbox.contains("<strong>50</strong> more files"), "{size}: {inbox}");
}

#[tokio::test]
async fn b4_a_card_says_who_can_decide_where_its_run_is_and_how_others_were_decided() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let before =
        agent.proposes(app.team.run, &json!({ "tool": "nmap", "arguments": ["-sV"], "target": "10.0.0.9" })).await;
    reviewer.rejects(&before).await.is(200);
    let action = agent.proposes(app.team.run, &scan()).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("Who can decide: <strong>") && page.contains("step 1 of 2"), "{page}");
    assert!(page.contains("by the policy of version"), "{page}");
    let (_, past) = page.split_once("class=\"plain past\"").unwrap_or_else(|| panic!("{page}"));
    assert!(
        past.contains(&format!("/actions/{}\">nmap ", before.id)) && past.contains("REJECTED") && past.contains("<q>"),
        "{past}"
    );
}

#[tokio::test]
async fn b4_identical_actions_are_approved_together_from_the_page_of_one_of_them() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let first = agent.proposes(app.team.run, &scan()).await;
    let second = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", second.id)).await.is(200);
    assert!(page.text().contains("Approve all identical (2)") && page.text().contains(&first.id.to_string()));
    rita.send(&rita.form(&page, "approve-all")).await.is(303);
    for action in [first, second] {
        assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "APPROVED");
    }
}

#[tokio::test]
async fn b4_after_many_at_once_it_is_told_how_many_they_were_and_no_more_than_are_on_the_record() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for _ in 0..3 {
        agent.proposes(app.team.run, &scan()).await;
    }
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open("/").await.is(200);
    let there = rita.send(&rita.form(&page, "approve-all")).await.is(303).header("location").to_owned();
    let other = agent.proposes(app.team.run, &sweep()).await;
    rita.send(&rita.form(&rita.open(&format!("/actions/{}", other.id)).await, "approve").with("confirm", "nmap"))
        .await
        .is(303);
    let told = just(&rita.open(&there).await.is(200).text()).expect("what was decided is told");
    assert!(told.contains("You approved 3 identical actions: <a") && told.contains("nmap"), "{told}");
    let claimed = there.replace("with=2", "with=40");
    assert!(just(&rita.open(&claimed).await.is(200).text()).unwrap().contains("You approved 3 identical"));
    rita.language = "fr";
    assert!(just(&rita.open(&there).await.is(200).text()).unwrap().contains("approuvé 3 actions identiques : <a"));
    let ralf = Browser::visiting(&app, &app.team.second).await;
    assert_eq!(just(&ralf.open(&there).await.is(200).text()), None, "nobody is told that they decided what others did");
}

#[tokio::test]
async fn b4_what_looks_like_an_approved_one_and_has_other_contents_says_so_at_its_head() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let install = async |content: &str| -> ActionView {
        let files = [file(&app, "docs/a.sh", content.as_bytes()).await];
        agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["docs/a.sh"], "files": files })).await
    };
    let first = install("echo one\n").await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let head = async |action: &ActionView| -> String {
        let page = rita.open(&format!("/actions/{}", action.id)).await.is(200).text();
        page.split("<header>").nth(1).unwrap().split("</header>").next().unwrap().to_owned()
    };
    assert!(!head(&first).await.contains("lookalike"), "nothing was approved before");
    approved(&app, &first).await;
    let (other, same) = (install("rm -r docs\n").await, install("echo one\n").await);
    let told = head(&other).await;
    assert!(
        told.contains("its files have other contents") && told.contains(&format!("/actions/{}", first.id)),
        "{told}"
    );
    assert!(!head(&same).await.contains("lookalike"), "what is identical is no lookalike");
    assert!(!head(&first).await.contains("lookalike"), "nor is what was decided");
}

#[tokio::test]
async fn b4_what_one_of_two_people_said_yes_to_was_not_approved_and_nothing_is_compared_with_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let sweeping = async |content: &str| -> ActionView {
        let mut wish = sweep();
        wish["files"] = json!([file(&app, "docs/hosts", content.as_bytes()).await]);
        agent.proposes(app.team.run, &wish).await
    };
    let first = sweeping("10.0.0.5\n").await;
    assert_eq!(first.approvals_missing, 2);
    app.team.reviewer.approves(&first).await.is(200);
    app.team.second.rejects(&first).await.is(200);
    let other = sweeping("10.0.0.6\n").await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", other.id)).await.is(200).text();
    assert!(!page.contains("lookalike"), "{page}");
}

/// By as many people as it takes.
async fn approved(app: &Scenario, action: &ActionView) {
    for person in [&app.team.reviewer, &app.team.second].into_iter().take(action.approvals_missing) {
        person.approves(action).await.is(200);
    }
}

#[tokio::test]
async fn b4_where_two_people_said_yes_both_are_named_and_one_approval_is_spoken_of_as_one() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (two, one) = (agent.proposes(app.team.run, &sweep()).await, agent.proposes(app.team.run, &scan()).await);
    approved(&app, &two).await;
    approved(&app, &one).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", two.id)).await.is(200).text();
    let told = page.split("id=\"decided\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(told.contains("by <strong>rita-alpha</strong>, <strong>ralf-alpha</strong>"), "{told}");
    assert!(page.contains("<strong>2 of 2</strong> approvals given"), "{page}");
    rita.language = "fr";
    let page = rita.open(&format!("/actions/{}", one.id)).await.is(200).text();
    assert!(page.contains("<strong>1 sur 1</strong> approbation donnée ·"), "{page}");
}

/// The line that tells what was just decided.
fn just(page: &str) -> Option<String> {
    Some(page.split("id=\"just\"").nth(1)?.split("</p>").next()?.to_owned())
}

#[tokio::test]
async fn c16_a_refusal_is_told_in_the_language_of_the_page() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    rita.language = "fr";
    let form = rita.form(&rita.open(&format!("/actions/{}", action.id)).await.is(200), "approve");
    app.team.second.approves(&action).await.is(200);
    let page = rita.send(&form).await.text();
    assert!(
        page.contains("impossible dans l&#39;état")
            || page.contains("impossible dans l'état")
            || page.contains("ce que vous avez vu"),
        "{page}"
    );
    let nowhere = rita.open("/runs/run_00000000000000000000000000000000").await.is(404).text();
    assert!(nowhere.contains("introuvable : l'exécution"), "{nowhere}");
}
