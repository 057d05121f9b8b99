//! Rules that change or expire while connections live.

use std::time::Duration;

use placet_egress::Established;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::world::{OK, Origin, World, heard, http_rule, rule};

async fn echoes(stream: &mut DuplexStream) -> bool {
    let mut echo = [0; 4];
    stream.write_all(b"ping").await.is_ok() && stream.read_exact(&mut echo).await.is_ok() && &echo == b"ping"
}

async fn tunnel(more: &str) -> (World, Origin, DuplexStream) {
    let origin = Origin::echoing().await;
    let world = World::with(&format!("{}{more}\n", rule("127.0.0.1", "tcp", origin.port())));
    let (line, mut stream) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    assert!(line.contains(" 200 "), "{line}");
    assert!(echoes(&mut stream).await);
    (world, origin, stream)
}

#[tokio::test]
async fn new_rules_count_for_the_next_request_at_once() {
    let origin = Origin::answering(OK).await;
    let world = World::with("");
    assert!(world.get(&origin.url("127.0.0.1", "/")).await.contains("(E10)"));
    world.replace(&http_rule("127.0.0.1", origin.port(), ""), Established::AsTheirRulesSay);
    assert!(world.get(&origin.url("127.0.0.1", "/")).await.contains("200 OK"));
    world.replace("", Established::AsTheirRulesSay);
    assert!(world.get(&origin.url("127.0.0.1", "/")).await.contains("(E10)"));
}

#[tokio::test]
async fn a_connection_finishes_when_its_rule_goes_away() {
    let (world, _origin, mut stream) = tunnel("").await;
    world.replace("", Established::AsTheirRulesSay);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(echoes(&mut stream).await, "it still carries");
    stream.shutdown().await.unwrap();
    heard(&mut stream).await;
    assert_eq!(world.ended().await, 0);
}

#[tokio::test]
async fn a_connection_is_cut_when_its_rule_says_so_and_goes_away() {
    let (world, _origin, mut stream) = tunnel("at_end = \"cut\"").await;
    world.replace("", Established::AsTheirRulesSay);
    assert_eq!(heard(&mut stream).await, "");
    assert_eq!(world.ended().await, 43);
}

#[tokio::test]
async fn whoever_replaces_the_rules_can_cut_everything_they_do_not_allow() {
    let (world, _origin, mut stream) = tunnel("").await;
    world.replace("", Established::Cut);
    assert_eq!(heard(&mut stream).await, "");
    assert_eq!(world.ended().await, 43);
}

#[tokio::test]
async fn a_connection_that_the_new_rules_allow_too_stays() {
    let (world, origin, mut stream) = tunnel("at_end = \"cut\"").await;
    world.replace(&rule("127.0.0.0/8", "tcp", origin.port()), Established::Cut);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(echoes(&mut stream).await);
}

#[tokio::test]
async fn an_expired_rule_lets_nothing_begin_and_cuts_only_where_it_says_so() {
    let (world, origin, mut stream) = tunnel("expires_at = 1300").await;
    world.it_is(1_300);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(echoes(&mut stream).await, "what began before goes on");
    let (line, _) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    assert!(line.contains(" 403 "), "{line}");
    let (world, _origin, mut stream) = tunnel("expires_at = 1300\nat_end = \"cut\"").await;
    world.it_is(1_300);
    assert_eq!(heard(&mut stream).await, "");
    assert_eq!(world.ended().await, 43);
}
