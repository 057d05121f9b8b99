//! Calls over TLS: only a server with a valid certificate of a believed issuer gets the request.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use placet_dial::{DialError, Dialer, FetchError, FetchRequest, TargetUrl};
use placet_testkit::tls::CertificateLab;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Server that gives every request the same answer, and counts requests.
struct Receiver {
    url: TargetUrl,
    requests: Arc<AtomicUsize>,
}

impl Receiver {
    async fn open(lab: &CertificateLab, certificate: &Path, method: &'static str, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/services/T0?x=1", listener.local_addr().unwrap().port());
        let acceptor = lab.acceptor(certificate);
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut inside) = acceptor.accept(stream).await else { continue };
                let mut buffer = vec![0; 4_096];
                let size = inside.read(&mut buffer).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&buffer[..size]);
                assert!(head.starts_with(&format!("{method} /services/T0?x=1 HTTP/1.1\r\n")), "{head}");
                counted.fetch_add(1, Ordering::Relaxed);
                let _ = inside.write_all(answer.as_bytes()).await;
                let _ = inside.shutdown().await;
            }
        });
        Self { url: url.parse().unwrap(), requests }
    }

    fn count(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    async fn post(&self, dialer: &Dialer) -> Result<u16, DialError> {
        let json = ("content-type", "application/json");
        dialer.post(&self.url, &[json], b"{}".to_vec()).await.map(|status| status.as_u16())
    }
}

fn dialer(lab: &CertificateLab, ca_file: Option<&str>, networks: &[&str]) -> Dialer {
    let ca_file = ca_file.map(|name| lab.path(name));
    Dialer::new(ca_file.as_deref(), networks.iter().map(|network| network.parse().unwrap()).collect()).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
const LOOPBACK: &[&str] = &["127.0.0.0/8", "::1/128"];

#[tokio::test]
async fn b12_a_message_goes_over_tls_to_whoever_is_believed_and_to_nobody_else() {
    let lab = CertificateLab::new();
    let good = Receiver::open(&lab, &lab.issue("localhost", "10"), "POST", OK).await;
    assert_eq!(good.post(&dialer(&lab, Some("ca.pem"), LOOPBACK)).await.unwrap(), 200);
    let unlisted = good.post(&dialer(&lab, Some("ca.pem"), &[])).await.unwrap_err();
    assert!(matches!(unlisted, DialError::Special { .. }), "{unlisted}");
    assert_eq!(good.count(), 1);
    for (certificate, ca_file) in [
        (lab.issue("other.test", "10"), Some("ca.pem")),
        (lab.issue("localhost", "-1"), Some("ca.pem")),
        (lab.issue("localhost", "10"), None),
        (lab.self_sign(), Some("ca.pem")),
    ] {
        let bad = Receiver::open(&lab, &certificate, "POST", OK).await;
        let error = bad.post(&dialer(&lab, ca_file, LOOPBACK)).await.unwrap_err();
        assert!(matches!(error, DialError::Untrusted { .. }), "{error}");
        assert!(!error.to_string().contains("services"), "{error}");
        assert_eq!(bad.count(), 0, "the server gets not a byte of the message");
    }
}

#[tokio::test]
async fn b12_a_redirect_is_an_answer_and_is_not_followed() {
    let lab = CertificateLab::new();
    let moved =
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::open(&lab, &lab.issue("localhost", "10"), "POST", moved).await;
    assert_eq!(receiver.post(&dialer(&lab, Some("ca.pem"), LOOPBACK)).await.unwrap(), 307);
    assert_eq!(receiver.count(), 1);
}

/// Fetches from a server with this certificate. A believed server answers 404.
async fn fetch(lab: &CertificateLab, certificate: &Path, ca_file: Option<&str>, networks: &[&str]) -> FetchError {
    let receiver = Receiver::open(lab, certificate, "GET", NOT_FOUND).await;
    let dialer = dialer(lab, ca_file, networks);
    let error = dialer.fetch(&receiver.url, FetchRequest::Document).await.unwrap_err();
    assert_eq!(receiver.count(), usize::from(matches!(error, FetchError::Refused(_))));
    error
}

#[tokio::test]
async fn t9_what_the_control_plane_asks_over_tls_is_believed_by_its_name_and_issuer_and_at_addresses_that_are_listed() {
    let lab = CertificateLab::new();
    let good = lab.issue("localhost", "10");
    let answered = fetch(&lab, &good, Some("ca.pem"), LOOPBACK).await;
    assert!(matches!(answered, FetchError::Refused(_)), "{answered:?}");
    for (certificate, ca_file) in [
        (lab.issue("other.test", "10"), Some("ca.pem")),
        (lab.issue("localhost", "-1"), Some("ca.pem")),
        (good.clone(), None),
        (lab.self_sign(), Some("ca.pem")),
    ] {
        let refused = fetch(&lab, &certificate, ca_file, LOOPBACK).await;
        assert!(matches!(refused, FetchError::Dial(DialError::Untrusted { .. })), "{certificate:?}: {refused:?}");
    }
    let elsewhere = fetch(&lab, &good, Some("ca.pem"), &["10.0.0.0/8"]).await;
    assert!(matches!(elsewhere, FetchError::Dial(DialError::Special { .. })), "{elsewhere:?}");
}
