//! What a hostile body takes in memory: never many times its bytes, whatever it is made of.

use std::convert::Infallible;
use std::fs;
use std::process::Command;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use placet_llm::wire::Wire;
use tokio::net::TcpListener;

use super::world::{Plan, VIRTUAL_KEY, World, question};

/// Large enough that the memory of the process itself does not matter beside it.
const BODY_BYTES: usize = 4 << 20;
/// Sent at once.
const CALLS: usize = 2;
/// The agent's own copy, what the allocator keeps from one body to the next (once 72 KiB went over without it), and for each call what is
/// counted for its body (twice its bytes) and as much again for what is on its way.
const MOST_KIB: usize = (2 + 4 * CALLS) * BODY_BYTES / 1024;
const ALONE: &str = "PLACET_TEST_ALONE";

/// A number of `/proc/self/status`, in KiB.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// A body that holds as many pieces as there is room for.
struct Body {
    path: &'static str,
    before: &'static str,
    piece: &'static str,
    after: &'static str,
    status: u16,
}

impl Body {
    fn filled(&self) -> String {
        let mut body = String::with_capacity(BODY_BYTES);
        body.push_str(self.before);
        while body.len() + self.piece.len() + self.after.len() <= BODY_BYTES {
            body.push_str(self.piece);
        }
        body + self.after
    }
}

const fn body(path: &'static str, [before, piece, after]: [&'static str; 3], status: u16) -> Body {
    Body { path, before, piece, after, status }
}

const COUNT: &str = "/v1/messages/count_tokens";
const CHAT: &str = "/v1/chat/completions";
const GEMINI: &str = "/v1beta/models/m:countTokens";

/// As many values as there is room for, each as short as it can be.
const BODIES: [Body; 13] = [
    body(COUNT, [r#"{"model":"m""#, r#","":0"#, "}"], 400),
    body(COUNT, [r#"{"model":"m","tools":["#, "{},", "{}]}"], 400),
    body(COUNT, [r#"{"model":"m","tools":[{"tools":["#, "{},", "{}]}]}"], 400),
    body(COUNT, [r#"{"model":"m","thinking":{"#, r#""a":0,"#, r#""b":0}}"#], 400),
    body(COUNT, [r#"{"model":"m","context_management":{"edits":["#, "{},", "{}]}}"], 400),
    body(COUNT, [r#"{"model":"m","max_tokens":""#, "x", r#""}"#], 400),
    body(COUNT, [r#"{"model":"m","messages":"#, "[", ""], 400),
    body(COUNT, [r#"{"model":"m","messages":["#, "[],", "[]]}"], 200),
    body(COUNT, [r#"{"model":"m","messages":["#, r#"{"":""},"#, "{}]}"], 200),
    body(COUNT, [r#"{"model":"m","messages":[{"role":"user","content":""#, r"\u0061", r#""}]}"#], 200),
    body(CHAT, [r#"{"model":"m","messages":[],"modalities":["#, r#""","#, r#"""]}"#], 400),
    body(GEMINI, [r#"{"tools":["#, r#"{"":0},"#, "{}]}"], 400),
    body(GEMINI, [r#"{"tools":[{"#, r#""a":0,"#, r#""a":0}]}"#], 403),
];

/// A server that takes everything, keeps nothing and says next to nothing.
async fn forgetful() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let answer = service_fn(|request: Request<Incoming>| async move {
                let mut body = request.into_body();
                while let Some(Ok(_)) = body.frame().await {}
                Ok::<_, Infallible>(Response::new("{}".to_owned()))
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
        }
    });
    url
}

async fn send_all() {
    let upstream = forgetful().await;
    let world = World::before(&[upstream], Plan::default()).await;
    assert_eq!(world.agent.ask(&question(Wire::Messages, false)).await.status, 200);
    let before = memory("VmRSS");
    for one @ Body { path, before: begins, status, .. } in &BODIES {
        let body = bytes::Bytes::from(one.filled());
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..CALLS {
            let (agent, body) = (world.agent.clone(), body.clone());
            calls.spawn(async move { agent.send(path, &[("x-api-key", VIRTUAL_KEY)], body).await.status });
        }
        assert!(calls.join_all().await.into_iter().all(|found| found == *status), "{begins}");
        let most = memory("VmHWM") - before;
        assert!(most <= MOST_KIB, "{begins}: {most} KiB for {CALLS} bodies of {} KiB", BODY_BYTES / 1024);
    }
}

/// Alone in a process of its own, because what others take would count as well.
#[test]
fn c12_a_body_takes_no_more_memory_than_is_counted_for_it() {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(send_all());
    }
    let name = "llm::memory::c12_a_body_takes_no_more_memory_than_is_counted_for_it";
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let done = alone.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
