//! Upstreams behind TLS, with certificates as a company issues them: made by openssl, served on loopback, and believed only where
//! everything about them is right.

use std::path::Path;
use std::sync::Arc;

use placet_llm::Gateway;
use placet_llm::config::Settings;
use placet_llm::memory::{Keyring, Wallet};
use placet_llm::model_script::{Running, Script, start};
use placet_llm::wire::Wire;
use placet_testkit::tls::CertificateLab;
use tokio::net::{TcpListener, TcpStream};

use super::world::{Plan, REAL_KEY, World, question};

/// Serves the model behind TLS, at an address with the name `localhost`.
async fn serve_tls(lab: &CertificateLab, certificate: &Path, model: &Running) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = lab.acceptor(certificate);
    let upstream = model.url().trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, upstream) = (acceptor.clone(), upstream.clone());
            tokio::spawn(async move {
                let Ok(mut inside) = acceptor.accept(stream).await else { return };
                let mut outside = TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
            });
        }
    });
    format!("https://localhost:{port}")
}

const SCRIPT: &str = "[[turn]]\nwhen = \"\"\ntext = \"hello\"\nused = { input = 10, output = 5 }\n";

/// What an agent gets of an upstream that shows this certificate, and what the upstream heard.
async fn asked(lab: &CertificateLab, certificate: &Path, believes: Option<&str>) -> (u16, String, usize) {
    let model = start(Script::read(SCRIPT).unwrap()).await.unwrap();
    let url = serve_tls(lab, certificate, &model).await;
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
    let lab = CertificateLab::new();
    let (status, said, heard) = asked(&lab, &lab.issue("localhost", "10"), Some("ca.pem")).await;
    assert!(status == 200 && said.contains("hello") && heard == 1, "{status}: {said}");
}

#[tokio::test]
async fn b10_a_certificate_with_anything_wrong_about_it_gets_neither_key_nor_prompt() {
    let lab = CertificateLab::new();
    let (other, old) = ("its certificate is for another name", "its certificate has expired");
    let (nobody, own) = ("its certificate is by nobody who is trusted", "its certificate speaks for itself");
    for (certificate, believes, why) in [
        (lab.issue("other.test", "10"), Some("ca.pem"), other),
        (lab.issue("localhost", "-1"), Some("ca.pem"), old),
        (lab.issue("localhost", "10"), None, nobody),
        (lab.self_sign(), None, own),
        (lab.self_sign(), Some("ca.pem"), own),
    ] {
        let (status, said, heard) = asked(&lab, &certificate, believes).await;
        assert!(status == 502 && said.contains(why), "{believes:?}: {status}: {said}");
        assert_eq!(heard, 0, "nothing was sent");
    }
}

#[tokio::test]
async fn b10_a_file_of_issuers_that_is_none_is_told_when_the_gateway_is_opened() {
    let lab = CertificateLab::new();
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
