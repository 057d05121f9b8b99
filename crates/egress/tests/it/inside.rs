//! Inside of TLS that a rule has opened: judged request by request like plain HTTP, carried over TLS that is checked, and
//! never to another host than the tunnel is for.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use placet_egress::rules::Speaks;
use placet_egress::tls::Issuer;
use placet_egress::{Established, Limits, Rule};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};

use super::smuggling::{CHUNKS, CORPUS};
use super::world::{CANARY, OK, Origin, World, head, heard, refusal, rule};

/// An issuer that hosts of the world outside have their certificates from.
fn issuer() -> Issuer {
    let rules = ["api.test", "other.test"].map(|host| Rule::new(host.parse().unwrap(), Speaks::Https));
    Issuer::make(rules.to_vec(), SystemTime::now()).unwrap()
}

fn certificate(issuer: &Issuer, host: &str) -> Arc<ServerConfig> {
    issuer.answering(&host.parse().unwrap(), SystemTime::now()).unwrap()
}

/// A host with a rule for it, and a cage.
struct Inside {
    world: World,
    origin: Origin,
}

impl Inside {
    async fn with(more: &str, answer: &str) -> Self {
        let issuer = issuer();
        let origin = Origin::answering_tls(answer, certificate(&issuer, "api.test")).await;
        Self::before(origin, more, &issuer, Limits::default()).await
    }

    async fn before(origin: Origin, more: &str, issuer: &Issuer, limits: Limits) -> Self {
        let rules = rule("api.test", "https", origin.port()) + more;
        let world = World::opening(&rules, limits, issuer).await;
        world.name("api.test", "127.0.0.1");
        Self { world, origin }
    }

    fn host(&self) -> String {
        format!("api.test:{}", self.origin.port())
    }

    /// A tunnel in which TLS is spoken, by a client that trusts what its cage was given.
    async fn open(&self) -> TlsStream<DuplexStream> {
        let (line, stream) = self.world.connect(&self.host()).await;
        assert!(line.contains(" 200 "), "{line}");
        shake_hands(stream, trusting(&self.certificates()), "api.test").await.unwrap()
    }

    /// The file that the outfit names for programs which add to what they trust.
    fn certificates(&self) -> Vec<u8> {
        self.world.egress.outfit(3128).files().iter().find(|(name, _)| name == "egress.pem").unwrap().1.clone()
    }

    async fn ask(&self, said: impl AsRef<str>) -> String {
        let mut stream = self.open().await;
        stream.write_all(said.as_ref().replace("HOST", &self.host()).as_bytes()).await.unwrap();
        heard(&mut stream).await
    }

    /// The records of requests, without that of the tunnel they came in.
    async fn requests(&self, count: usize) -> Vec<placet_egress::EgressRecord> {
        let all = self.world.records(count + 1).await;
        all.into_iter().filter(|record| record.way == placet_egress::Way::Http).collect()
    }
}

fn trusting(pem: &[u8]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).map(Result::unwrap));
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

async fn shake_hands(
    stream: DuplexStream,
    config: ClientConfig,
    name: &str,
) -> std::io::Result<TlsStream<DuplexStream>> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

const GET: &str = "GET /open HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
const INJECT: &str = "credential = { inject = \"team\" }\n";

#[tokio::test]
async fn r24_inside_of_tls_the_credential_is_put_in_outside_and_seen_by_nobody_inside() {
    let echo = format!("HTTP/1.1 200 OK\r\nX-Echo: {CANARY}\r\nContent-Length: 18\r\n\r\n{CANARY}");
    let inside = Inside::with(INJECT, &echo).await;
    let said = inside.ask(GET).await;
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("\r\n\r\n******************"), "{said}");
    assert!(!said.contains(CANARY), "{said}");
    let heard = inside.origin.heard().remove(0);
    assert!(heard.starts_with(&format!("GET /open HTTP/1.1\r\nHost: {}\r\n", inside.host())), "{heard}");
    assert!(heard.contains(&format!("Authorization: Bearer {CANARY}\r\n")), "{heard}");
    let record = inside.requests(1).await.remove(0);
    assert_eq!((record.speaks, record.path.as_deref(), record.status), (Some(Speaks::Https), Some("/open"), Some(200)));
    let outfit = inside.world.egress.outfit(3128);
    let given: String = outfit.files().iter().map(|(_, content)| String::from_utf8_lossy(content)).collect();
    assert!(given.contains("BEGIN CERTIFICATE") && !given.contains("PRIVATE"), "certificates and nothing else");
    assert!(!format!("{:?}{:?}{outfit:?}", inside.world.records(2).await, inside.world.before()).contains("canary"));
}

#[tokio::test]
async fn r25_inside_of_tls_a_strangers_credential_is_refused_and_a_placeholder_is_replaced() {
    for more in [INJECT, "credential = \"none\"\n", "methods = [\"GET\"]\n"] {
        let inside = Inside::with(more, OK).await;
        let with = |line: &str| GET.replace("Connection", &format!("{line}\r\nConnection"));
        for line in ["Authorization: Bearer attacker", "Cookie: a=b", "X-Api-Key: attacker", "Proxy-Authorization: x"] {
            let said = inside.ask(with(line)).await;
            assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("(E15)"), "{more}{line}: {said}");
        }
        assert_eq!(inside.origin.connections(), 0);
        let said = inside.ask(with(&format!("Authorization: token {}", inside.world.placeholder()))).await;
        assert_eq!(said.contains("200 OK"), more == INJECT, "{more}: {said}");
    }
}

#[tokio::test]
async fn c5_inside_of_tls_methods_and_paths_are_judged_request_by_request() {
    let inside = Inside::with("methods = [\"GET\"]\npaths = [\"/open\"]\n", OK).await;
    let mut stream = inside.open().await;
    let request = |line: &str| format!("{line} HTTP/1.1\r\nHost: {}\r\n\r\n", inside.host());
    for line in ["GET /open", "GET /open/more?x=y"] {
        stream.write_all(request(line).as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.contains("200 OK"), "{line}");
        stream.read_exact(&mut [0; 5]).await.unwrap();
    }
    stream.write_all(request("DELETE /open").as_bytes()).await.unwrap();
    assert!(heard(&mut stream).await.contains("(E13)"));
    for (line, number) in [("GET /opened", "(E14)"), ("GET /open/../admin", "(E14)"), ("GET /open/%2e%2e/x", "(E14)")] {
        assert!(inside.ask(request(line)).await.contains(number), "{line}");
    }
    assert_eq!(inside.origin.heard().len(), 2, "the host heard what was allowed");
}

#[tokio::test]
async fn r18_a_request_inside_for_another_host_than_the_tunnel_is_refused() {
    let inside = Inside::with(INJECT, OK).await;
    for (said, number) in [
        ("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "(E2)"),
        ("GET / HTTP/1.1\r\nHost: api.test\r\n\r\n", "(E2)"),
        ("GET / HTTP/1.1\r\n\r\n", "(E2)"),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.test\r\n\r\n", "(E3)"),
        ("GET https://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "(E5)"),
        ("GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", "(E5)"),
        ("CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", "(E5)"),
    ] {
        let answer = inside.ask(said).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(number), "{said:?}: {answer}");
    }
    assert_eq!(inside.origin.connections(), 0);
    let (_, stream) = inside.world.connect(&inside.host()).await;
    assert!(
        shake_hands(stream, trusting(&inside.certificates()), "evil.test").await.is_err(),
        "nor by its first message"
    );
    assert_eq!(refusal(inside.world.records(15).await.last().unwrap()), 32);
}

#[tokio::test]
async fn r24_a_host_that_cannot_be_believed_hears_nothing() {
    let (believed, stranger) = (issuer(), issuer());
    let long_ago = SystemTime::now() - Duration::from_secs(72 * 3_600);
    let expired = believed.answering(&"api.test".parse().unwrap(), long_ago).unwrap();
    for (config, why) in [
        (certificate(&stranger, "api.test"), "by nobody who is trusted"),
        (certificate(&believed, "other.test"), "for another name"),
        (expired, "has expired"),
    ] {
        let origin = Origin::answering_tls(OK, config).await;
        let inside = Inside::before(origin, INJECT, &believed, Limits::default()).await;
        let said = inside.ask(GET).await;
        assert!(said.starts_with("HTTP/1.1 502 ") && said.contains(why) && said.contains("(E55)"), "{why}: {said}");
        let ended = inside.requests(1).await.remove(0).ended.unwrap();
        assert!(ended.number == 55 && ended.text.contains(why), "{ended:?}");
        assert!(inside.origin.heard().is_empty(), "{:?}", inside.origin.heard());
    }
    // A host that speaks no TLS at all: it says back what it hears.
    let inside = Inside::before(Origin::echoing().await, INJECT, &believed, Limits::default()).await;
    let said = inside.ask(GET).await;
    assert!(said.starts_with("HTTP/1.1 502 ") && said.contains("its tls is not acceptable"), "{said}");
}

#[tokio::test]
async fn a_host_whose_rule_does_not_look_inside_stays_a_tunnel() {
    for more in ["", "credential = \"own\"\n"] {
        let issuer = issuer();
        let origin = Origin::answering_tls(OK, certificate(&issuer, "api.test")).await;
        let inside = Inside::before(origin, more, &issuer, Limits::default()).await;
        assert!(
            inside.world.egress.outfit(3128).files().is_empty(),
            "a cage is given no certificate that it does not need"
        );
        let (_, stream) = inside.world.connect(&inside.host()).await;
        let mut stream = shake_hands(stream, trusting(issuer.pem().as_bytes()), "api.test").await.unwrap();
        let said = GET.replace("HOST", "api.test").replace("Connection", "Authorization: Bearer own\r\nConnection");
        stream.write_all(said.as_bytes()).await.unwrap();
        assert!(heard(&mut stream).await.contains("200 OK"));
        drop(stream);
        assert!(inside.origin.heard()[0].contains("Authorization: Bearer own"), "its certificate is the host's own");
        assert_eq!(inside.world.record().await.method, None);
    }
}

#[tokio::test]
async fn a_host_that_comes_with_later_rules_is_not_opened_behind_the_back_of_the_cage() {
    let inside = Inside::with(INJECT, OK).await;
    inside.world.name("other.test", "127.0.0.1");
    let later = rule("other.test", "https", inside.origin.port()) + INJECT;
    inside.world.replace(&later, Established::AsTheirRulesSay);
    let (line, _) = inside.world.connect(&format!("other.test:{}", inside.origin.port())).await;
    assert!(line.contains(" 403 "), "{line}");
    assert_eq!((inside.world.refused().await, inside.origin.connections()), (34, 0));
}

#[tokio::test]
async fn without_leave_to_open_tls_a_rule_that_looks_inside_refuses() {
    let world = World::with_credentials(&(rule("api.test", "https", 443) + INJECT)).await;
    let (line, _) = world.connect("api.test:443").await;
    assert!(line.contains(" 403 "), "{line}");
    assert_eq!((world.refused().await, world.lookups()), (34, 0));
}

#[tokio::test]
async fn a_client_that_does_not_trust_its_cage_or_wants_another_protocol_is_told_apart() {
    let inside = Inside::with(INJECT, OK).await;
    let (_, stream) = inside.world.connect(&inside.host()).await;
    assert!(shake_hands(stream, trusting(issuer().pem().as_bytes()), "api.test").await.is_err());
    let (_, stream) = inside.world.connect(&inside.host()).await;
    let mut h2 = trusting(&inside.certificates());
    h2.alpn_protocols = vec![b"h2".to_vec()];
    assert!(shake_hands(stream, h2, "api.test").await.is_err());
    let records = inside.world.records(2).await;
    let said = format!("{records:?}");
    assert!(records.iter().all(|record| refusal(record) == 35), "{said}");
    assert!(said.contains("does not trust the certificate") && said.contains("does not speak HTTP/1.1"), "{said}");
    assert_eq!(inside.origin.connections(), 0);
}

#[tokio::test]
async fn who_is_slow_inside_is_let_go_and_who_sends_too_much_is_told() {
    let issuer = issuer();
    let limits = Limits { head_ms: 300, head_bytes: 2_000, ..Limits::default() };
    let origin = Origin::answering_tls(OK, certificate(&issuer, "api.test")).await;
    let inside = Inside::before(origin, INJECT, &issuer, limits).await;
    let (_, mut silent) = inside.world.connect(&inside.host()).await;
    silent.write_all(&[22, 3, 1]).await.unwrap();
    heard(&mut silent).await;
    assert_eq!(inside.world.ended().await, 45, "half a first message");
    let mut stream = inside.open().await;
    stream.write_all(b"GET / HT").await.unwrap();
    assert!(heard(&mut stream).await.starts_with("HTTP/1.1 408 "), "half a head");
    let huge = GET.replace("Connection", &format!("X: {}\r\nConnection", "y".repeat(3_000)));
    assert!(inside.ask(huge).await.starts_with("HTTP/1.1 431 "));
    assert_eq!(inside.origin.connections(), 0);
}

#[tokio::test]
async fn r18_what_could_be_two_requests_is_none_inside_either() {
    let inside = Inside::with(INJECT, OK).await;
    let (mut tried, mut records) = (0, 0);
    for (text, number) in CORPUS.iter().filter(|(text, number)| *number != 1 && !text.starts_with("CONNECT")) {
        let said = inside.ask(text.replace("http://HOST", "")).await;
        assert!(said.starts_with("HTTP/1.1 400 ") && said.contains(&format!("(E{number})")), "{text:?}: {said}");
        tried += 1;
        records += 2;
        assert_eq!(refusal(inside.world.records(records).await.last().unwrap()), *number, "{text:?}");
    }
    assert!(tried > 25, "{tried}");
    assert_eq!(inside.origin.connections(), 0);
    for chunks in CHUNKS {
        let said =
            inside.ask(format!("POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{chunks:?}: {said}");
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!inside.origin.heard().iter().any(|heard| heard.ends_with("0\r\n\r\n")), "{:?}", inside.origin.heard());
}

#[tokio::test]
async fn no_protocol_is_changed_inside() {
    let inside = Inside::with(INJECT, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n").await;
    let upgrade =
        GET.replace("Connection: close", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==");
    let said = inside.ask(&upgrade).await;
    assert!(said.starts_with("HTTP/1.1 502 "), "{said}");
    assert!(!inside.origin.heard()[0].contains("websocket"), "{:?}", inside.origin.heard());
}
