//! The inbox is the whole queue: whatever waits is reached from it, by whoever may decide it.

use placet_domain::approval::Asking;
use placet_wire::api;

use crate::browser::Browser;
use crate::deciding::{interrupt, state};
use crate::moves::{scan, sweep};
use crate::person::Person;
use crate::scenario::{Scenario, Setup, asking};

/// Where agents may ask as much as they like.
async fn start() -> (Scenario, Person, Person, Person) {
    let settings = asking(Asking { most_undecided: 0, most_asked: 0, ..Asking::default() });
    Scenario::start_with(Setup { settings, ..Setup::default() }).await
}

/// The address of a link of this id.
fn link(page: &str, id: &str) -> Option<String> {
    let tag = page.split("<a ").find(|tag| tag.starts_with(&format!("id=\"{id}\"")))?;
    let address = tag.split("href=\"").nth(1)?.split('"').next()?;
    Some(address.replace("&amp;", "&"))
}

fn rows(page: &str) -> usize {
    page.matches("class=\"row\"").count()
}

#[tokio::test]
async fn b4_one_of_a_tier_is_found_behind_sixty_of_another_and_all_of_them_are_reached_there_and_back() {
    let (app, agent, reviewer, _) = start().await;
    let mild = agent.proposes(app.team.run, &scan()).await;
    for _ in 0..60 {
        agent.proposes(app.team.run, &sweep()).await;
    }
    let browser = Browser::visiting(&app, &reviewer).await;
    let of_tier = browser.open("/?tier=B").await.is(200).text();
    assert!(of_tier.contains(&mild.id.to_string()) && rows(&of_tier) == 1, "{of_tier}");
    let first = browser.open("/").await.is(200).text();
    assert_eq!(rows(&first), 50);
    let second = browser.open(&link(&first, "after").expect("the next ones")).await.is(200).text();
    assert!(second.contains(&mild.id.to_string()) && rows(&second) == 11, "{second}");
    assert_eq!(link(&second, "after"), None);
    let back = browser.open(&link(&second, "before").expect("a way back")).await.is(200).text();
    assert_eq!(rows(&back), 50);
    assert!(browser.open(&format!("/?project={}", app.team.project)).await.is(200).text().contains("class=\"row\""));
    for strange in ["/?after=x", "/?tier=Z", "/?part=x", "/?project=x"] {
        browser.open(strange).await.is(400);
    }
    let page: api::InboxView = reviewer.get("/api/v1/inbox?tier=C&limit=50").await.is(200).json();
    let rest: api::InboxView =
        reviewer.get(&format!("/api/v1/inbox?tier=C&limit=50&after={}", page.next.unwrap())).await.is(200).json();
    assert_eq!((page.actions.len(), rest.actions.len(), rest.next), (50, 10, None));
}

#[tokio::test]
async fn b4_after_a_yes_the_neighbour_is_looked_at_and_what_waits_for_others_comes_last() {
    let (app, agent, reviewer, _) = start().await;
    let first = agent.proposes(app.team.run, &sweep()).await;
    let second = agent.proposes(app.team.run, &sweep()).await;
    let mild = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open("/?tier=C").await.is(200);
    let form = browser.form(&page, "approve").with("confirm", "nmap");
    assert!(form.to.contains(&first.id.to_string()));
    let onward = browser.send(&form).await.is(303).header("location").to_owned();
    assert_eq!(onward, format!("/?tier=C&action={}&just={}", second.id, first.id));
    let next = browser.open(&onward).await.is(200).text();
    let told = next.split("id=\"just\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(told.contains("role=\"status\"") && told.contains("You approved"), "{told}");
    assert!(told.contains(&format!("/actions/{}", first.id)) && told.contains("another yes is needed"), "{told}");
    let top = browser.open("/").await.is(200).text();
    let order: Vec<usize> =
        [second.id, mild.id, first.id].map(|id| top.find(&format!("action={id}")).unwrap()).to_vec();
    assert!(order.is_sorted(), "what waits for others comes last: {order:?}");
    assert!(top.contains("Waits for others") && !top.contains("You cannot decide this"), "{top}");
    let others = browser.open("/?part=others").await.is(200).text();
    assert!(rows(&others) == 1 && others.contains(&first.id.to_string()), "{others}");
    let theirs = Browser::visiting(&app, &app.team.second).await.open(&onward).await.is(200).text();
    assert!(!theirs.contains("id=\"just\""), "nobody is told that they decided what others did");
    let mine: api::InboxView = reviewer.get("/api/v1/inbox?whose=mine").await.is(200).json();
    assert_eq!(mine.actions.len(), 2);
}

#[tokio::test]
async fn c14_what_was_interrupted_is_in_the_inbox_the_counter_the_api_and_on_the_page_of_its_run() {
    let (app, agent, reviewer, worker) = start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    interrupt(&app, &worker, &reviewer, &action).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open("/").await.is(200);
    assert!(page.text().contains("Interrupted: say what becomes of them") && page.text().contains(">1</span>"));
    assert!(page.text().contains("1 waits"), "{}", page.text());
    let run = browser.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    let line = run.split("id=\"interrupted\"").nth(1).expect("the page of the run says so");
    assert!(line.contains(&format!("/actions/{}", action.id)), "{line}");
    let inbox: api::InboxView = reviewer.get("/api/v1/inbox").await.is(200).json();
    assert_eq!((inbox.interrupted.len(), inbox.interrupted[0].action.id), (1, action.id));
    let queue: api::ActionList = reviewer.get("/api/v1/queue").await.is(200).json();
    assert_eq!(queue.actions.iter().map(|row| row.status.as_str()).collect::<Vec<_>>(), ["INTERRUPTED"]);
    let form = browser.form(&page, "resolve").with("resolution", "abandon").with("reason", "its machine is gone");
    let onward = browser.send(&form).await.is(303).header("location").to_owned();
    assert_eq!(state(&reviewer, &action).await, "ABANDONED");
    let after = browser.open(&onward).await.is(200).text();
    assert!(after.contains("You settled") && after.contains("Nothing waits for you."), "{after}");
}

#[tokio::test]
async fn c16_heartbeats_hide_nothing_of_an_action_nor_of_its_run_and_are_counted() {
    let (app, agent, reviewer, worker) = start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.expect("it can be taken up");
    worker.redeems(&job).await.is(200);
    for _ in 0..120 {
        app.pass_ms(5_000);
        worker.beats(&job).await.is(200);
    }
    let said = worker.uploads(&job, "stdout", b"22/tcp open\xe2\x80\xae ssh\n").await;
    let left = worker.uploads(&job, "out/docs/ports.txt", b"22 <ssh>\n").await;
    let large = worker.uploads(&job, "out/docs/all.txt", &[b'x'; 5_000]).await;
    worker.reports(&job, &worker.manifest(&job, vec![said, left, large])).await.is(200);
    let auditor = Browser::visiting(&app, &app.auditor).await;
    let page = auditor.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("job.completed") && !page.contains("job.renewed"), "{page}");
    let run = auditor.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(run.contains("action.proposed") && !run.contains("<code>job.renewed"), "{run}");
    assert!(run.contains("120 heartbeats"), "{run}");
    assert!(
        run.contains(&format!("href=\"/actions/{}\"", action.id)) && run.contains("SUCCEEDED"),
        "its actions are listed"
    );
    let seen = Browser::visiting(&app, &reviewer).await.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(
        seen.contains("22/tcp open") && seen.contains("⟦U+202E⟧"),
        "what it said is there, with its tricks marked: {seen}"
    );
    let (_, left) = seen.split_once("<details class=\"left\" open>").expect("and a small text that it left");
    assert!(left.contains("<code>docs/ports.txt</code>") && left.contains("22 &lt;ssh&gt;"), "{left}");
    assert!(!seen.contains("xxxx") && seen.contains(">docs/all.txt</a>"), "what is large is fetched: {seen}");
    assert!(run.contains("<dt>Actions proposed</dt><dd>1</dd>"), "they are counted where there is no budget");
}

#[tokio::test]
async fn b4_the_queue_of_the_api_is_read_to_its_end_however_small_its_pages_are() {
    let (app, agent, reviewer, worker) = start().await;
    for _ in 0..2 {
        let action = agent.proposes(app.team.run, &scan()).await;
        reviewer.approves(&action).await.is(200);
        interrupt(&app, &worker, &reviewer, &action).await;
    }
    for _ in 0..3 {
        agent.proposes(app.team.run, &scan()).await;
        agent.proposes(app.team.run, &sweep()).await;
    }
    let whole: api::QueueView = reviewer.get("/api/v1/queue").await.is(200).json();
    assert_eq!((whole.actions.len(), whole.next), (8, None));
    let order: Vec<_> = whole.actions.iter().map(|action| action.id).collect();
    for limit in 1..=8 {
        let path = format!("/api/v1/queue?limit={limit}&project={}", app.team.project);
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page: api::QueueView = reviewer.get(&format!("{path}{after}")).await.is(200).json();
            assert!(!page.actions.is_empty() && page.actions.len() <= limit, "no page is empty: {limit}");
            seen.extend(page.actions.iter().map(|action| action.id));
            let Some(next) = page.next else { break };
            after = format!("&after={next}");
        }
        assert_eq!(seen, order, "{limit}");
    }
    for strange in ["x", "70-1", "i", "u70", ""] {
        reviewer.get(&format!("/api/v1/queue?after={strange}")).await.problem(400, "bad_query");
    }
}

#[tokio::test]
async fn b4_a_person_names_another_on_the_card_and_sets_things_aside_without_a_script() {
    let (app, agent, rita, _) = start().await;
    let ralf = &app.team.second;
    let first = agent.proposes(app.team.run, &scan()).await;
    let second = agent.proposes(app.team.run, &sweep()).await;
    let mut browser = Browser::visiting(&app, &rita).await;
    let page = browser.open(&format!("/?action={}", first.id)).await.is(200);
    let form = browser.form(&page, "assign").with("to", "ralf-alpha").with("note", "you <b>know</b> it\u{202e}");
    let back = browser.send(&form).await.is(303).header("location").to_owned();
    assert_eq!(back, format!("/?action={}", first.id), "nothing was decided: the same card stays");
    let page = browser.open(&back).await.is(200).text();
    assert!(page.contains("looks at it") && page.contains("asked by") && page.contains("Waits for others"), "{page}");
    assert!(!page.contains("<b>know") && page.contains("U+202E"), "what people write is text too");
    assert!(page.contains("id=\"approve\""), "she may still decide");
    let mut his = Browser::visiting(&app, ralf).await;
    let page = his.open("/").await.is(200);
    let text = page.text();
    assert!(text.contains("For you") && text.contains("for you, by rita-alpha"), "{text}");
    let order = [first.id, second.id].map(|id| text.find(&format!("action={id}")).unwrap());
    assert!(order[0] < order[1], "before what is riskier");
    let form = his.form(&his.open(&format!("/?action={}", second.id)).await.is(200), "defer").with("minutes", "90");
    his.send(&form).await.is(303);
    let text = his.open("/").await.is(200).text();
    assert!(
        text.contains("Set aside") && text.contains("you set it aside until") && text.contains("1 waits"),
        "{text}"
    );
    let order = [first.id, second.id].map(|id| text.find(&format!("action={id}")).unwrap());
    assert!(order[0] < order[1], "at the end");
    let hers = browser.open(&format!("/actions/{}", second.id)).await.is(200).text();
    assert!(hers.contains("ralf-alpha") && hers.contains("set it aside until"), "{hers}");
    let aside = his.open("/?part=aside").await.is(200).text();
    assert!(rows(&aside) == 1 && aside.contains(&second.id.to_string()), "{aside}");
    let form = his.form(&his.open(&format!("/actions/{}", second.id)).await.is(200), "defer-back");
    his.send(&form).await.is(303);
    assert!(!his.open("/").await.is(200).text().contains("you set it aside"));
    let named = his.open("/?part=named").await.is(200).text();
    assert!(rows(&named) == 1 && named.contains(&first.id.to_string()), "{named}");
    let operator = Browser::visiting(&app, &app.team.operator).await;
    let card = operator.open(&format!("/actions/{}", first.id)).await.is(200).text();
    assert!(card.contains("id=\"assign\"") && !card.contains("id=\"defer\""), "an operator names people only");
    let auditor = Browser::visiting(&app, &app.auditor).await;
    assert!(!auditor.open(&format!("/actions/{}", first.id)).await.is(200).text().contains("id=\"assign\""));
}

#[tokio::test]
async fn b4_sixty_identical_ones_are_one_row_and_are_approved_as_many_at_once_as_one_form_takes() {
    let (app, agent, reviewer, _) = start().await;
    let other = agent.proposes(app.team.run, &sweep()).await;
    let first = agent.proposes(app.team.run, &scan()).await;
    for _ in 0..59 {
        agent.proposes(app.team.run, &scan()).await;
    }
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/?tier=B&action={}", first.id)).await.is(200);
    assert!(rows(&page.text()) == 1 && page.text().contains("+59 identical"), "{}", page.text());
    assert!(page.text().contains("Approve 50 of 60 identical"), "{}", page.text());
    let listed: api::InboxView = reviewer.get("/api/v1/inbox?limit=2").await.is(200).json();
    assert_eq!((listed.waiting, listed.actions.len(), listed.next), (61, 2, None), "nothing is behind the two rows");
    assert_eq!((listed.actions[0].action.id, listed.actions[0].more_twins), (other.id, 0));
    assert_eq!((listed.actions[1].twins.len(), listed.actions[1].more_twins), (49, 10));
    browser.send(&browser.form(&page, "approve-all")).await.is(303);
    let rest = browser.open("/?tier=B").await.is(200).text();
    assert!(rows(&rest) == 1 && rest.contains("+9 identical"), "{rest}");
    assert!(rest.contains("Approve all identical (10)"), "{rest}");
}
