//! What the scenarios stand on: a cage's side of the door, names and their addresses, hosts that say what they heard.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use placet_dial::{Resolve, ResolveFuture, Roots};
use placet_domain::scope::Host;
use placet_domain::time::Timestamp;
use placet_egress::tls::Issuer;
use placet_egress::{
    Credentials, Decision, Egress, EgressRecord, Established, Limits, Live, NotKept, Rules, Settings, Sink, Wish, serve,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// Names with the answers they give, one after the other; the last one stays.
#[derive(Debug, Default)]
pub(super) struct Names {
    answers: Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>,
    lookups: AtomicUsize,
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a Host) -> ResolveFuture<'a> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let found = match answers.get_mut(host.as_str()) {
            Some(queue) if queue.len() > 1 => Ok(queue.remove(0)),
            Some(queue) => Ok(queue[0].clone()),
            None => Err(std::io::Error::other("no such name")),
        };
        Box::pin(async move { found })
    }
}

/// Records as they come.
#[derive(Debug, Default)]
pub(super) struct Kept {
    before: Mutex<Vec<EgressRecord>>,
    after: Mutex<Vec<EgressRecord>>,
    wishes: Mutex<Vec<Wish>>,
    is_full: Mutex<bool>,
}

impl Kept {
    /// The runs that the records name.
    pub(super) fn runs(&self) -> Vec<Option<placet_domain::id::RunId>> {
        self.after.lock().unwrap().iter().map(|record| record.run).collect()
    }
}

impl Sink for Kept {
    fn before(&self, record: &EgressRecord) -> Result<(), NotKept> {
        if *self.is_full.lock().unwrap() {
            return Err(NotKept);
        }
        self.before.lock().unwrap().push(record.clone());
        Ok(())
    }

    fn after(&self, record: &EgressRecord) {
        self.after.lock().unwrap().push(record.clone());
    }

    fn wish(&self, wish: &Wish) {
        self.wishes.lock().unwrap().push(wish.clone());
    }
}

pub(super) const CANARY: &str = "canary-of-the-team";

/// One key of the team, put in as `team`, for `git`, in an `unusual` header, in a `query` and under a name of its own there
/// (`named`); and another one.
const CREDENTIALS: &str = r#"
credential = [
    { name = "team", key = { command = ["printf", "canary-of-the-team"] }, variables = ["GH_TOKEN"] },
    { name = "git", key = { command = ["printf", "canary-of-the-team"] }, put = { basic = "x-access-token" } },
    { name = "unusual", key = { command = ["printf", "canary-of-the-team"] }, put = { header = "X-Pass" } },
    { name = "query", key = { command = ["printf", "canary-of-the-team"] }, put = { query = "key" } },
    { name = "named", key = { command = ["printf", "canary-of-the-team"] }, put = { query = "app_id" } },
    { name = "other", key = { command = ["printf", "canary-of-others"] } },
]
"#;

async fn credentials() -> Credentials {
    Credentials::open(Settings::read(CREDENTIALS).unwrap().credentials).await.unwrap()
}

pub(super) struct World {
    pub(super) egress: Arc<Egress>,
    kept: Arc<Kept>,
    names: Arc<Names>,
    now_ms: Arc<Mutex<i64>>,
}

pub(super) fn rules(text: &str) -> Rules {
    toml::from_str(text).unwrap()
}

impl World {
    pub(super) fn with(text: &str) -> Self {
        Self::within(text, Limits::default())
    }

    pub(super) fn within(text: &str, limits: Limits) -> Self {
        let (kept, names, now_ms) = (Arc::<Kept>::default(), Arc::<Names>::default(), Arc::new(Mutex::new(1_000)));
        let told = Arc::clone(&now_ms);
        let egress = Egress::new(Live::new(rules(text)), Arc::<Kept>::clone(&kept) as Arc<dyn Sink>)
            .with_limits(limits)
            .with_resolver(Arc::<Names>::clone(&names) as Arc<dyn Resolve>)
            .with_clock(Arc::new(move || Timestamp::from_unix_ms(*told.lock().unwrap())));
        Self { egress: Arc::new(egress), kept, names, now_ms }
    }

    /// The same, and TLS is opened where a rule asks for it; hosts are believed that this issuer speaks for.
    pub(super) async fn opening(text: &str, limits: Limits, issuer: &Issuer) -> Self {
        let mut world = Self::within(text, limits);
        let egress =
            Arc::into_inner(world.egress).expect("nobody else holds it yet").with_credentials(credentials().await);
        world.egress = Arc::new(egress.opening_tls(Roots::of_pem(&issuer.pem()).unwrap()).unwrap());
        world
    }

    /// The same, and the team's credentials are there.
    pub(super) async fn with_credentials(text: &str) -> Self {
        let mut world = Self::with(text);
        let egress = Arc::into_inner(world.egress).expect("nobody else holds it yet");
        world.egress = Arc::new(egress.with_credentials(credentials().await));
        world
    }

    /// What the cage holds in the place of the team's key.
    pub(super) fn placeholder(&self) -> String {
        let outfit = self.egress.outfit(3128);
        outfit.variables().iter().find(|(name, _)| name == "GH_TOKEN").unwrap().1.clone()
    }

    /// The name has this address from now on.
    pub(super) fn name(&self, name: &str, address: &str) {
        self.name_answers(name, &[&[address]]);
    }

    /// The name has these addresses at the first lookup, those at the second, and so on.
    pub(super) fn name_answers(&self, name: &str, answers: &[&[&str]]) {
        let answers = answers.iter().map(|all| all.iter().map(|text| text.parse().unwrap()).collect()).collect();
        self.names.answers.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub(super) fn lookups(&self) -> usize {
        self.names.lookups.load(Ordering::SeqCst)
    }

    pub(super) fn it_is(&self, now_ms: i64) {
        *self.now_ms.lock().unwrap() = now_ms;
    }

    pub(super) fn nothing_can_be_recorded(&self) {
        *self.kept.is_full.lock().unwrap() = true;
    }

    pub(super) fn replace(&self, text: &str, established: Established) {
        self.egress.rules().replace(rules(text), established);
    }

    /// A connection from the cage.
    pub(super) fn dial(&self) -> DuplexStream {
        let (inside, outside) = tokio::io::duplex(64 << 10);
        let egress = Arc::clone(&self.egress);
        tokio::spawn(async move { serve(outside, &egress).await });
        inside
    }

    /// Says all of this and hears everything until the end.
    pub(super) async fn ask(&self, said: impl AsRef<[u8]>) -> String {
        let mut stream = self.dial();
        stream.write_all(said.as_ref()).await.unwrap();
        heard(&mut stream).await
    }

    /// A plain request to a host, without more.
    pub(super) async fn get(&self, url: &str) -> String {
        self.ask(get(url)).await
    }

    /// Asks for a tunnel; comes back with the answer's first line and the connection.
    pub(super) async fn connect(&self, to: &str) -> (String, DuplexStream) {
        let mut stream = self.dial();
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = head(&mut stream).await;
        (head.lines().next().unwrap_or_default().to_owned(), stream)
    }

    /// All records so far, once there are so many.
    pub(super) async fn records(&self, count: usize) -> Vec<EgressRecord> {
        for _ in 0..500 {
            let kept = self.kept.after.lock().unwrap().clone();
            if kept.len() >= count {
                return kept;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{count} records did not come: {:?}", self.kept.after.lock().unwrap());
    }

    /// The only record.
    pub(super) async fn record(&self) -> EgressRecord {
        let mut records = self.records(1).await;
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }

    /// The number of the reason the only request was refused for.
    pub(super) async fn refused(&self) -> u16 {
        refusal(&self.record().await)
    }

    /// The number of the reason the only request ended for after it was allowed.
    pub(super) async fn ended(&self) -> u16 {
        let record = self.record().await;
        assert!(matches!(record.decision, Decision::Allowed(_)), "{record:?}");
        record.ended.map_or(0, |why| why.number)
    }

    pub(super) fn before(&self) -> Vec<EgressRecord> {
        self.kept.before.lock().unwrap().clone()
    }

    pub(super) fn wishes(&self) -> Vec<Wish> {
        self.kept.wishes.lock().unwrap().clone()
    }
}

/// The number of the reason, 0 if it was allowed.
pub(super) fn refusal(record: &EgressRecord) -> u16 {
    match &record.decision {
        Decision::Allowed(_) => 0,
        Decision::Refused(why) => why.number,
    }
}

/// A plain request.
pub(super) fn get(url: &str) -> String {
    let host = url.trim_start_matches("http://").split('/').next().unwrap();
    format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

/// Everything until the end. A connection that breaks ends too.
pub(super) async fn heard(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(Duration::from_secs(20), reading).await.expect("the connection ends");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A head with its empty line, or whatever came until the end.
pub(super) async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A host on loopback.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Origin {
    /// Answers each connection's request with these bytes, and closes.
    pub(super) async fn answering(answer: impl AsRef<[u8]>) -> Self {
        let (origin, listener) = Self::bind().await;
        let (answer, serving) = (answer.as_ref().to_vec(), origin.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serving.clone().answer(stream, answer.clone()));
            }
        });
        origin
    }

    /// The same inside of TLS.
    pub(super) async fn answering_tls(answer: impl AsRef<[u8]>, config: Arc<ServerConfig>) -> Self {
        let (origin, listener) = Self::bind().await;
        let (answer, serving) = (answer.as_ref().to_vec(), origin.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let (serving, answer, acceptor) =
                    (serving.clone(), answer.clone(), TlsAcceptor::from(Arc::clone(&config)));
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serving.answer(stream, answer).await;
                    }
                });
            }
        });
        origin
    }

    /// Sends back whatever it hears.
    pub(super) async fn echoing() -> Self {
        let (origin, listener) = Self::bind().await;
        let serving = origin.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        origin
    }

    pub(super) async fn bind() -> (Self, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (Self { address, heard: Arc::default(), connections: Arc::default() }, listener)
    }

    async fn answer(self, mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: Vec<u8>) {
        let mut said = head(&mut stream).await;
        let lower = said.to_ascii_lowercase();
        if let Some((_, after)) = lower.split_once("content-length: ") {
            let length: usize = after.split('\r').next().unwrap().parse().unwrap();
            let mut body = vec![0; length];
            let _ = stream.read_exact(&mut body).await;
            said.push_str(&String::from_utf8_lossy(&body));
        } else if lower.contains("transfer-encoding: chunked") {
            while !said.ends_with("0\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { break };
                said.push(char::from(byte));
            }
        }
        self.heard.lock().unwrap().push(said);
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// What was said to it, one text for each connection.
    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// `http://name:port` and the path.
    pub(super) fn url(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port())
    }
}

pub(super) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A rule for plain requests to a name that may lead to loopback, with more lines.
pub(super) fn http_rule(host: &str, port: u16, more: &str) -> String {
    format!(
        "[[allow]]\nhost = \"{host}\"\nspeaks = \"http\"\nports = [{port}]\nnetworks = [\"127.0.0.0/8\", \"::1/128\"]\n{more}\n"
    )
}

/// The same for another language.
pub(super) fn rule(host: &str, speaks: &str, port: u16) -> String {
    format!(
        "[[allow]]\nhost = \"{host}\"\nspeaks = \"{speaks}\"\nports = [{port}]\nnetworks = [\"127.0.0.0/8\", \"::1/128\"]\n"
    )
}
