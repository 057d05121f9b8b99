//! What pages cost: how long the inbox takes with 10,000 actions waiting, all of them different or all of them the same, how large it is,
//! and how long 1,000 open pages wait to be told that something happened. Prints JSON.
//!
//! ```sh
//! cargo run --profile fast -p placet-control --example page_rate
//! ```

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use placet_control::{App, Limits, Rules, Serving, Settings, bootstrap, serve_with};
use placet_domain::approval::Asking;
use placet_domain::digest::Digest;
use placet_domain::identity::Role;
use placet_domain::permit::PermitSigner;
use placet_domain::policy::{DEFAULT_TOOLS, Policy, default_policy};
use placet_domain::proposal::{Cages, Tools};
use placet_ledger::SigningKey;
use placet_store::{Config, Store};
use reqwest::{Client, Response, redirect};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const PENDING: usize = 10_000;
const VIEWERS: usize = 1_000;
const LOOKS: usize = 50;
const NEWS: usize = 20;

/// All viewers are one person here, who may have a quarter of the places; and so many questions of one agent would not be taken.
fn settings() -> Settings {
    let limits = Limits { streams: 4 * VIEWERS, ..Limits::default() };
    let mut settings = Settings { limits, ..Settings::default() };
    settings.terms.asking = Asking::UNBOUNDED;
    settings
}

/// A control plane and somebody who talks to it.
struct World {
    serving: Serving,
    http: Client,
    root: String,
    _dir: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = SigningKey::from_seed("example.com/ledger".parse().unwrap(), &[7; 32]);
        let store = Store::open(Config::new(dir.path().join("store"), key)).await.unwrap();
        let roles = [Role::Admin, Role::Operator, Role::Reviewer, Role::Auditor].into();
        let (_, token) = bootstrap(&store, "root", roles).await.unwrap();
        let app = App::new(store, Arc::new(rules()), PermitSigner::from_seed(&[9; 32]), settings());
        let pages = placet_web::mount(&app);
        let serving = serve_with(app, "127.0.0.1:0".parse().unwrap(), pages).await.unwrap();
        let http = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { serving, http, root: token.reveal().to_owned(), _dir: dir }
    }

    async fn post(&self, token: &str, path: &str, body: &Value, seen: Option<&str>) -> Value {
        let request = self.http.post(format!("{}{path}", self.serving.url())).bearer_auth(token).json(body);
        let request = match seen {
            Some(seen) => request.header("if-match", format!("\"{seen}\"")),
            None => request,
        };
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    async fn hire(&self, name: &str, role: &str) -> (String, String) {
        let new = json!({ "name": name, "roles": [role] });
        let made = self.post(&self.root, "/api/v1/identities", &new, None).await;
        (made["identity"]["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
    }

    /// The cookie of somebody who came in by a link.
    async fn enter(&self, id: &str) -> String {
        let link = self.post(&self.root, &format!("/api/v1/identities/{id}/link"), &json!({}), None).await;
        let url = format!("{}{}", self.serving.url(), link["path"].as_str().unwrap());
        let answer = self.http.post(url).header("origin", self.serving.url()).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn open(&self, cookie: &str, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.serving.url())).header("cookie", cookie).send().await.unwrap()
    }

    /// A run under way, as the path of its actions.
    async fn undertake(&self, reviewer: &str, agent: &(String, String)) -> String {
        let project = self.post(&self.root, "/api/v1/projects", &json!({ "name": "alpha" }), None).await;
        let project = project["id"].as_str().unwrap();
        let scope = json!({ "name": "lab", "rules": { "targets": ["10.0.0.0/16"], "tools": ["nmap"] } });
        self.post(&self.root, &format!("/api/v1/projects/{project}/scopes"), &scope, None).await;
        let new = json!({ "project": project, "goal": "scan", "scope": "lab", "agent": agent.0, "plan": ["scan"] });
        let run = self.post(&self.root, "/api/v1/runs", &new, None).await;
        let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run["id"].as_str().unwrap());
        self.post(reviewer, &path("approve"), &json!({}), run["review"].as_str()).await;
        self.post(&self.root, &path("start"), &json!({}), None).await;
        self.post(&agent.1, &path("attach"), &json!({}), None).await;
        path("actions")
    }
}

fn rules() -> Rules {
    let tools = Tools::parse(DEFAULT_TOOLS).unwrap();
    let cages: Cages =
        tools.iter().map(|(_, tool)| (tool.profile.clone(), Digest::of(tool.profile.as_bytes()))).collect();
    let files: Vec<_> = default_policy().iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Rules::new(Policy::load(&files, &tools).unwrap(), tools, cages).unwrap()
}

fn scan(number: usize) -> Value {
    json!({ "tool": "nmap", "arguments": ["-sV"], "target": format!("10.0.{}.{}", number / 250, number % 250) })
}

fn quantiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1_000.0;
    json!({ "p50_ms": at(50), "p95_ms": at(95), "p99_ms": at(99), "max_ms": at(100) })
}

/// A control plane at which so many wait for somebody who is in.
struct Scene {
    world: World,
    cookie: String,
    agent: String,
    path: String,
}

impl Scene {
    async fn with(wish: impl Fn(usize) -> Value) -> Self {
        let world = World::start().await;
        let ((ada, reviewer), agent) = (world.hire("ada", "reviewer").await, world.hire("tom", "agent").await);
        let path = world.undertake(&reviewer, &agent).await;
        for number in 0..PENDING {
            world.post(&agent.1, &path, &wish(number), None).await;
        }
        let cookie = world.enter(&ada).await;
        Self { world, cookie, agent: agent.1, path }
    }

    async fn inbox(&self) -> Value {
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..LOOKS {
            let started = Instant::now();
            bytes = self.world.open(&self.cookie, "/").await.bytes().await.unwrap().len();
            times.push(started.elapsed());
        }
        json!({ "pending": PENDING, "bytes": bytes, "times": quantiles(times) })
    }
}

#[tokio::main]
async fn main() {
    let scene = Scene::with(scan).await;
    let inbox = scene.inbox().await;
    let told = told(&scene.world, &scene.cookie, &scene.agent, &scene.path).await;
    scene.world.serving.stop().await;
    let scene = Scene::with(|_| scan(0)).await;
    let identical = scene.inbox().await;
    scene.world.serving.stop().await;
    let news = json!({ "viewers": VIEWERS, "times": quantiles(told) });
    println!("{:#}", json!({ "inbox": inbox, "inbox_of_identical_ones": identical, "news": news }));
}

/// From the moment in which something is proposed until each open page has heard of it.
async fn told(world: &World, cookie: &str, agent: &str, path: &str) -> Vec<Duration> {
    let mut viewers = Vec::new();
    for _ in 0..VIEWERS {
        viewers.push(world.open(cookie, "/live?of=inbox").await);
    }
    let mut times = Vec::new();
    for number in 0..NEWS {
        let started = Instant::now();
        let mut waiting = JoinSet::new();
        for mut viewer in viewers.drain(..) {
            waiting.spawn(async move {
                viewer.chunk().await.unwrap().unwrap();
                (started.elapsed(), viewer)
            });
        }
        world.post(agent, path, &scan(PENDING + number), None).await;
        while let Some(heard) = waiting.join_next().await {
            let (time, viewer) = heard.unwrap();
            times.push(time);
            viewers.push(viewer);
        }
    }
    times
}
