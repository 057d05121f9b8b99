//! Upstreams behind TLS, with certificates as a company issues them: made by openssl, served on loopback, and believed only where
//! everything about them is right.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use placet_gateway::dial::{Ask, Dialer, NotFetched, NotReached, TargetUrl};
use placet_gateway::llm::Gateway;
use placet_gateway::llm::config::Settings;
use placet_gateway::llm::memory::{Keyring, Wallet};
use placet_gateway::llm::wire::Wire;
use placet_gateway::model_script::{Running, Script, start};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use super::world::{Plan, REAL_KEY, World, question};

/// An issuer, and a server's key.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap() };
        let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let issuer = ["-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/O=Lab", "-days", "30"];
        lab.openssl(&[&["req"], &new_key[..], &issuer].concat());
        lab.openssl(
            &[&["req"], &new_key[..], &["-keyout", "server.key", "-out", "server.csr", "-subj", "/O=Server"]].concat(),
        );
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let done = Command::new("openssl").current_dir(self.dir.path()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A certificate for this name, by the issuer, for so many days.
    pub(crate) fn issued(&self, name: &str, days: &str) -> PathBuf {
        let (file, text) = (format!("{name}{days}.pem"), format!("subjectAltName=DNS:{name}\n"));
        std::fs::write(self.path("name"), text).unwrap();
        let from = ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
        self.openssl(&[&from[..], &["-out", &file, "-extfile", "name", "-days", days]].concat());
        self.path(&file)
    }

    /// One that speaks for itself alone.
    pub(crate) fn self_signed(&self) -> PathBuf {
        let own = ["req", "-x509", "-key", "server.key", "-out", "self.pem", "-subj", "/O=Server", "-days", "30"];
        self.openssl(&[&own[..], &["-addext", "subjectAltName=DNS:localhost"]].concat());
        self.path("self.pem")
    }

    /// The model behind TLS, at an address with the name `localhost`.
    async fn serve(&self, certificate: &Path, model: &Running) -> String {
        let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
        let key = PrivateKeyDer::from_pem_file(self.path("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
        let (listener, to) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), model.url());
        let port = listener.local_addr().unwrap().port();
        let (acceptor, to) = (TlsAcceptor::from(Arc::new(config)), to.trim_start_matches("http://").to_owned());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, to) = (acceptor.clone(), to.clone());
                tokio::spawn(async move {
                    let Ok(mut inside) = acceptor.accept(stream).await else { return };
                    let mut outside = TcpStream::connect(to).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
                });
            }
        });
        format!("https://localhost:{port}")
    }
}

const SCRIPT: &str = "[[turn]]\nwhen = \"\"\ntext = \"hello\"\nused = { input = 10, output = 5 }\n";

/// What an agent gets of an upstream that shows this certificate, and what the upstream heard.
async fn asked(lab: &Lab, certificate: &Path, believes: Option<&str>) -> (u16, String, usize) {
    let model = start(Script::read(SCRIPT).unwrap()).await.unwrap();
    let url = lab.serve(certificate, &model).await;
    let upstream = believes.map(|name| format!("ca_file = {:?}", lab.path(name))).unwrap_or_default();
    let world = World::before(&[url], Plan { upstream, ..Plan::default() }).await;
    let answer = world.agent.ask(&question(Wire::Messages, false)).await;
    let record = world.record().await;
    assert_eq!(record.usd_micros > 0, answer.status == 200, "what is not believed costs nothing");
    let said = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(!said.contains(REAL_KEY));
    (answer.status, said, model.heard().len())
}

#[tokio::test]
async fn b10_an_upstream_with_a_companys_own_certificate_is_believed_by_its_issuer() {
    let lab = Lab::new();
    let (status, said, heard) = asked(&lab, &lab.issued("localhost", "10"), Some("ca.pem")).await;
    assert!(status == 200 && said.contains("hello") && heard == 1, "{status}: {said}");
}

#[tokio::test]
async fn b10_a_certificate_with_anything_wrong_about_it_gets_neither_key_nor_prompt() {
    let lab = Lab::new();
    let (other, old) = ("its certificate is for another name", "its certificate has expired");
    let (nobody, own) = ("its certificate is by nobody who is trusted", "its certificate speaks for itself");
    for (certificate, believes, why) in [
        (lab.issued("other.test", "10"), Some("ca.pem"), other),
        (lab.issued("localhost", "-1"), Some("ca.pem"), old),
        (lab.issued("localhost", "10"), None, nobody),
        (lab.self_signed(), None, own),
        (lab.self_signed(), Some("ca.pem"), own),
    ] {
        let (status, said, heard) = asked(&lab, &certificate, believes).await;
        assert!(status == 502 && said.contains(why), "{believes:?}: {status}: {said}");
        assert_eq!(heard, 0, "nothing was sent");
    }
}

#[tokio::test]
async fn b10_a_file_of_issuers_that_is_none_is_told_when_the_gateway_is_opened() {
    let lab = Lab::new();
    std::fs::write(lab.path("empty.pem"), "nothing").unwrap();
    for (file, why) in [("empty.pem", "holds no certificate"), ("absent.pem", "cannot be read")] {
        let text = format!(
            "[[upstream]]\nname = 'a'\nwire = ['chat']\nbase_url = 'https://a.test'\nmodels = ['m']\nca_file = {:?}\n",
            lab.path(file)
        );
        let opened =
            Gateway::open(Settings::read(&text).unwrap(), Keyring::default(), Arc::new(Wallet::default())).await;
        let told = opened.unwrap_err().to_string();
        assert!(told.contains(why) && told.contains(file), "{told}");
    }
}

/// What the control plane itself asks, of a server that shows this certificate. Whoever is believed answers, if only that there is no such page.
async fn fetched(lab: &Lab, certificate: &Path, believes: Option<&str>, networks: &[&str]) -> NotFetched {
    let model = start(Script::read(SCRIPT).unwrap()).await.unwrap();
    let address: TargetUrl = format!("{}/nothing", lab.serve(certificate, &model).await).parse().unwrap();
    let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
    let dialer = Dialer::new(believes.map(|name| lab.path(name)).as_deref(), networks).unwrap();
    dialer.fetch(&address, Ask::Document).await.unwrap_err()
}

#[tokio::test]
async fn t9_what_the_control_plane_asks_over_tls_is_believed_by_its_name_and_issuer_and_at_addresses_that_are_listed() {
    let (lab, here) = (Lab::new(), &["127.0.0.0/8", "::1/128"][..]);
    let good = lab.issued("localhost", "10");
    let answered = fetched(&lab, &good, Some("ca.pem"), here).await;
    assert!(matches!(answered, NotFetched::Refused(_)), "{answered:?}");
    for (certificate, believes) in [
        (lab.issued("other.test", "10"), Some("ca.pem")),
        (lab.issued("localhost", "-1"), Some("ca.pem")),
        (good.clone(), None),
        (lab.self_signed(), Some("ca.pem")),
    ] {
        let refused = fetched(&lab, &certificate, believes, here).await;
        assert!(
            matches!(refused, NotFetched::NotReached(NotReached::Untrusted { .. })),
            "{certificate:?}: {refused:?}"
        );
    }
    let elsewhere = fetched(&lab, &good, Some("ca.pem"), &["10.0.0.0/8"]).await;
    assert!(matches!(elsewhere, NotFetched::NotReached(NotReached::Special { .. })), "{elsewhere:?}");
}
