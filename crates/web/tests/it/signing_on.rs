//! Signing on by a provider: out with a question, back with an answer to it. Whatever is not the answer lets nobody in.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::RevokeIdentity;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use placet_control::{Provider, ProviderSettings};
use placet_domain::id::IdentityId;
use placet_domain::oidc::KnownPerson;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::minted::{Mint, encoded};
use crate::person::{Answer, Person};
use crate::provider::FakeProvider;
use crate::scenario::Scenario;

/// A control plane whose settings know one person at the provider.
async fn started() -> (Scenario, FakeProvider, Person) {
    let provider = FakeProvider::start().await;
    let (mut app, _, reviewer, _) = Scenario::start().await;
    app.restart_by(|settings| settings.provider = Some(known(&provider, reviewer.id))).await;
    (app, provider, reviewer)
}

fn known(provider: &FakeProvider, identity: IdentityId) -> Arc<Provider> {
    let person = KnownPerson { identity, sub: Some("rita".to_owned()), email: None };
    let settings = ProviderSettings {
        issuer: provider.url.clone(),
        client_id: "placet".to_owned(),
        client_secret: "s e:cret".to_owned().into(),
        name: "Example".to_owned(),
        people: vec![person],
        networks: Vec::new(),
        ca_file: None,
    };
    Arc::new(Provider::new(settings).unwrap())
}

/// Where a browser is sent, and what its cookie is then.
async fn sets_out(browser: &Browser) -> (BTreeMap<String, String>, String) {
    sets_out_to(browser, "/enter/provider").await
}

async fn sets_out_to(browser: &Browser, path: &str) -> (BTreeMap<String, String>, String) {
    let sent = browser.open(path).await.is(303);
    let (_, query) = sent.header("location").split_once("/authorize?").expect("to the provider");
    let asked = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let cookie = sent.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    (asked, cookie.split(';').next().unwrap().to_owned())
}

async fn comes_back(browser: &Browser, cookie: &str, state: &str) -> Answer {
    browser.open_with(&format!("/enter/provider/back?code=abc&state={state}&iss=x"), cookie).await
}

fn claims(app: &Scenario, provider: &FakeProvider, nonce: &str) -> Value {
    let now_s = app.store().now().unix_ms() / 1_000;
    json!({ "iss": provider.url, "sub": "rita", "aud": "placet", "exp": now_s + 300, "iat": now_s, "nonce": nonce })
}

/// The whole way, with the claims changed before they are signed.
async fn signs_on(
    app: &Scenario,
    provider: &FakeProvider,
    browser: &mut Browser,
    change: impl FnOnce(&mut Value),
) -> Answer {
    let (asked, cookie) = sets_out(browser).await;
    let mut claims = claims(app, provider, &asked["nonce"]);
    change(&mut claims);
    provider.told(|doing| doing.claims = claims);
    let answer = comes_back(browser, &cookie, &asked["state"]).await;
    browser.keep(&answer.headers);
    answer
}

#[tokio::test]
async fn c16_whoever_a_provider_vouches_for_comes_in_and_it_is_on_the_record() {
    let (app, provider, reviewer) = started().await;
    let mut browser = Browser::of(&app, &reviewer);
    assert!(browser.open("/enter").await.is(200).text().contains("Sign in with Example"));
    let before = app.size();
    let answer = signs_on(&app, &provider, &mut browser, |_| {}).await.is(303);
    assert_eq!(answer.header("location"), "/");
    assert_eq!(browser.open("/").await.status, 200);
    let recorded = app.bodies_from(before).await;
    assert!(recorded.contains("\"shown\":\"provider\"") && !recorded.contains("rita\""), "{recorded}");
    app.assert_sound().await;
}

#[tokio::test]
async fn c16_whoever_signs_on_by_a_provider_lands_on_the_page_that_they_wanted() {
    let (app, provider, reviewer) = started().await;
    let mut browser = Browser::of(&app, &reviewer);
    for (wanted, lands) in [
        ("/runs?after=3", "/runs?after=3"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/live?of=inbox", "/"),
    ] {
        let to: String = form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
        let page = browser.open(&format!("/enter?to={to}")).await.is(200).text();
        let way = if lands == "/" { "/enter/provider".to_owned() } else { format!("/enter/provider?to={to}") };
        assert!(page.contains(&format!("href=\"{way}\"")), "{way}: {page}");
        // As whoever knows the address would ask.
        let (asked, cookie) = sets_out_to(&browser, &format!("/enter/provider?to={to}")).await;
        provider.told(|doing| doing.claims = claims(&app, &provider, &asked["nonce"]));
        let answer = comes_back(&browser, &cookie, &asked["state"]).await.is(303);
        assert_eq!(answer.header("location"), lands, "{wanted}");
    }
    browser.visit = None;
}

#[tokio::test]
async fn t8_the_question_has_state_nonce_and_pkce_and_the_code_is_exchanged_with_its_verifier() {
    let (app, provider, reviewer) = started().await;
    let browser = Browser::of(&app, &reviewer);
    let (asked, cookie) = sets_out(&browser).await;
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["redirect_uri"], format!("http://{}/enter/provider/back", app.address()));
    let (again, _) = sets_out(&browser).await;
    assert!(asked["state"] != again["state"] && asked["nonce"] != again["nonce"], "never twice the same");
    provider.told(|doing| doing.claims = claims(&app, &provider, &asked["nonce"]));
    comes_back(&browser, &cookie, &asked["state"]).await.is(303);
    let sent: BTreeMap<String, String> = provider.told(|doing| doing.asked.clone()).into_iter().collect();
    assert_eq!((sent["grant_type"].as_str(), sent["code"].as_str()), ("authorization_code", "abc"));
    let verified = placet_domain::digest::Digest::of(sent["code_verifier"].as_bytes());
    assert_eq!(encoded(verified.as_bytes()), asked["code_challenge"]);
}

#[tokio::test]
async fn t8_who_comes_back_without_having_set_out_or_too_late_is_not_let_in() {
    let (app, provider, reviewer) = started().await;
    let browser = Browser::of(&app, &reviewer);
    let (asked, cookie) = sets_out(&browser).await;
    let (other, other_cookie) = sets_out(&browser).await;
    provider.told(|doing| doing.claims = claims(&app, &provider, &asked["nonce"]));
    let before = app.size();
    comes_back(&browser, "", &asked["state"]).await.is(403);
    comes_back(&browser, &other_cookie, &asked["state"]).await.is(403);
    comes_back(&browser, &cookie, "").await.is(403);
    comes_back(&browser, &cookie, &other["state"]).await.is(403);
    app.pass_ms(10 * 60_000 + 1);
    comes_back(&browser, &cookie, &asked["state"]).await.is(403);
    assert_eq!(app.size(), before, "and nobody came in");
}

#[tokio::test]
async fn t8_a_token_that_does_not_hold_and_a_person_whom_nobody_named_are_told_alike() {
    let (app, provider, reviewer) = started().await;
    let before = app.size();
    let mut told = Vec::new();
    for (name, value) in [
        ("iss", json!("http://127.0.0.1:1")),
        ("aud", json!("other")),
        ("nonce", json!("another question")),
        ("exp", json!(1)),
        ("sub", json!("ralf")),
        ("sub", json!("rita-alpha")),
    ] {
        let mut browser = Browser::of(&app, &reviewer);
        let answer = signs_on(&app, &provider, &mut browser, |claims| claims[name] = value).await.is(403);
        assert!(browser.visit.is_none());
        told.push(answer.text());
    }
    told.dedup();
    assert_eq!(told.len(), 1);
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_a_provider_with_new_keys_is_asked_once_more_and_not_for_every_stranger() {
    let (app, provider, reviewer) = started().await;
    let mut browser = Browser::of(&app, &reviewer);
    signs_on(&app, &provider, &mut browser, |_| {}).await.is(303);
    provider.told(|doing| doing.mint = Mint::new("k2"));
    signs_on(&app, &provider, &mut browser, |_| {}).await.is(303);
    assert_eq!(provider.told(|doing| doing.looks_at_keys), 2, "a key that was not known");
    let published = json!({ "keys": [provider.told(|doing| doing.mint.jwk())] });
    provider.told(|doing| (doing.mint, doing.published) = (Mint::new("k3"), Some(published)));
    for _ in 0..5 {
        signs_on(&app, &provider, &mut Browser::of(&app, &reviewer), |_| {}).await.is(403);
    }
    assert_eq!(provider.told(|doing| doing.looks_at_keys), 2, "not for everybody who comes with one");
}

#[tokio::test]
async fn t9_a_provider_that_speaks_for_another_leads_elsewhere_refuses_or_floods_lets_nobody_in() {
    let provider = FakeProvider::start().await;
    let (mut app, _, reviewer, _) = Scenario::start().await;
    let lies: [fn(&mut crate::provider::Doing); 4] = [
        |doing| doing.issuer = Some("https://login.example.org".to_owned()),
        |doing| doing.jwks_uri = Some("http://169.254.169.254/latest/meta-data".to_owned()),
        |doing| doing.jwks_uri = Some("file:///etc/passwd".to_owned()),
        |doing| doing.padding = 300 << 10,
    ];
    for lie in lies {
        provider.told(|doing| (doing.issuer, doing.jwks_uri, doing.padding) = (None, None, 0));
        provider.told(lie);
        app.restart_by(|settings| settings.provider = Some(known(&provider, reviewer.id))).await;
        Browser::of(&app, &reviewer).open("/enter/provider").await.is(502);
    }
    provider.told(|doing| (doing.issuer, doing.jwks_uri, doing.padding) = (None, None, 0));
    app.restart_by(|settings| settings.provider = Some(known(&provider, reviewer.id))).await;
    for status in [StatusCode::FOUND, StatusCode::UNAUTHORIZED, StatusCode::INTERNAL_SERVER_ERROR] {
        provider.told(|doing| doing.status = status);
        signs_on(&app, &provider, &mut Browser::of(&app, &reviewer), |_| {}).await.is(403);
    }
}

#[tokio::test]
async fn c16_whoever_is_revoked_is_not_let_in_by_a_provider_and_without_one_there_is_no_such_door() {
    let (app, provider, reviewer) = started().await;
    app.admin.post(&RevokeIdentity { identity: reviewer.id }.path(), &json!({})).await.is(200);
    signs_on(&app, &provider, &mut Browser::of(&app, &reviewer), |_| {}).await.is(403);
    let (app, _, reviewer, _) = Scenario::start().await;
    let browser = Browser::of(&app, &reviewer);
    browser.open("/enter/provider").await.is(404);
    assert!(!browser.open("/enter").await.is(200).text().contains("/enter/provider"));
}
