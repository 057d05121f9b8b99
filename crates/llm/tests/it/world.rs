//! A gateway between an agent and scripted upstreams, all on this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use placet_domain::budget::Ceiling;
use placet_domain::id::RunId;
use placet_llm::config::Settings;
use placet_llm::key::{CallScope, VirtualKey};
use placet_llm::memory::{Keyring, Wallet};
use placet_llm::model_script::{Running, Script, start};
use placet_llm::models::Models;
use placet_llm::purse::Allotment;
use placet_llm::record::ModelCall;
use placet_llm::wire::Wire;
use placet_llm::{Gateway, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// What the agent holds.
pub(crate) const VIRTUAL_KEY: &str = "vk-of-the-run";
/// What only the gateway holds. In this test it comes from a file.
pub(crate) const REAL_KEY: &str = "sk-canary-of-the-upstream";

pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) upstreams: Vec<Running>,
    pub(crate) wallet: Arc<Wallet>,
    pub(crate) allotment: Arc<Allotment>,
    pub(crate) gateway: Arc<Gateway<Keyring, Wallet>>,
    /// Where the gateway has the real key from.
    pub(crate) key: tempfile::NamedTempFile,
}

/// What may be different from world to world.
pub(crate) struct Plan {
    pub(crate) ceiling: Ceiling,
    pub(crate) models: Models,
    pub(crate) keeps_words: bool,
    /// Added to every `[[upstream]]`.
    pub(crate) upstream: String,
    /// Added before everything else.
    pub(crate) more: String,
}

impl Default for Plan {
    fn default() -> Self {
        let (ceiling, models, keeps_words) = (Ceiling::default(), Models::all(), false);
        Self { ceiling, models, keeps_words, upstream: String::new(), more: String::new() }
    }
}

pub(crate) fn run() -> RunId {
    RunId::from_bytes([9; 16])
}

/// Another run than the one that most is about, with a key of its own and money without end.
pub(crate) struct Other {
    pub(crate) key: &'static str,
    number: u8,
}

impl Other {
    fn run(&self) -> RunId {
        RunId::from_bytes([self.number; 16])
    }
}

pub(crate) const OTHERS: [Other; 5] = [
    Other { key: "vk-of-another", number: 1 },
    Other { key: "vk-of-a-third", number: 2 },
    Other { key: "vk-of-a-fourth", number: 3 },
    Other { key: "vk-of-a-fifth", number: 4 },
    Other { key: "vk-of-a-sixth", number: 5 },
];

/// Tokens and millionths of a dollar. Input costs one each, output two.
pub(crate) fn ceiling(tokens: u64, usd_micros: u64) -> Ceiling {
    Ceiling { tokens: Some(tokens), usd_micros: Some(usd_micros), ..Ceiling::default() }
}

impl World {
    /// One upstream for each script.
    pub(crate) async fn of(scripts: &[&str]) -> Self {
        Self::planned(scripts, Plan::default()).await
    }

    pub(crate) async fn planned(scripts: &[&str], plan: Plan) -> Self {
        let mut upstreams = Vec::new();
        for script in scripts {
            upstreams.push(start(Script::read(script).unwrap()).await.unwrap());
        }
        let urls: Vec<String> = upstreams.iter().map(Running::url).collect();
        Self { upstreams, ..Self::before(&urls, plan).await }
    }

    /// In front of servers that are there already.
    pub(crate) async fn before(urls: &[String], plan: Plan) -> Self {
        let key = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key.path(), REAL_KEY).unwrap();
        let text = text(urls, &plan, &key.path().display().to_string());
        Self { key, ..Self::reading(&text, plan).await }
    }

    /// With these settings, word for word.
    pub(crate) async fn reading(text: &str, plan: Plan) -> Self {
        let key = tempfile::NamedTempFile::new().unwrap();
        let settings = Settings::read(text).unwrap();
        let allotment = Allotment::new(run(), plan.ceiling);
        let wallet = OTHERS.iter().fold(Wallet::default(), |wallet, other| {
            wallet.with(other.run(), Allotment::new(other.run(), Ceiling::default()))
        });
        let wallet = Arc::new(wallet.with(run(), Arc::clone(&allotment)));
        let scope = |run| CallScope { keeps_words: plan.keeps_words, ..CallScope::new(run, plan.models.clone()) };
        let keys = OTHERS
            .iter()
            .fold(Keyring::default(), |keys, other| keys.with(&VirtualKey::new(other.key), scope(other.run())));
        let keys = keys.with(&VirtualKey::new(VIRTUAL_KEY), scope(run()));
        let gateway = Arc::new(Gateway::open(settings, keys, Arc::clone(&wallet)).await.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let agent = Agent::at(listener.local_addr().unwrap());
        tokio::spawn(serve(Arc::clone(&gateway), listener, std::future::pending()));
        Self { agent, upstreams: Vec::new(), wallet, allotment, gateway, key }
    }

    /// The one record there is by now.
    pub(crate) async fn record(&self) -> ModelCall {
        let records = self.records(1).await;
        records.into_iter().next().unwrap()
    }

    /// Waits for so many records: an answer is settled when it ends, which may be a moment after the agent has it.
    pub(crate) async fn records(&self, number: usize) -> Vec<ModelCall> {
        for _ in 0..3_000 {
            let records = self.wallet.records();
            if records.len() >= number {
                assert_eq!(records.len(), number);
                return records;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} records instead of {number}", self.wallet.records().len());
    }
}

fn text(urls: &[String], plan: &Plan, key: &str) -> String {
    let upstream = |(number, url): (usize, &String)| {
        format!(
            "[[upstream]]\nname = 'up{number}'\nwire = ['messages', 'chat', 'responses', 'gemini']\nbase_url = '{url}'\n\
             models = ['m', 'm-*']\nkey = {{ file = '{key}' }}\n{}\n",
            plan.upstream
        )
    };
    let upstreams: String = urls.iter().enumerate().map(upstream).collect();
    format!(
        "{}\n{upstreams}\n[[price]]\nmodel = 'm*'\ninput = 1_000_000\noutput = 2_000_000\ncontext_tokens = 100_000\n",
        plan.more
    )
}

/// Somebody who sends requests.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) address: SocketAddr,
    client: Client<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

/// An answer, all of it.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.body))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl Agent {
    pub(crate) fn at(address: SocketAddr) -> Self {
        Self { address, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    pub(crate) async fn begin(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let uri = format!("http://{}{path}", self.address);
        let request = headers.iter().fold(Request::post(uri), |request, (name, value)| request.header(*name, *value));
        self.client.request(request.body(Full::new(body.into())).unwrap()).await.unwrap()
    }

    pub(crate) async fn send(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
        let (head, body) = self.begin(path, headers, body).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// Asks as an agent of the run does.
    pub(crate) async fn ask(&self, question: &Question) -> Reply {
        self.send(&question.path, &[("x-api-key", VIRTUAL_KEY)], question.body.clone()).await
    }
}

/// A request in one of the wire formats.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) body: String,
}

/// Asks `hello` of the model `m`.
pub(crate) fn question(wire: Wire, streams: bool) -> Question {
    let (path, body) = match wire {
        Wire::Messages => (
            "/v1/messages",
            r#"{"model":"m", "max_tokens":1000,"messages":[{"role":"user","content":"hello"}],"stream":STREAM}"#,
        ),
        Wire::Chat => (
            "/v1/chat/completions",
            r#"{"model":"m", "max_tokens":1000,"messages":[{"role":"user","content":"hello"}],"stream":STREAM,"stream_options":{"include_usage":STREAM}}"#,
        ),
        Wire::Responses => {
            ("/v1/responses", r#"{"model":"m", "max_output_tokens":1000,"input":"hello","stream":STREAM}"#)
        }
        Wire::Gemini if streams => (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}], "generationConfig":{"maxOutputTokens":1000}}"#,
        ),
        Wire::Gemini => (
            "/v1beta/models/m:generateContent",
            r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}], "generationConfig":{"maxOutputTokens":1000}}"#,
        ),
    };
    Question { path: path.to_owned(), body: body.replace("STREAM", if streams { "true" } else { "false" }) }
}

/// A server that answers every connection with these bytes, whatever it is asked.
pub(crate) async fn stubborn(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut heard = [0; 64 << 10];
                let _ = socket.read(&mut heard).await;
                let _ = socket.write_all(answer.as_bytes()).await;
            });
        }
    });
    url
}

/// A server that takes every connection and says nothing.
pub(crate) async fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            held.push(socket);
        }
    });
    url
}

/// An address at which nobody is.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// A model that talks: it sends large events as fast as they are taken, without end or until it has said what it used, and counts who
/// hung up on it.
pub(crate) struct Talker {
    pub(crate) url: String,
    pub(crate) left: Arc<std::sync::atomic::AtomicUsize>,
}

impl Talker {
    pub(crate) async fn start(events: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (url, left) = (format!("http://{}", listener.local_addr().unwrap()), Arc::default());
        let counted = Arc::clone(&left);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(talk(socket, events, Arc::clone(&counted)));
            }
        });
        Self { url, left }
    }

    pub(crate) fn left(&self) -> usize {
        self.left.load(std::sync::atomic::Ordering::Relaxed)
    }
}

async fn talk(mut socket: tokio::net::TcpStream, events: usize, left: Arc<std::sync::atomic::AtomicUsize>) {
    let mut heard = [0; 64 << 10];
    let _ = socket.read(&mut heard).await;
    let chunk = |data: String| format!("{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8);
    let event = chunk(format!("{{\"choices\":[],\"more\":\"{}\"}}", "x".repeat(8_000)));
    let used = "{\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":20}}".to_owned();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let said = async {
        socket.write_all(head.as_bytes()).await?;
        for _ in 0..events {
            socket.write_all(event.as_bytes()).await?;
        }
        socket.write_all((chunk(used) + "0\r\n\r\n").as_bytes()).await
    };
    if said.await.is_err() {
        left.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Waits until it is so.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never comes: {what}");
}
