//! Approving with changes on a page: all of the wish, the text of files too, byte for byte what somebody meant.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{HaltEverything, ReleaseHalt};
use serde_json::{Value, json};

use crate::browser::{Browser, Filled};
use crate::deciding::state;
use crate::moves::{fetching, scan, sweep, until_status, waiting};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup};
use crate::showing::file;

/// A file and its text.
type Given<'a> = (&'a str, &'a [u8]);

/// Code that one person is asked about, with these files.
async fn given(app: &Scenario, files: &[Given<'_>]) -> api::ActionView {
    let mut operands = Vec::new();
    for (path, content) in files {
        operands.push(file(app, path, content).await);
    }
    let mut wish = fetching();
    wish["files"] = Value::Array(operands);
    wish["environment"] = json!({ "MODE": "fast", "LEVEL": "3" });
    app.team.agent.proposes(app.team.run, &wish).await
}

async fn opened(browser: &Browser, action: &api::ActionView) -> (Answer, Filled) {
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = browser.untouched(&page, "amend").with("reason", "better so");
    (page, form)
}

/// The action that stands there after the form was taken.
async fn successor(person: &Person, browser: &mut Browser, form: &Filled) -> api::ActionDetail {
    let location = browser.send(form).await.is(303).header("location").to_owned();
    person.get(&format!("/api/v1{location}")).await.is(200).json()
}

async fn content(app: &Scenario, digest: Digest) -> String {
    let path = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    app.team.second.get(&path).await.is(200).text()
}

#[tokio::test]
async fn b4_all_of_a_wish_is_changed_on_a_page_and_only_what_differs_becomes_a_change() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\necho two\n"), ("docs/kept.txt", b"kept\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let (before, was) = (app.size(), reviewer.sees(&action).await.spec);
    let form =
        form.with("file-1", "echo one\r\necho zwei\r\n").with("environment", "MODE=slow\r\n\r\nLEVEL=3\r\nWHO=a=b\r\n");
    let form = form.with("outputs", "docs/out.txt\r\n").with("timeout_seconds", "5").with("network", "");
    let now = successor(&reviewer, &mut rita, &form).await;
    assert_eq!(
        serde_json::to_value(&now.spec.environment).unwrap(),
        json!({ "LEVEL": "3", "MODE": "slow", "WHO": "a=b" })
    );
    assert_eq!(
        (now.spec.outputs.as_slice(), now.spec.limits.timeout_ms),
        (["docs/out.txt".to_owned()].as_slice(), 5_000)
    );
    assert_eq!((now.spec.network.len(), &now.spec.argv), (0, &was.argv));
    let (kept, run) = (&now.spec.files[0], &now.spec.files[1]);
    assert_eq!((kept, run.path.as_str()), (&was.files[0], "docs/run.sh"));
    assert_eq!(content(&app, run.digest).await, "echo one\necho zwei\n");
    assert_eq!(run.size_bytes, 19);
    let recorded = app.kinds_from(before).await;
    assert_eq!(recorded.iter().filter(|kind| *kind == "evidence.kept").count(), 1, "{recorded:?}");
    assert!(app.bodies_from(before).await.contains(&reviewer.id.to_string()));
    assert_eq!((now.action.status.as_str(), state(&reviewer, &action).await.as_str()), ("APPROVED", "SUPERSEDED"));
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_what_nobody_touches_comes_back_byte_for_byte_and_is_no_change() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let files: &[Given<'_>] = &[
        ("docs/a", b"one\ntwo\n"),
        ("docs/b", b"no end"),
        ("docs/c", b"\n\n  begins late\n\n"),
        ("docs/d", b""),
        ("docs/e", b"dos\r\nlines\r\n"),
        ("docs/f", b"dos\r\nno end"),
        ("docs/g", "<b>&amp; \"é\" 日本 %0A+\n\tx</textarea>".as_bytes()),
    ];
    let action = given(&app, files).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    assert_eq!(form.fields.iter().filter(|(name, _)| name.starts_with("file-")).count(), files.len());
    let before = app.size();
    let told = rita.send(&form).await.is(422).text();
    assert!(told.contains("nothing is changed") && told.contains("What you made of it was not taken"), "{told}");
    assert_eq!((app.size(), state(&reviewer, &action).await.as_str()), (before, "PENDING_APPROVAL"));
    // Of one that is changed the ends stay what they were, and so does every other file.
    let now = successor(&reviewer, &mut rita, &form.with("file-4", "dos\r\nother\r\nlines\r\n")).await;
    assert_eq!(content(&app, now.spec.files[4].digest).await, "dos\r\nother\r\nlines\r\n");
    let was = reviewer.sees(&action).await.spec.files;
    let same = was.iter().zip(&now.spec.files).filter(|(was, now)| was == now).count();
    assert_eq!(same, files.len() - 1);
}

#[tokio::test]
async fn b4_a_file_that_a_form_would_change_or_hide_is_not_offered_and_says_why_and_where() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let large = "echo nothing to see in this line\n".repeat(3_000);
    let half = "<>&%\n".repeat(8_000);
    let files: &[Given<'_>] = &[
        ("docs/a-mixed", b"one\r\ntwo\n"),
        ("docs/b-return", b"one\rtwo\n"),
        ("docs/c-binary", b"\x7fELF\0\x01"),
        ("docs/d-bidi", "a\u{202e}b\n".as_bytes()),
        ("docs/e-hidden", "zero\u{200b}width\n".as_bytes()),
        ("docs/f-large", large.as_bytes()),
        ("docs/g-heavy", half.as_bytes()),
        ("docs/h-plain", b"plain\n"),
    ];
    let action = given(&app, files).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (page, form) = opened(&rita, &action).await;
    let (_, amend) = page.text().split_once("id=\"amend\"").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let offered: Vec<&str> =
        form.fields.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("file-")).collect();
    assert_eq!(offered, ["file-7"]);
    assert_eq!(amend.matches("Its lines end in different ways").count(), 2);
    assert_eq!(amend.matches("It has characters that hide or imitate others.").count(), 2);
    assert_eq!(
        (amend.matches("It is no text.").count(), amend.matches("more than a form has room for").count()),
        (1, 2)
    );
    assert_eq!(amend.matches(&format!("placet approve {} --edit", action.id)).count(), 7);
    // Whatever is sent.
    let before = app.size();
    for field in ["file-0", "file-2", "file-3"] {
        let told = rita.send(&form.clone().with(field, "echo other\r\n")).await.is(422).text();
        assert!(told.contains("cannot be changed by a form"), "{field}: {told}");
    }
    rita.send(&form.clone().with("without", "8")).await.is(422);
    assert_eq!(app.size(), before);
    // Leaving one out needs no text of it.
    let now = successor(&reviewer, &mut rita, &form.with("without", "2")).await;
    assert_eq!(now.spec.files.len(), files.len() - 1);
    assert!(now.spec.files.iter().all(|file| file.path != "docs/c-binary"));
}

/// Assembled here, so that nobody who looks through this tree finds one.
fn token() -> String {
    format!("ghp_{}", "Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo")
}

#[tokio::test]
async fn b4_a_secret_that_is_written_into_a_file_is_not_kept_and_the_page_says_what_to_do() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let before = app.size();
    let told = rita.send(&form.with("file-0", &format!("echo one\r\nTOKEN={}\r\n", token()))).await.is(422).text();
    assert!(
        told.contains("line 2 of `docs/run.sh` looks like a secret") && told.contains("credential of the team"),
        "{told}"
    );
    assert_eq!(app.size(), before, "nothing is kept and nothing is decided");
}

#[tokio::test]
async fn b4_what_is_refused_comes_back_with_the_reason_and_with_everything_that_was_written() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let form = form.with("file-0", "echo typed <b>\r\n").with("reason", "typed & meant");
    for (field, value, why) in [
        ("environment", "MODE", "line 1 of the environment has no `=`"),
        ("environment", "mode=1", "names are capitals, digits and `_`"),
        ("environment", "LD_PRELOAD=x", "it can make programs run other code"),
        ("outputs", "../out", "../out"),
        ("target", "not a target!", "not a target!"),
        ("network", "http://192.0.2.1/", "192.0.2.1"),
        ("credentials", "github", "there is no credential `github`"),
        ("timeout_seconds", "999999", "is more than the tool"),
        ("timeout_seconds", "soon", "the time limit is a number of seconds"),
        ("reason", "", "reason"),
    ] {
        let answer = rita.send(&form.clone().with(field, value)).await;
        let told = answer.text();
        assert!(matches!(answer.status, 400 | 403 | 422), "{field}={value}: {} {told}", answer.status);
        assert!(told.contains(why) && told.contains("Nothing was changed"), "{field}={value}: {told}");
        assert!(
            told.contains("echo typed &lt;b&gt;") && told.contains("<details class=\"panel decides\" open>"),
            "{field}: {told}"
        );
        assert_eq!(told.contains("typed &amp; meant"), field != "reason", "{field}");
        // What came back is taken once it is mended.
        let again = rita.untouched(&answer, "amend");
        assert!(again.fields.contains(&("file-0".to_owned(), "echo typed <b>\r\n".to_owned())), "{again:?}");
        assert_eq!(state(&reviewer, &action).await, "PENDING_APPROVAL", "{field}={value}");
    }
}

#[tokio::test]
async fn b4_several_long_files_are_one_form_and_what_is_longer_says_what_to_do() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let long = form.clone().with("file-0", &"echo many\r\n".repeat(100_000));
    let told = rita.send(&long).await.is(413).text();
    assert!(told.contains("a form takes 1048576 bytes") && told.contains("placet approve ID --edit"), "{told}");
    rita.language = "fr";
    assert!(rita.send(&long).await.is(413).text().contains("trop long"));
    let now = successor(&reviewer, &mut rita, &form.with("file-0", &"echo many\r\n".repeat(40_000))).await;
    assert_eq!(now.spec.files[0].size_bytes, 400_000);
}

#[tokio::test]
async fn b4_what_was_not_shown_is_not_changed_and_nothing_of_it_is_kept() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let before = app.size();
    let other = Digest::of(b"what somebody else was shown").to_string();
    let told = rita.send(&form.clone().with("file-0", "echo two\r\n").with("seen", &other)).await.is(412).text();
    assert!(told.contains("It is not what you saw any more."), "{told}");
    assert!(!app.kinds_from(before).await.contains(&"evidence.kept".to_owned()));
    app.team.second.rejects(&action).await.is(200);
    assert_ne!(rita.send(&form.with("file-0", "echo two\r\n")).await.status, 303);
    assert!(!app.kinds_from(before).await.contains(&"evidence.kept".to_owned()), "nor of what came too late");
}

#[tokio::test]
async fn b4_what_is_refused_whoever_asks_leaves_nothing_of_what_was_written() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let form = form.with("file-0", "echo two\r\n");
    let halt = json!({ "reason": "smoke" });
    reviewer.post(&HaltEverything {}.path(), &halt).await.is(200);
    let before = app.size();
    let told = rita.send(&form).await.is(409).text();
    assert!(told.contains("smoke"), "{told}");
    // What nobody may do is recorded all the same: no rule permits it, whoever writes it.
    app.admin.post(&ReleaseHalt {}.path(), &json!({ "reason": "toast" })).await.is(200);
    let denied = form.clone().with("target", "192.0.2.1");
    let answer = rita.send(&denied).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    let kinds = app.kinds_from(before).await;
    assert!(!kinds.contains(&"evidence.kept".to_owned()), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "refused").count(), 1, "{kinds:?}");
    successor(&reviewer, &mut rita, &form).await;
}

#[tokio::test]
async fn b4_whatever_a_change_fails_by_what_was_written_is_there_again() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let form = form.with("file-0", "echo typed <b>\r\n");
    // Something else stands there now: the card as it is, with the form as it was.
    let other = Digest::of(b"what stood there before").to_string();
    let stale = rita.send(&form.clone().with("seen", &other)).await.is(412);
    assert!(stale.text().contains("It is not what you saw any more."), "{}", stale.text());
    let again = rita.untouched(&stale, "amend");
    assert!(again.fields.contains(&("file-0".to_owned(), "echo typed <b>\r\n".to_owned())), "{again:?}");
    assert!(again.fields.contains(&("seen".to_owned(), action.review.to_string())), "on what is shown now: {again:?}");
    // Somebody else decided: there is no form any more, and what was written stands beside the reason.
    app.team.second.rejects(&action).await.is(200);
    let late = rita.send(&form).await;
    let told = late.text();
    assert!(late.status == 409 && told.contains("What you wrote") && !told.contains("id=\"amend\""), "{told}");
    assert!(told.contains("echo typed &lt;b&gt;") && told.contains("readonly") && told.contains("better so"), "{told}");
    assert!(!told.contains("csrf</label>"), "{told}");
}

#[tokio::test]
async fn b4_a_change_that_is_turned_away_because_there_is_too_much_at_once_is_not_lost() {
    let mut setup = Setup::default();
    setup.settings.limits.requests_in_flight = 4;
    let (app, _, reviewer, _) = Scenario::start_with(setup).await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let form = form.with("file-0", "echo typed\r\n");
    let mut workers = Vec::new();
    for number in 0..4 {
        workers.push(app.another("worker", number).await);
    }
    let all = waiting(&workers);
    until_status(&reviewer, "/api/v1/whoami", 503).await;
    let busy = rita.send(&form).await.is(503);
    let told = busy.text();
    assert!(busy.header("content-type").starts_with("text/html"), "{told}");
    assert!(told.contains("What you wrote") && told.contains("echo typed") && told.contains("better so"), "{told}");
    drop(all);
}

#[tokio::test]
async fn b4_what_became_riskier_says_that_another_person_is_asked() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let (_, form) = opened(&rita, &action).await;
    let location = rita.send(&form.with("target", "10.0.0.0/28")).await.is(303).header("location").to_owned();
    let page = rita.open(&location).await.is(200).text();
    assert!(page.contains("it waits for another person") && page.contains("You cannot decide this"), "{page}");
    // Where two people are asked, the name is typed, and one yes of two is said to be missing.
    let swept = agent.proposes(app.team.run, &sweep()).await;
    let (_, form) = opened(&rita, &swept).await;
    let form = form.with("timeout_seconds", "1");
    assert!(rita.send(&form).await.is(422).text().contains("type the name of the tool"));
    let location = rita.send(&form.with("confirm", "nmap")).await.is(303).header("location").to_owned();
    let page = rita.open(&location).await.is(200).text();
    assert!(page.contains("The yes of whoever changed it counts; it still waits for another person."), "{page}");
}

#[tokio::test]
async fn b4_in_the_inbox_everything_but_the_text_of_files_is_changed() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let action = given(&app, &[("docs/run.sh", b"echo one\n")]).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/?action={}", action.id)).await.is(200);
    assert!(page.text().contains("The text of its files is changed on the whole card"), "{}", page.text());
    let form = rita.untouched(&page, "amend").with("reason", "slower").with("environment", "MODE=slow\r\nLEVEL=3");
    let now = successor(&reviewer, &mut rita, &form).await;
    assert_eq!((now.spec.environment["MODE"].as_str(), now.spec.files.len()), ("slow", 1));
}
