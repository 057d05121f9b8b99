//! What is written down: one record for each request, before and after, without content; wishes once.

use placet_domain::id::RunId;
use placet_egress::{Decision, EgressRecord, Way};
use tokio::io::AsyncWriteExt as _;

use super::world::{OK, Origin, World, heard, http_rule, rule};

#[tokio::test]
async fn each_request_leaves_one_record_without_content() {
    let origin = Origin::answering("HTTP/1.1 200 OK\r\nX-Answer: canary\r\nContent-Length: 6\r\n\r\ncanary").await;
    let world = World::with(&http_rule("127.0.0.1", origin.port(), ""));
    let url = origin.url("127.0.0.1", "/path?q=canary");
    let port = origin.port();
    let request = format!(
        "POST {url} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Said: canary\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary"
    );
    assert!(world.ask(request).await.ends_with("canary"));
    let record = world.record().await;
    assert_eq!((record.way, record.path.as_deref()), (Way::Http, Some("/path")));
    assert_eq!(record.method.as_ref().map(|method| method.as_str()), Some("POST"));
    assert!(matches!(&record.decision, Decision::Allowed(rule) if rule.starts_with("http 127.0.0.1 port ")));
    let json = serde_json::to_string(&record).unwrap();
    assert!(!json.contains("canary"), "{json}");
    assert_eq!(serde_json::from_str::<EgressRecord>(&json).unwrap(), record);
    assert_eq!(world.before().len(), 1, "and it was announced before");
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_happen() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("127.0.0.1", origin.port(), ""));
    world.nothing_can_be_recorded();
    let said = world.get(&origin.url("127.0.0.1", "/")).await;
    assert!(said.starts_with("HTTP/1.1 503 ") && said.contains("(E60)"), "{said}");
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn a_refused_request_becomes_a_wish_once() {
    let world = World::with(&rule("api.test", "https", 443));
    for _ in 0..3 {
        world.get("http://docs.test/a").await;
        world.connect("docs.test:443").await;
    }
    world.connect("api.test:8443").await;
    world.records(7).await;
    let wishes: Vec<String> = world
        .wishes()
        .iter()
        .map(|wish| format!("{} {}", wish.to, wish.method.as_ref().map_or("-", |method| method.as_str())))
        .collect();
    assert_eq!(wishes, ["docs.test:80 GET", "docs.test:443 -", "api.test:8443 -"]);
}

#[tokio::test]
async fn nobody_floods_a_person_with_wishes_or_wishes_for_nonsense() {
    let world = World::with("");
    for index in 0..150 {
        world.connect(&format!("h{index}.test:443")).await;
    }
    world.connect("bad..name:443").await;
    world.records(151).await;
    assert_eq!(world.wishes().len(), 100);
}

#[tokio::test]
async fn a_request_that_is_dropped_half_way_is_recorded_too() {
    let origin = Origin::echoing().await;
    let world = World::with(&rule("127.0.0.1", "tcp", origin.port()));
    let (mut inside, outside) = tokio::io::duplex(1 << 16);
    let egress = std::sync::Arc::clone(&world.egress);
    let serving = tokio::spawn(async move { placet_egress::serve(outside, &egress).await });
    let to = format!("127.0.0.1:{}", origin.port());
    inside.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nping").as_bytes()).await.unwrap();
    super::world::head(&mut inside).await;
    while world.egress.meter().used().bytes_down < 4 {
        tokio::task::yield_now().await;
    }
    serving.abort();
    let record = world.record().await;
    assert_eq!((record.bytes_up, record.ended.unwrap().number), (4, 54));
}

#[tokio::test]
async fn records_name_their_run() {
    use placet_egress::{Egress, Live, Rules, serve};
    let kept = std::sync::Arc::new(super::world::Kept::default());
    let run: RunId = format!("run_{}", "0".repeat(32)).parse().unwrap();
    let egress =
        Egress::new(Live::new(Rules::default()), std::sync::Arc::<super::world::Kept>::clone(&kept)).for_run(run);
    let (mut inside, outside) = tokio::io::duplex(1 << 16);
    inside.write_all(super::world::get("http://a.test/").as_bytes()).await.unwrap();
    let (_, said) = tokio::join!(serve(outside, &egress), heard(&mut inside));
    assert!(said.contains("403"), "{said}");
    assert_eq!(kept.runs(), [Some(run)]);
}

#[tokio::test]
async fn a_long_path_is_cut_in_the_record() {
    let world = World::with("");
    world.get(&format!("http://a.test/{}", "x".repeat(5_000))).await;
    assert_eq!(world.record().await.path.unwrap().len(), 512);
}

#[tokio::test]
async fn c5_a_wish_says_what_the_client_really_spoke() {
    let world = World::with(&(rule("tls.test", "https", 80) + &http_rule("plain.test", 443, "")));
    world.name("tls.test", "93.184.216.34");
    let spoken = |wishes: Vec<placet_egress::Wish>| -> Vec<String> {
        wishes.iter().map(|wish| format!("{} {:?}", wish.to, wish.spoken)).collect()
    };
    // Refused before it said anything.
    world.connect("docs.test:80").await;
    world.records(1).await;
    assert_eq!(spoken(world.wishes()), ["docs.test:80 None"]);
    let (line, mut tunnel) = world.connect("plain.test:443").await;
    assert!(line.contains(" 200 "), "{line}");
    tunnel.write_all(&[22, 3, 1, 0, 5]).await.unwrap();
    heard(&mut tunnel).await;
    world.records(2).await;
    assert_eq!(spoken(world.wishes())[1..], ["plain.test:443 Some(Https)"]);
}

#[tokio::test]
async fn c5_plain_http_in_a_tunnel_for_tls_is_a_wish_for_plain_http_and_anything_else_is_none() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&rule("127.0.0.1", "https", origin.port()));
    let to = format!("127.0.0.1:{}", origin.port());
    for first in ["SSH-2.0-x", "\u{1}\u{2}", "GET / HTTP/1.1\r\n"] {
        let (line, mut tunnel) = world.connect(&to).await;
        assert!(line.contains(" 200 "), "{line}");
        tunnel.write_all(first.as_bytes()).await.unwrap();
        heard(&mut tunnel).await;
    }
    world.records(3).await;
    let wishes = world.wishes();
    assert_eq!(wishes.len(), 1, "{wishes:?}");
    assert_eq!(wishes[0].spoken, Some(placet_egress::rules::Speaks::Http));
}
