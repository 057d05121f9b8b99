//! Credentials that the gateway holds: put in where a rule says so, stood for by placeholders, and never seen in the cage.

use super::world::{CANARY, OK, Origin, World, http_rule, refusal};

async fn api(credential: &str, answer: impl AsRef<[u8]>) -> (World, Origin) {
    let origin = Origin::answering(answer).await;
    let more = format!("credential = {credential}");
    let world = World::with_credentials(&http_rule("api.test", origin.port(), &more)).await;
    world.name("api.test", "127.0.0.1");
    (world, origin)
}

fn get(origin: &Origin, path: &str, headers: &str) -> String {
    let (url, port) = (origin.url("api.test", path), origin.port());
    format!("GET {url} HTTP/1.1\r\nHost: api.test:{port}\r\n{headers}Connection: close\r\n\r\n")
}

#[tokio::test]
async fn r24_a_placeholder_is_replaced_by_the_credential_it_stands_for() {
    let (world, origin) = api("{ inject = \"team\" }", OK).await;
    let placeholder = world.placeholder();
    for header in ["Authorization: Bearer", "authorization: token", "X-Api-Key:"] {
        let said = world.ask(get(&origin, "/", &format!("{header} {placeholder}\r\n"))).await;
        assert!(said.contains("200 OK"), "{header}: {said}");
    }
    for heard in origin.heard() {
        assert_eq!(heard.matches(&format!("Authorization: Bearer {CANARY}\r\n")).count(), 1, "{heard}");
        assert!(!heard.contains(&placeholder) && !heard.to_ascii_lowercase().contains("x-api-key"), "{heard}");
    }
}

#[tokio::test]
async fn r24_git_and_its_like_send_it_as_a_password_and_get_it_as_one() {
    let (world, origin) = api("{ inject = \"git\" }", OK).await;
    let encoded = base64(&format!("x-access-token:{}", world.placeholder()));
    let said =
        world.ask(get(&origin, "/repo.git/info/refs?service=x", &format!("Authorization: Basic {encoded}\r\n"))).await;
    assert!(said.contains("200 OK"), "{said}");
    let sent = base64(&format!("x-access-token:{CANARY}"));
    assert!(origin.heard()[0].contains(&format!("Authorization: Basic {sent}\r\n")), "{:?}", origin.heard());
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn a_credential_goes_into_the_query_where_its_host_knows_no_better() {
    let (world, origin) = api("{ inject = \"query\" }", OK).await;
    let path = format!("/a?x=1&key={}", world.placeholder());
    assert!(world.ask(get(&origin, &path, "")).await.contains("200 OK"));
    assert!(origin.heard()[0].starts_with(&format!("GET /a?x=1&key={CANARY} HTTP/1.1\r\n")), "{:?}", origin.heard());
    assert_eq!(world.record().await.path.as_deref(), Some("/a"), "and is not recorded");
}

#[tokio::test]
async fn r25_nothing_of_the_agents_goes_along_under_the_name_of_a_parameter_that_is_put_in() {
    let (world, origin) = api("{ inject = \"named\" }", OK).await;
    let spellings = [
        "app_id=attacker",
        "APP_ID=attacker",
        "App-Id=attacker",
        "app.id=attacker",
        "app+id=attacker",
        "app%5fid=attacker",
        "app%5Fid=attacker",
        "%61%70%70_id=attacker",
        "app%255fid=attacker",
        "app_id%00x=attacker",
        "+app_id=attacker",
        "%20app_id=attacker",
        "app_id[]=attacker",
        "app_id%5B0%5D=attacker",
        "app_id",
        "app_id=",
    ];
    for own in spellings {
        for query in
            [own.to_owned(), format!("x=1&{own}"), format!("{own}&x=1"), format!("x=1;{own}"), format!("{own};y")]
        {
            let said = world.ask(get(&origin, &format!("/a?{query}"), "")).await;
            assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("(E15)"), "{query}: {said}");
        }
    }
    let repeated = format!("/a?app_id={}&app_id=attacker", world.placeholder());
    assert!(world.ask(get(&origin, &repeated, "")).await.contains("(E15)"), "also beside a placeholder");
    assert_eq!(origin.connections(), 0);
    let own = format!("/a?app_ids=1&app_id={}", world.placeholder());
    assert!(world.ask(get(&origin, &own, "")).await.contains("200 OK"));
    assert!(
        origin.heard()[0].starts_with(&format!("GET /a?app_ids=1&app_id={CANARY} HTTP/1.1\r\n")),
        "{:?}",
        origin.heard()
    );
}

#[tokio::test]
async fn r25_nothing_of_the_agents_goes_along_under_the_name_of_a_header_that_is_put_in() {
    let (world, origin) = api("{ inject = \"unusual\" }", OK).await;
    for own in ["X-Pass", "x-pass", "X_Pass", "X.Pass", "x_PASS"] {
        let said = world.ask(get(&origin, "/", &format!("{own}: attacker\r\n"))).await;
        assert!(said.contains("(E15)"), "{own}: {said}");
        let beside = format!("{own}: {}\r\n{own}: attacker\r\n", world.placeholder());
        assert!(world.ask(get(&origin, "/", &beside)).await.contains("(E15)"), "{own}");
    }
    assert_eq!(origin.connections(), 0);
    assert!(world.ask(get(&origin, "/", &format!("X_Pass: {}\r\n", world.placeholder()))).await.contains("200 OK"));
    let heard = origin.heard().remove(0);
    assert!(heard.contains(&format!("X-Pass: {CANARY}\r\n")) && !heard.contains("X_Pass"), "{heard}");
}

#[tokio::test]
async fn r25_a_placeholder_for_something_else_is_a_strangers_credential() {
    let (world, origin) = api("{ inject = \"other\" }", OK).await;
    let placeholder = world.placeholder();
    let encoded = base64(&format!("attacker:{placeholder}x"));
    let tricks = [
        get(&origin, "/", &format!("Authorization: Bearer {placeholder}\r\n")),
        get(&origin, "/", &format!("X-Odd: {placeholder}\r\n")),
        get(&origin, "/", &format!("Authorization: Basic {encoded}\r\n")),
        get(&origin, "/", "Authorization: Bearer placet-run-0123\r\n"),
        get(&origin, &format!("/?key={placeholder}"), ""),
        get(&origin, &format!("/?a=b;key={placeholder}"), ""),
    ];
    for trick in &tricks {
        let said = world.ask(trick).await;
        assert!(said.contains("(E15)") && !said.contains(&placeholder), "{trick}: {said}");
    }
    assert_eq!(origin.connections(), 0);
    assert!(!format!("{:?}", world.records(tricks.len()).await).contains("placet-run-"), "not even that is recorded");
}

#[tokio::test]
async fn r25_where_no_credential_is_put_in_a_placeholder_does_not_leave_either() {
    let (world, origin) = api("\"none\"", OK).await;
    let said = world.ask(get(&origin, "/", &format!("Authorization: Bearer {}\r\n", world.placeholder()))).await;
    assert!(said.contains("(E15)") && origin.connections() == 0, "{said}");
}

#[tokio::test]
async fn r25_a_credential_goes_to_its_port_path_and_method_alone() {
    let (origin, elsewhere) = (Origin::answering(OK).await, Origin::answering(OK).await);
    let injecting = "credential = { inject = \"team\" }\nmethods = [\"GET\"]\npaths = [\"/mine\"]";
    let rules = http_rule("api.test", origin.port(), injecting)
        + &http_rule("api.test", origin.port(), "")
        + &http_rule("api.test", elsewhere.port(), "");
    let world = World::with_credentials(&rules).await;
    world.name("api.test", "127.0.0.1");
    assert!(world.ask(get(&origin, "/mine/x", "")).await.contains("200 OK"));
    for other in
        [get(&origin, "/", ""), get(&origin, "/mine/x", "").replace("GET", "DELETE"), get(&elsewhere, "/mine/x", "")]
    {
        assert!(world.ask(&other).await.contains("200 OK"), "{other}");
    }
    let heard = [origin.heard(), elsewhere.heard()].concat();
    let with: Vec<_> = heard.iter().filter(|heard| heard.contains(CANARY)).collect();
    assert!(with.len() == 1 && with[0].starts_with("GET /mine/x "), "{heard:?}");
}

#[tokio::test]
async fn r24_what_a_host_repeats_of_a_credential_does_not_come_back() {
    let encoded = base64(&format!("x-access-token:{CANARY}"));
    let body = format!("{{\"headers\": {{\"Authorization\": \"Basic {encoded}\"}}, \"token\": \"{CANARY}\"}}");
    let echo =
        format!("X-Echo: {CANARY}\r\nLocation: http://evil.test/?token={CANARY}\r\nSet-Cookie: session={CANARY}");
    let (one, two) = body.split_at(body.len() - 10);
    let chunked =
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n", one.len(), two.len());
    for framed in [format!("Content-Length: {}\r\n\r\n{body}", body.len()), chunked, format!("X: y\r\n\r\n{body}")] {
        for status in ["200 OK", "302 Found", "401 Bad credential canary-of-the-team"] {
            let (world, origin) = api("{ inject = \"git\" }", format!("HTTP/1.1 {status}\r\n{echo}\r\n{framed}")).await;
            let said = world.ask(get(&origin, "/", "")).await;
            assert!(said.starts_with("HTTP/1.1 ") && !said.starts_with("HTTP/1.1 502"), "{said}");
            assert!(!said.contains(CANARY) && !said.contains(&encoded) && !said.contains("Set-Cookie"), "{said}");
            assert!(said.contains("X-Echo: ******************\r\n"), "{said}");
            assert!(origin.heard()[0].contains("Accept-Encoding: identity\r\n"), "{:?}", origin.heard());
            assert!(!format!("{:?}", world.records(1).await).contains(CANARY));
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_carries_the_credential_nowhere() {
    let thief = Origin::answering(OK).await;
    let to = format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", thief.url("evil.test", "/"));
    let (world, origin) = api("{ inject = \"team\" }", to).await;
    world.name("evil.test", "127.0.0.1");
    let said = world.ask(get(&origin, "/", "")).await;
    assert!(said.starts_with("HTTP/1.1 302 Found\r\n"), "{said}");
    let followed = get(&thief, "/", &format!("Authorization: Bearer {}\r\n", world.placeholder()))
        .replace("api.test", "evil.test");
    assert!(world.ask(followed).await.contains("(E10)"), "a client that follows is judged anew");
    assert_eq!(thief.connections(), 0);
    let numbers: Vec<u16> = world.records(2).await.iter().map(refusal).collect();
    assert_eq!(numbers, [0, 10]);
}

#[tokio::test]
async fn r24_a_credential_does_not_leave_this_machine_in_the_open() {
    let origin = Origin::answering(OK).await;
    let rule =
        http_rule("api.test", origin.port(), "credential = { inject = \"team\" }").replace("127.0.0.0/8", "10.0.0.0/8");
    let world = World::with_credentials(&rule).await;
    world.name("api.test", "10.0.0.1");
    assert!(world.ask(get(&origin, "/", "")).await.contains("(E18)"));
    assert_eq!((world.refused().await, world.before().len()), (18, 0));
}
