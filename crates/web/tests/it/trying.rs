//! A route is tried on a page by whoever administers, and the page tells how it does.

use placet_control::{Security, Server};
use placet_dial::Dialer;
use serde_json::json;

use crate::browser::{Browser, Filled};
use crate::moves::scan;
use crate::room::Room;
use crate::scenario::Scenario;
use crate::telling::{telling, to_mailboxes, to_room};

const MINUTE_MS: u64 = 60_000;

/// What the panel of routes says, and the answer to pressing the button of this route.
async fn panel(app: &Scenario, browser: &Browser) -> String {
    let page = browser.open("/settings").await.is(200).text();
    let (_, panel) = page.split_once("<h2 id=\"routes\">").unwrap_or_else(|| panic!("{}: {page}", app.address()));
    panel.split("</section>").next().unwrap().to_owned()
}

#[tokio::test]
async fn b12_a_test_goes_by_the_route_and_the_page_says_that_it_was_taken_and_no_secret() {
    let room = Room::open().await;
    let (app, _, reviewer) = telling(vec![to_room("team", &room)]).await;
    let mut root = Browser::visiting(&app, &app.admin).await;
    let before = panel(&app, &root).await;
    assert!(
        before.contains("team") && before.contains("127.0.0.1") && before.contains("nothing was taken"),
        "{before}"
    );
    let form = root.form(&root.open("/settings").await.is(200), "halt");
    let form = Filled { to: "/settings/routes/team/test".to_owned(), ..form };
    let size = app.size();
    let answer = root.send(&form).await.is(303);
    assert_eq!(answer.header("location"), "/settings#routes");
    assert_eq!((room.taken().len(), app.size()), (1, size), "it decides nothing and is no entry");
    let after = panel(&app, &root).await;
    assert!(after.contains("room") && after.contains(">taken<"), "{after}");
    assert!(!after.contains("canary") && !before.contains("canary"), "the path is a secret");
    // Whoever presses again floods nobody, and neither does somebody else who administers.
    root.send(&form).await.is(429);
    assert!(root.send(&form).await.text().contains("less than a minute ago"));
    app.pass_ms(MINUTE_MS);
    root.send(&form).await.is(303);
    assert_eq!(room.taken().len(), 2);
    // Nobody else sees routes, tries them, or tries what is none.
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let own = rita.open("/settings").await.is(200);
    assert!(!own.text().contains("How people are told"));
    let hers = Filled { to: form.to.clone(), ..rita.form(&own, "halt") };
    rita.send(&hers).await.is(403);
    let none = Filled { to: "/settings/routes/nobody/test".to_owned(), ..form };
    root.send(&none).await.is(404);
    assert_eq!(room.taken().len(), 2);
}

#[tokio::test]
async fn b12_a_route_that_takes_nothing_says_since_when_and_why_until_it_takes_something() {
    let room = Room::open().await;
    let (app, agent, _) = telling(vec![to_room("team", &room)]).await;
    room.always(503);
    agent.proposes(app.team.run, &scan()).await;
    room.until_tried(2).await;
    let mut root = Browser::visiting(&app, &app.admin).await;
    let failing = panel(&app, &root).await;
    assert!(
        failing.contains("takes nothing since") && failing.contains("503") && !failing.contains("canary"),
        "{failing}"
    );
    let form = root.form(&root.open("/settings").await.is(200), "halt");
    let form = Filled { to: "/settings/routes/team/test".to_owned(), ..form };
    root.send(&form).await.is(303);
    assert!(panel(&app, &root).await.contains("not taken:"));
    room.always(200);
    room.until_taken(1).await;
    for _ in 0..200 {
        if !panel(&app, &root).await.contains("takes nothing since") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let well = panel(&app, &root).await;
    assert!(well.contains("last message taken") && !well.contains("takes nothing since"), "{well}");
}

#[tokio::test]
async fn b12_who_administers_some_projects_tries_no_route_and_mailboxes_are_not_shown() {
    // Nobody listens there.
    let to = placet_domain::scope::Authority::with_default_port("127.0.0.1:9", 25).unwrap();
    let server = Server::new(to, Security::None, None, Dialer::new(None, vec![]).unwrap()).unwrap();
    let (app, _, _) = telling(vec![to_mailboxes("letters", server, &["ada.private@example.org"])]).await;
    let some = app.hire(json!({ "name": "sam", "roles": ["admin"], "projects": [app.team.project] })).await;
    let mut sam = Browser::visiting(&app, &some).await;
    let page = sam.open("/settings").await.is(200);
    assert!(!page.text().contains("How people are told"));
    let form = sam.form(&page, "halt");
    let form = Filled { to: "/settings/routes/letters/test".to_owned(), ..form };
    sam.send(&form).await.is(403);
    let mut root = Browser::visiting(&app, &app.admin).await;
    let own = Filled { to: form.to, ..root.form(&root.open("/settings").await.is(200), "halt") };
    root.send(&own).await.is(303);
    let told = panel(&app, &root).await;
    assert!(told.contains("mail by") && told.contains("not taken:") && !told.contains("ada.private"), "{told}");
}
