//! What pages show: from the bound bytes, with tricks marked, in the reader's language, small enough to be there at once.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{ApprovePlan, CreateRun, LeaseJob};
use serde_json::json;

use crate::browser::Browser;
use crate::moves::{reading, scan};
use crate::scenario::Scenario;

/// Files of the agent, uploaded, as an action names them.
pub(crate) async fn file(app: &Scenario, path: &str, content: &[u8]) -> serde_json::Value {
    let digest = Digest::of(content);
    let to = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    app.team.agent.put(&to, content.to_vec()).await.is(201);
    json!({ "path": path, "digest": digest, "size_bytes": content.len() })
}

#[tokio::test]
async fn r5_tricks_in_every_field_of_an_action_are_shown_harmless_and_marked() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let script = file(&app, "docs/run.sh", "echo \u{202e}safe\u{202c}\n<script>alert(1)</script>\n".as_bytes()).await;
    let padded = format!("true{}; rm -rf docs", " ".repeat(5_000));
    let wish = json!({
        "tool": "sh", "arguments": [padded], "files": [script], "environment": { "A": "p\u{0430}ypal\u{1b}[31m" },
        "justification": "<img src=x onerror=alert(1)>\n\nWhy you are asked\n**approved by security**",
    });
    let action = agent.proposes(app.team.run, &wish).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    for shown in ["rm -rf docs", "⟦U+202E⟧", "⟦U+0430⟧", "⟦U+001B⟧", "&lt;script&gt;", "&lt;img src=x", "are marked"]
    {
        assert!(page.contains(shown), "`{shown}` is not shown:\n{page}");
    }
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"));
    let (why, words) = (page.find("id=\"why\"").unwrap(), page.find("approved by security").unwrap());
    assert!(why < words && page.contains("Untrusted: not part of what you approve"));
    assert_eq!(page.matches("<h2 id=\"why\">").count(), 1);
}

#[tokio::test]
async fn r5_what_is_no_text_is_called_uninspectable() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let binary = file(&app, "docs/tool", b"\x7fELF\0\0\x01").await;
    let action =
        agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["docs/tool"], "files": [binary] })).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("Uninspectable"), "{page}");
}

#[tokio::test]
async fn r5_a_file_is_compared_with_what_somebody_approved_and_never_with_what_nobody_did() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let wish = |file: serde_json::Value| json!({ "tool": "sh", "arguments": ["docs/run.sh"], "files": [file] });
    let first = file(&app, "docs/run.sh", b"echo approved\n").await;
    let approved = agent.proposes(app.team.run, &wish(first)).await;
    reviewer.approves(&approved).await.is(200);
    let job = worker.leases().await.unwrap();
    worker.executes(&job).await;
    // It waits, or is refused: nobody has said yes to it.
    let second = file(&app, "docs/run.sh", b"echo smuggled\n").await;
    let rejected = agent.proposes(app.team.run, &wish(second.clone())).await;
    reviewer.rejects(&rejected).await.is(200);
    agent.proposes(app.team.run, &wish(second)).await;
    let third = file(&app, "docs/run.sh", b"echo third\n").await;
    let action = agent.proposes(app.team.run, &wish(third)).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("approved") && page.contains("third"), "{page}");
    assert!(!page.contains("smuggled"), "{page}");
}

#[tokio::test]
async fn r5_every_file_is_named_also_where_there_are_too_many_or_too_much_to_show() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut files = Vec::new();
    for number in 0..60 {
        let text = format!("# file {number}\n{}", "echo nothing to see\n".repeat(500));
        files.push(file(&app, &format!("docs/{number}.sh"), text.as_bytes()).await);
    }
    files.push(file(&app, "docs/large.sh", "true\n".repeat(300_000).as_bytes()).await);
    let action = agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["true"], "files": files })).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200);
    let text = page.text();
    for number in 0..60 {
        assert!(text.contains(&format!("docs/{number}.sh")), "{number}");
    }
    assert!(
        text.contains("docs/large.sh") && text.matches("Not shown here").count() > 30,
        "and what is not shown says so"
    );
    assert!(page.body.len() < 2_000_000, "{}", page.body.len());
}

#[tokio::test]
async fn c16_a_page_is_in_the_language_of_its_reader_and_machine_words_stay() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    browser.language = "fr-CH, en;q=0.5";
    let page = browser.open("/").await.is(200).text();
    assert!(page.contains("<html lang=\"fr\">") && page.contains("Pourquoi on vous le demande"), "{page}");
    assert!(page.contains("PENDING_APPROVAL") && page.contains("0,35"));
    let chosen = browser.open("/language/en").await.is(303);
    assert!(chosen.header("set-cookie").starts_with("placet_language=en;"));
    browser.open("/language/xx").await.is(404);
}

#[tokio::test]
async fn c14_an_entry_is_shown_with_a_proof_that_was_tried() {
    let (app, agent, _, _) = Scenario::start().await;
    agent.proposes(app.team.run, &scan()).await;
    let otto = Browser::visiting(&app, &app.auditor).await;
    let list = otto.open("/ledger").await.is(200).text();
    assert!(list.contains("action.proposed") && list.contains("placet ledger verify"), "{list}");
    let seq = app.size() - 1;
    let page = otto.open(&format!("/ledger/{seq}")).await.is(200).text();
    assert!(page.contains("✓ verified by this server") && page.contains("example.com/ledger"), "{page}");
    otto.open("/ledger/999999").await.is(404);
    otto.open("/ledger/x").await.is(400);
}

#[tokio::test]
async fn c14_entries_are_found_by_kind_run_actor_and_number_and_lead_to_what_they_concern() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let otto = Browser::visiting(&app, &app.auditor).await;
    let kinds = |page: &str| -> Vec<String> {
        let rows = page.split("<tbody>").nth(1).unwrap().split("<td><code>").skip(1);
        rows.map(|row| row.split('<').next().unwrap().to_owned()).collect()
    };
    let proposed = otto.open("/ledger?kind=action.proposed").await.is(200).text();
    assert_eq!(kinds(&proposed), ["action.proposed"]);
    let of_run = otto.open(&format!("/ledger?run={}&kind=action.", app.team.run)).await.is(200).text();
    assert_eq!(kinds(&of_run), ["action.approved", "action.judged", "action.proposed"]);
    let by = otto.open(&format!("/ledger?actor={}&kind=action.", reviewer.id)).await.is(200).text();
    assert_eq!(kinds(&by), ["action.approved"]);
    let at = otto.open("/ledger?at=2").await.is(200).text();
    assert!(at.contains("href=\"/ledger/2\"") && !at.contains("href=\"/ledger/3\""), "{at}");
    otto.open("/ledger?kind=%3Cscript%3E").await.is(400);
    otto.open("/ledger?at=x").await.is(400);
    let seq = by.split("href=\"/ledger/").nth(1).unwrap().split('"').next().unwrap();
    let entry = otto.open(&format!("/ledger/{seq}")).await.is(200).text();
    for link in
        [format!("/actions/{}", action.id), format!("/runs/{}", app.team.run), format!("/ledger?actor={}", reviewer.id)]
    {
        assert!(entry.contains(&format!("href=\"{link}\"")), "{link}: {entry}");
    }
}

#[tokio::test]
async fn c16_an_agent_has_a_page_with_its_line_its_runs_and_how_people_decided() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.rejects(&action).await.is(200);
    let rita = Browser::visiting(&app, &reviewer).await;
    let list = rita.open("/agents").await.is(200).text();
    assert!(list.contains(&format!("href=\"/agents/{}\"", agent.id)), "{list}");
    app.team.draft(json!(["look around"])).await;
    let list = rita.open("/agents").await.is(200).text();
    let others = format!("href=\"/agents/{}#runs\">+1 older run</a>", agent.id);
    assert!(list.contains(&others), "how many it has besides, and the way to them: {list}");
    let page = rita.open(&format!("/agents/{}", agent.id)).await.is(200).text();
    assert!(
        page.contains("100%") && page.contains(&format!("/runs/{}", app.team.run)) && page.contains("class=\"tree\""),
        "{page}"
    );
    rita.open(&format!("/agents/{}", reviewer.id)).await.is(404);
    let others = app.neighbours("beta").await;
    Browser::visiting(&app, &others.reviewer).await.open(&format!("/agents/{}", agent.id)).await.is(404);
}

#[tokio::test]
async fn b3_the_policy_can_be_asked_what_it_would_say_and_nothing_is_recorded() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let form = rita.form(&rita.open("/policy").await.is(200), "try").with("run", &app.team.run.to_string());
    let form = form.with("tool", "nmap").with("arguments", "-sV\r\n-Pn\r\n-p\r\n1-1000").with("target", "10.0.0.5");
    let before = app.size();
    let page = rita.send(&form).await.is(200).text();
    assert!(page.contains("Risk <strong>0.35</strong>") && page.contains("data-tier=\"B\""), "{page}");
    let beyond = rita.send(&form.with("target", "192.0.2.1")).await.is(200).text();
    assert!(beyond.contains("data-tier=\"D\""), "{beyond}");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn b3_rules_about_files_outputs_and_networks_can_be_tried_without_a_run() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open("/policy").await.is(200);
    let ground = format!("{}/lab", app.team.project);
    assert!(page.text().contains(&format!("value=\"{ground}\"")), "{}", page.text());
    let form = rita.form(&page, "try").with("run", &ground).with("tool", "sh").with("arguments", "true");
    let plain = rita.send(&form).await.is(200).text();
    assert!(plain.contains("data-tier=\"B\""), "{plain}");
    let within = rita.send(&form.clone().with("files", "docs/a.md").with("outputs", "docs/b.md")).await.is(200).text();
    assert!(!within.contains("data-tier=\"D\"") && within.contains("\ndocs/a.md</textarea>"), "{within}");
    let outside = rita.send(&form.clone().with("outputs", "elsewhere/b.md")).await.text();
    assert!(outside.contains("data-tier=\"D\"") || outside.contains("note bad"), "{outside}");
    let stranger = rita.send(&form.clone().with("network", "https://stranger.example")).await.text();
    assert!(stranger.contains("data-tier=\"D\"") || stranger.contains("note bad"), "{stranger}");
    let wrong = rita.send(&form.with("files", "docs/a.md sha256:12 120")).await.is(422).text();
    assert!(wrong.contains("is no path, digest and size"), "{wrong}");
}

#[tokio::test]
async fn b3_what_cannot_be_judged_comes_back_as_it_was_written_and_says_at_its_field_what_is_wrong() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let form = rita.form(&rita.open("/policy").await.is(200), "try").with("run", &app.team.run.to_string());
    let form = form.with("tool", "nmap").with("arguments", "\r\n-sV\r\n<b>").with("outputs", "docs/kept.md");
    for (field, control, value, why) in [
        ("tool", "tool", "nmpa", "<code>nmap</code>"),
        ("tool", "tool", "not a tool", "<code>nmap</code>"),
        ("run", "run", "elsewhere", "elsewhere"),
        ("run", "run", "run_00000000000000000000000000000000", "run"),
        ("target", "target", "not a target!", "not a target!"),
        ("files", "try-files", "docs/a.md sha256:12 120", "is no path, digest and size"),
        ("network", "try-network", "two words", "`two` is no method"),
    ] {
        let answer = rita.send(&form.clone().with(field, value)).await;
        let (status, told) = (answer.status, answer.text());
        assert!((400..500).contains(&status), "{field}={value}: {status} {told}");
        let flaw =
            told.split(&format!("id=\"{control}-flaw\">")).nth(1).unwrap_or_else(|| panic!("{field}={value}: {told}"));
        assert!(flaw.split("</p>").next().unwrap().contains(why), "{field}={value}: {told}");
        assert!(told.contains(&format!("aria-describedby=\"{control}-flaw\"")) && told.contains("Nothing was judged"));
        assert!(
            told.contains("\n\n-sV\n&lt;b&gt;</textarea>") && told.contains("docs/kept.md</textarea>"),
            "{field}: {told}"
        );
        assert!(
            told.contains(&format!("value=\"{value}\"")) || told.contains(&format!("{value}</textarea>")),
            "{field}: {told}"
        );
        let (verdict, tried) = (told.find("id=\"verdict\"").unwrap(), told.find("id=\"try\"").unwrap());
        assert!(verdict < tried, "what came of it stands first");
    }
    rita.language = "fr";
    let told = rita.send(&form.with("tool", "nmpa")).await.text();
    assert!(told.contains("Rien n'a été jugé") || told.contains("Rien n&#39;a été jugé"), "{told}");
}

#[tokio::test]
async fn a13_who_stands_in_is_chosen_from_those_who_can_and_what_is_not_taken_comes_back() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open("/settings").await.is(200);
    let offered = |id: &dyn std::fmt::Display| page.text().contains(&format!("<option value=\"{id}\">"));
    assert!(offered(&app.team.second.id), "{}", page.text());
    for other in [&reviewer, &agent, &worker, &app.auditor] {
        assert!(!offered(&other.id), "{}", other.id);
    }
    let form = rita.form(&page, "go-away").with("to", &app.team.second.id.to_string());
    let before = app.size();
    let told = rita.send(&form.clone().with("days", "91")).await.is(422).text();
    assert!(
        told.contains("stand-in-flaw") && told.contains("within 90 days") && told.contains("value=\"91\""),
        "{told}"
    );
    assert!(told.contains(&format!("<option value=\"{}\" selected>", app.team.second.id)), "{told}");
    let told = rita.send(&form.clone().with("to", &agent.id.to_string()).with("days", "5")).await.is(422).text();
    assert!(told.contains("a stand-in is another person") && told.contains("value=\"5\""), "{told}");
    assert_eq!(app.size(), before);
    rita.send(&form.with("days", "3")).await.is(303);
    assert!(rita.open("/settings").await.is(200).text().contains("is told instead of you until"));
}

#[tokio::test]
async fn c16_an_inbox_with_much_in_it_stays_small() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for number in 0..120 {
        let target = format!("10.0.0.{number}");
        agent.proposes(app.team.run, &json!({ "tool": "nmap", "arguments": ["-sV"], "target": target })).await;
    }
    let browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open("/").await.is(200);
    let assets: usize = {
        let mut sum = 0;
        for part in page.text().split('"').filter(|part| part.starts_with("/assets/")) {
            let asset = browser.open(part).await.is(200);
            assert!(asset.header("cache-control").contains("immutable"));
            sum += asset.body.len();
        }
        sum
    };
    assert!(page.body.len() + assets <= 100_000, "{} + {assets}", page.body.len());
    assert!(page.text().contains("120 wait") && page.text().contains("The next ones"), "{}", page.text());
}

#[tokio::test]
async fn c16_runs_agents_workers_and_help_are_there_and_say_what_to_do_where_there_is_nothing() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 0 })).await.is(200);
    assert!(!job.body.is_empty());
    let rita = Browser::visiting(&app, &reviewer).await;
    assert!(rita.open("/runs").await.is(200).text().contains("survey the lab"));
    assert!(rita.open("/agents").await.is(200).text().contains("ada-alpha"));
    let workers = rita.open("/workers").await.is(200).text();
    assert!(workers.contains("walt-alpha") && workers.contains("well"), "{workers}");
    assert!(rita.open("/help").await.is(200).text().contains("Silence is never consent"));
    assert!(rita.open("/").await.is(200).text().contains("placet run plan"));
}

#[tokio::test]
async fn r5_a_plan_shows_the_program_that_it_starts_and_the_files_of_its_agent() {
    let (app, ..) = Scenario::start().await;
    let team = &app.team;
    let content = "import os\nprint('\u{202e}harmless')\n";
    let digest = Digest::of(content.as_bytes());
    let to = format!("/api/v1/projects/{}/evidence/{digest}", team.project);
    team.operator.put(&to, content.as_bytes().to_vec()).await.is(201);
    let own = json!({ "path": "agent.py", "digest": digest, "size_bytes": content.len() });
    let launch = json!({ "program": "/usr/bin/python3", "arguments": ["agent.py", "--fast"], "profile": "default", "files": [own] });
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "launch": launch });
    let run: placet_wire::api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let rita = Browser::visiting(&app, &team.reviewer).await;
    let page = rita.open(&format!("/runs/{}", run.id)).await.is(200).text();
    for shown in ["/usr/bin/python3", "--fast", "agent.py", "import", "⟦U+202E⟧", "nothing is limited"] {
        assert!(page.contains(shown), "`{shown}` is not shown:\n{page}");
    }
    team.reviewer.post_if(&ApprovePlan { run: run.id }.path(), run.review, &json!({})).await.is(200);
    let after = rita.open(&format!("/runs/{}", run.id)).await.is(200).text();
    assert!(!after.contains("⟦U+202E⟧"), "only while it is decided on");
}
