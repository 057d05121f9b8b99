//! A real server of mail on a port of its own, and the letters that it took. Certificates are made by openssl.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_control::{Login, Security, Server};
use placet_dial::Dialer;
use placet_testkit::tls::CertificateLab;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::scenario::PATIENCE;

/// Calls loopback, and believes the file and nobody else, or everybody's issuers.
pub(super) fn dialer(ca_file: Option<&Path>) -> Dialer {
    let listed = ["127.0.0.0/8", "::1/128"].map(|network| network.parse().unwrap());
    Dialer::new(ca_file, listed.to_vec()).unwrap()
}

/// A letter, read as a mail program would.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) taken: bool,
    pub(super) to: String,
    pub(super) sender: String,
    pub(super) id: String,
    pub(super) body: String,
    pub(super) tls: bool,
    pub(super) who: Option<String>,
    pub(super) headers: String,
}

impl Letter {
    fn of(said: &Value) -> Self {
        let text = said["letter"].as_str().unwrap().replace("\r\n", "\n");
        let (headers, encoded) = text.split_once("\n\n").unwrap();
        let body = STANDARD.decode(encoded.replace('\n', "")).unwrap();
        let id = headers.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap();
        Self {
            taken: said["kind"] == "taken",
            to: said["to"][0].as_str().unwrap().to_owned(),
            sender: said["sender"].as_str().unwrap().to_owned(),
            id: id.to_owned(),
            body: String::from_utf8(body).unwrap(),
            tls: said["tls"].as_bool().unwrap(),
            who: said["who"].as_str().map(str::to_owned),
            headers: headers.to_owned(),
        }
    }
}

/// The server, until it is dropped.
pub(super) struct PostOffice {
    port: u16,
    said: Arc<Mutex<Vec<Value>>>,
    count: watch::Receiver<usize>,
    _child: Child,
}

impl PostOffice {
    /// Opens with what the script understands.
    pub(super) async fn open(wanted: &Value) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/notify/post_office.py");
        // Debian's own: what Debian installs for it lies beside it.
        let mut command = Command::new("/usr/bin/python3");
        command.arg(script).arg(wanted.to_string()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
        let first: Value = serde_json::from_str(&first.expect("aiosmtpd is installed (python3-aiosmtpd)")).unwrap();
        let (said, told) = (Arc::new(Mutex::new(Vec::new())), watch::Sender::new(0));
        let (heard, count) = (Arc::clone(&said), told.subscribe());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                heard.lock().unwrap().push(serde_json::from_str(&line).unwrap());
                told.send_modify(|count| *count += 1);
            }
        });
        Self { port: u16::try_from(first["port"].as_u64().unwrap()).unwrap(), said, count, _child: child }
    }

    pub(super) async fn plain() -> Self {
        Self::open(&json!({ "tls": "none" })).await
    }

    pub(super) async fn secure(lab: &CertificateLab, tls: &str, more: Value) -> Self {
        let mut wanted =
            json!({ "tls": tls, "certificate": lab.issue("localhost", "30"), "key": lab.path("server.key") });
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Self::open(&wanted).await
    }

    /// As the settings name it.
    pub(super) fn server(&self, security: Security, login: Option<Login>, dialer: Dialer) -> Server {
        let host = if security == Security::None { "127.0.0.1" } else { "localhost" };
        let to = placet_domain::scope::Authority::with_default_port(&format!("{host}:{}", self.port), 25).unwrap();
        Server::new(to, security, login, dialer).unwrap()
    }

    pub(super) fn said(&self, kind: &str) -> Vec<Value> {
        self.said.lock().unwrap().iter().filter(|said| said["kind"] == kind).cloned().collect()
    }

    pub(super) fn letters(&self) -> Vec<Letter> {
        let said = self.said.lock().unwrap();
        said.iter().filter(|said| said["letter"].is_string()).map(Letter::of).collect()
    }

    /// Waits until it said something of this kind.
    pub(super) async fn until_said(&self, kind: &str) {
        let mut count = self.count.clone();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|_| !self.said(kind).is_empty())).await;
        assert!(waited.is_ok(), "waited in vain for `{kind}`");
    }

    /// Waits until so many letters came, taken or not.
    pub(super) async fn until_heard(&self, wanted: usize) {
        let mut count = self.count.clone();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|_| self.letters().len() >= wanted)).await;
        assert!(waited.is_ok(), "waited in vain for {wanted} letters; got {:#?}", self.letters());
    }

    /// Waits until so many letters were taken.
    pub(super) async fn until_taken(&self, wanted: usize) -> Vec<Letter> {
        let taken = || self.letters().into_iter().filter(|letter| letter.taken).collect::<Vec<_>>();
        let mut count = self.count.clone();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|_| taken().len() >= wanted)).await;
        assert!(waited.is_ok(), "waited in vain for {wanted} letters; got {:#?}", self.letters());
        taken()
    }
}
