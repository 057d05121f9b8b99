//! What an action under way was refused: a person is asked, what they open is open at once and for a while, and what they take
//! back is closed. And what a run used, as the narrowest rules that would have sufficed.

use std::time::{Duration, Instant};

use placet_wire::api::GrantRequest;
use placet_wire::endpoint::GrantWish;
use serde_json::Value;

use crate::network::{ASK, Server, python, start};
use crate::support::{World, eventually};

const PATIENCE: Duration = Duration::from_secs(60);

fn wishes(world: &World, run: &str) -> Vec<Value> {
    world.json("ada", &["run", "wishes", run])["wishes"].as_array().unwrap().clone()
}

fn wish_for(world: &World, run: &str, opening: &str) -> Option<Value> {
    wishes(world, run).into_iter().find(|wish| wish["opening"] == opening)
}

/// Asks until the answer changes, and says so; twice.
fn patient(url: &str) -> String {
    format!(
        "{ASK}
import sys, time
def until(good):
    for _ in range(600):
        said = ask('{url}')
        if (said != 403) == good: print('open' if good else 'closed', flush=True); return
        time.sleep(0.1)
    print('in vain'); sys.exit(1)
ask('http://elsewhere.test/'); ask('http://127.0.0.1:9/'); ask('http://169.254.169.254/')
until(True); until(False)"
    )
}

#[test]
fn c5_what_was_refused_is_opened_by_a_person_while_the_action_runs_and_closed_again() {
    let (opened, wanted) = (Server::start(), Server::start());
    let (world, run, _worker) = start(&[&opened.url("/"), &wanted.url("/")]);
    let script = patient(&wanted.url("/x"));
    let id = world.cleared(&run, &["python3", "--network", &opened.url("/"), "--", "-c", &script]);
    let opening = format!("GET {}", wanted.url("/"));
    eventually("a person is asked", PATIENCE, || wish_for(&world, &run, &opening).is_some());
    eventually("about a name too", PATIENCE, || wish_for(&world, &run, "GET http://elsewhere.test:80/").is_some());
    assert_eq!(wishes(&world, &run).len(), 2, "never about places that are not public and not in the scope");
    assert_eq!(wanted.was_asked(), 0, "nothing is open because it was asked for");
    let number = wish_for(&world, &run, &opening).unwrap()["number"].to_string();
    assert!(world.by("tom", &["run", "allow", &run, &number]).code != Some(0), "an agent opens nothing for itself");
    assert!(world.cli(&["run", "allow", &run, &number]).code != Some(0), "nor does whoever made the run");
    world.by("ada", &["run", "allow", &run, &number, "--minutes", "5"]).ok();
    let granted = Instant::now();
    eventually("it is open without a restart", PATIENCE, || wanted.was_asked() > 0);
    eprintln!("open after {} ms", granted.elapsed().as_millis());
    world.by("ada", &["run", "revoke", &run, &number, "--reason", "enough"]).ok();
    let done = world.done(&id);
    assert_eq!(String::from_utf8_lossy(&world.evidence(&id, "stdout")), "open\nclosed\n", "{done:?}");
    assert_eq!(wish_for(&world, &run, &opening).unwrap()["status"], "REVOKED");
    for event in ["run.network_wished", "run.network_granted", "run.network_revoked"] {
        let trail = world.json("admin", &["run", "audit", &run]);
        assert!(trail["rows"].as_array().unwrap().iter().any(|row| row["event"] == event), "{event}");
    }
}

#[test]
fn c5_what_was_granted_ends_by_itself_and_nothing_has_to_be_done_for_it() {
    let (opened, wanted) = (Server::start(), Server::start());
    let (world, run, _worker) = start(&[&opened.url("/"), &wanted.url("/")]);
    let script = patient(&wanted.url("/x"));
    let id = world.cleared(&run, &["python3", "--network", &opened.url("/"), "--", "-c", &script]);
    let opening = format!("GET {}", wanted.url("/"));
    eventually("a person is asked", PATIENCE, || wish_for(&world, &run, &opening).is_some());
    let wish = wish_for(&world, &run, &opening).unwrap();
    let number = serde_json::from_value(wish["number"].clone()).unwrap();
    let grant = GrantWish { run: run.parse().unwrap(), number };
    let asked = GrantRequest { lasts_ms: Some(3_000) };
    let granted = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = world.client("ada");
        client.post_if(grant, wish["review"].as_str().unwrap(), &asked).await
    });
    granted.unwrap();
    let done = world.done(&id);
    assert_eq!(String::from_utf8_lossy(&world.evidence(&id, "stdout")), "open\nclosed\n", "{done:?}");
    assert_eq!(world.times(&run, &id, "run.network_revoked"), 0, "nobody took it back");
}

#[test]
fn c5_where_a_team_opens_nothing_under_way_nobody_is_asked() {
    let (opened, wanted) = (Server::start(), Server::start());
    let mut world = World::set_up();
    world.term("longest_grant_ms", 0);
    world.serve();
    let run = world.undertake_reaching(&[&opened.url("/"), &wanted.url("/")]);
    let _worker = world.worker(&[]);
    let script = format!("{ASK}\nimport time\nprint(ask('{}')); time.sleep(2)", wanted.url("/"));
    let done = python(&world, &run, &[&opened.url("/")], &script);
    assert_eq!(String::from_utf8_lossy(&world.evidence(&done.id, "stdout")), "403\n");
    assert!(wishes(&world, &run).is_empty());
}

#[test]
fn c6_what_a_run_used_becomes_a_narrower_scope_that_a_person_can_read() {
    let server = Server::start();
    let (world, run, _worker) = start(&["127.0.0.0/8", "*.example.org", &server.url("/")]);
    let script = format!("{ASK}\nprint(ask('{}'), ask('http://evil.test/'))", server.url("/v1/a"));
    let done = python(&world, &run, &[&server.url("/")], &script);
    assert_eq!(done.status, "SUCCEEDED", "{done:?}");
    let listed = world.by("ada", &["run", "learn", &run]).ok();
    assert!(listed.out().contains(&format!("--network 'GET {}'", server.url("/v1/a"))), "{}", listed.out());
    let before = std::fs::read_to_string(world.path("scope.toml")).unwrap();
    let diff = world.by("ada", &["run", "learn", &run, "--scope", "scope.toml"]).ok();
    assert!(diff.out().contains("--- a/scope.toml") && diff.out().contains("-targets ="), "{}", diff.out());
    assert!(diff.out().contains(&format!("+  \"{}\"", server.url("/v1/a"))), "{}", diff.out());
    assert!(!diff.out().contains("+  \"127.0.0.0/8\"") && !diff.out().contains("evil.test"), "{}", diff.out());
    assert_eq!(std::fs::read_to_string(world.path("scope.toml")).unwrap(), before, "it changes nothing");
}

/// The addresses of a name that is this machine's, for whoever has to open them.
fn addresses_of(name: &str) -> Vec<String> {
    use std::net::ToSocketAddrs as _;
    let found: std::collections::BTreeSet<_> =
        (name, 0).to_socket_addrs().unwrap().map(|address| address.ip()).collect();
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn c6_what_was_learned_of_a_name_that_leads_to_a_private_place_suffices_to_do_it_again() {
    let server = Server::start();
    let url = server.url("/v1/a").replace("127.0.0.1", "localhost");
    let beside = addresses_of("localhost");
    let all: Vec<&str> = beside.iter().map(String::as_str).chain(["127.0.0.0/8", "*.example.org", &url]).collect();
    let (world, run, _worker) = start(&all);
    let script = format!("{ASK}\nprint(ask('{url}'))");
    let network: Vec<&str> = beside.iter().map(String::as_str).chain([url.as_str()]).collect();
    let done = python(&world, &run, &network, &script);
    assert_eq!(String::from_utf8_lossy(&world.evidence(&done.id, "stdout")), "GET /v1/a HTTP/1.1\n", "{done:?}");
    let learned = world.json("ada", &["run", "learn", &run, "--scope", "scope.toml"]);
    std::fs::write(world.path("learned.diff"), learned["diff"].as_str().unwrap()).unwrap();
    let patched =
        std::process::Command::new("git").args(["apply", "learned.diff"]).current_dir(world.dir()).output().unwrap();
    assert!(patched.status.success(), "{}", String::from_utf8_lossy(&patched.stderr));
    let narrower = std::fs::read_to_string(world.path("scope.toml")).unwrap();
    assert!(narrower.contains("127.0.0.1") && !narrower.contains("127.0.0.0/8"), "{narrower}");
    world.cli(&["scope", "lock", "all", "scope.toml"]).ok();
    let again = world.run_of("tom");
    let openings: Vec<&str> =
        learned["openings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let done = python(&world, &again, &openings, &script);
    assert_eq!(String::from_utf8_lossy(&world.evidence(&done.id, "stdout")), "GET /v1/a HTTP/1.1\n", "{done:?}");
    assert_eq!(server.was_asked(), 2);
}
