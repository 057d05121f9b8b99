//! What opening TLS costs a request: the same host, asked in turn through a tunnel and through TLS that is opened.
//!
//! Client, way out and host share one process and one machine without a network between them, so that what is seen is work and not
//! distance: an opened request shakes hands twice. `cargo run --profile fast -p placet-egress --example opened_tls [ROUNDS]`

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use placet_dial::Roots;
use placet_egress::rules::Speaks;
use placet_egress::tls::Issuer;
use placet_egress::{Egress, EgressRecord, Live, NotKept, Rule, Rules, Sink, Wish, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

const BODY_BYTES: usize = 4 << 10;

struct Nowhere;

impl Sink for Nowhere {
    fn before(&self, _record: &EgressRecord) -> Result<(), NotKept> {
        Ok(())
    }
    fn after(&self, _record: &EgressRecord) {}
    fn wish(&self, _wish: &Wish) {}
}

/// A way out, and what a client trusts that goes through it.
struct Path {
    door: std::net::SocketAddr,
    connector: TlsConnector,
}

#[tokio::main]
async fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300_usize);
    let issuer = Issuer::make(vec![Rule::new("127.0.0.1".parse().unwrap(), Speaks::Https)], SystemTime::now()).unwrap();
    let host = host(issuer.answering(&"127.0.0.1".parse().unwrap(), SystemTime::now()).unwrap()).await;
    let rule = |more: &str| {
        format!("allow = [{{ host = \"127.0.0.1\", speaks = \"https\", ports = [{}]{more} }}]", host.port())
    };
    let tunnel = path(&rule(""), &issuer).await;
    let opened = path(&rule(", methods = [\"GET\"]"), &issuer).await;
    let (mut tunnels, mut openeds) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        tunnels.push(ask(&tunnel, host).await);
        openeds.push(ask(&opened, host).await);
    }
    let mut ratios: Vec<f64> =
        openeds.iter().zip(&tunnels).map(|(opened, tunnel)| opened.div_duration_f64(*tunnel)).collect();
    ratios.sort_by(f64::total_cmp);
    println!("tunnel {:?}, opened {:?} at the median of {rounds} rounds", median(tunnels), median(openeds));
    println!("opened takes {:.2} times as long as tunnel at the median of the rounds", ratios[ratios.len() / 2]);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Answers every request with the same body, and closes.
async fn host(config: Arc<ServerConfig>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let acceptor = TlsAcceptor::from(Arc::clone(&config));
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let mut asked = [0; 4 << 10];
                let _ = stream.read(&mut asked).await;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
                let _ = stream.write_all(&[head.into_bytes(), vec![b'x'; BODY_BYTES]].concat()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    address
}

async fn path(rules: &str, issuer: &Issuer) -> Path {
    let rules: Rules = toml::from_str(rules).unwrap();
    let egress = Egress::new(Live::new(rules), Arc::new(Nowhere));
    let egress = Arc::new(egress.opening_tls(Roots::of_pem(&issuer.pem()).unwrap()).unwrap());
    let own = egress.outfit(3128).files().first().map(|(_, pem)| pem.clone());
    let connector = trusting(&own.unwrap_or_else(|| issuer.pem().into_bytes()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let door = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let egress = Arc::clone(&egress);
            stream.set_nodelay(true).unwrap();
            tokio::spawn(async move { serve(stream, &egress).await });
        }
    });
    Path { door, connector }
}

fn trusting(pem: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).map(Result::unwrap));
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// One request on a connection of its own, from CONNECT to the last byte.
async fn ask(path: &Path, host: std::net::SocketAddr) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(path.door).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut said = [0; 256];
    let count = stream.read(&mut said).await.unwrap();
    assert!(said[..count].starts_with(b"HTTP/1.1 200"), "the tunnel is open");
    let mut stream = path.connector.connect(ServerName::IpAddress(host.ip().into()), stream).await.unwrap();
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(&[b'x'; BODY_BYTES]) {
        let mut part = [0; 16 << 10];
        let count = stream.read(&mut part).await.unwrap();
        assert!(count > 0, "the answer is whole");
        answer.extend_from_slice(&part[..count]);
    }
    began.elapsed()
}
