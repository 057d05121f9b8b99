//! The host's own calls, over real TLS on loopback: who is believed gets the message, and nobody else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use placet_gateway::dial::{Dialer, NotReached, TargetUrl};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::llm::Lab;

/// Answers every message with this status, and counts what it got to read.
struct Receiver {
    url: TargetUrl,
    read: Arc<AtomicUsize>,
}

impl Receiver {
    async fn open(lab: &Lab, certificate: &Path, answer: &'static str) -> Self {
        let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
        let key = PrivateKeyDer::from_pem_file(lab.path("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/services/T0?x=1", listener.local_addr().unwrap().port());
        let (acceptor, read) = (TlsAcceptor::from(Arc::new(config)), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&read);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut inside) = acceptor.accept(stream).await else { continue };
                let mut got = vec![0; 4_096];
                let size = inside.read(&mut got).await.unwrap_or(0);
                assert!(
                    got.starts_with(b"POST /services/T0?x=1 HTTP/1.1\r\n"),
                    "{}",
                    String::from_utf8_lossy(&got[..size])
                );
                counted.fetch_add(1, Ordering::Relaxed);
                let _ = inside.write_all(answer.as_bytes()).await;
                let _ = inside.shutdown().await;
            }
        });
        Self { url: url.parse().unwrap(), read }
    }

    async fn post(&self, dialer: &Dialer) -> Result<u16, NotReached> {
        dialer
            .post(&self.url, &[("content-type", "application/json")], b"{}".to_vec())
            .await
            .map(|status| status.as_u16())
    }
}

fn dialer(lab: &Lab, believes: Option<&str>, listed: &[&str]) -> Dialer {
    let ca_file = believes.map(|name| lab.path(name));
    Dialer::new(ca_file.as_deref(), listed.iter().map(|network| network.parse().unwrap()).collect()).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const HERE: &[&str] = &["127.0.0.0/8", "::1/128"];

#[tokio::test]
async fn b12_a_message_goes_over_tls_to_whoever_is_believed_and_to_nobody_else() {
    let lab = Lab::new();
    let good = Receiver::open(&lab, &lab.issued("localhost", "10"), OK).await;
    assert_eq!(good.post(&dialer(&lab, Some("ca.pem"), HERE)).await.unwrap(), 200);
    let unlisted = good.post(&dialer(&lab, Some("ca.pem"), &[])).await.unwrap_err();
    assert!(matches!(unlisted, NotReached::Special { .. }), "{unlisted}");
    assert_eq!(good.read.load(Ordering::Relaxed), 1);
    for (certificate, believes) in [
        (lab.issued("other.test", "10"), Some("ca.pem")),
        (lab.issued("localhost", "-1"), Some("ca.pem")),
        (lab.issued("localhost", "10"), None),
        (lab.self_signed(), Some("ca.pem")),
    ] {
        let bad = Receiver::open(&lab, &certificate, OK).await;
        let error = bad.post(&dialer(&lab, believes, HERE)).await.unwrap_err();
        assert!(matches!(error, NotReached::Untrusted { .. }), "{error}");
        assert!(!error.to_string().contains("services"), "{error}");
        assert_eq!(bad.read.load(Ordering::Relaxed), 0, "not a byte of the message");
    }
}

#[tokio::test]
async fn b12_a_redirect_is_an_answer_and_is_not_followed() {
    let lab = Lab::new();
    let moved =
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::open(&lab, &lab.issued("localhost", "10"), moved).await;
    assert_eq!(receiver.post(&dialer(&lab, Some("ca.pem"), HERE)).await.unwrap(), 307);
    assert_eq!(receiver.read.load(Ordering::Relaxed), 1);
}
