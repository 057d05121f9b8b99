//! Inside of TLS, for actions: methods, paths and whose account is used are kept, whatever the program tries; and what nobody looks
//! into says so. Real curl in a real cage, a real worker, and a real server with TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::network::{number, printed, requests};
use crate::requests::Host;
use crate::support::{Done, Process, World, eventually};

/// A home that believes the host, and a run whose scope has it.
struct Site {
    world: World,
    host: Host,
    run: String,
    _worker: Process,
}

fn set_up() -> Site {
    let mut world = World::set_up();
    let host = Host::start(world.path("nothing"));
    fs::write(world.path("host.pem"), host.issuer.pem()).unwrap();
    let file = world.home().join("credentials.toml");
    fs::write(&file, format!("tls = {{ roots = [{:?}] }}\n", world.path("host.pem"))).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    world.serve();
    let run = world.undertake_reaching(&[&format!("https://{}/", host.address)]);
    let worker = world.worker(&[]);
    Site { world, host, run, _worker: worker }
}

impl Site {
    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host.address)
    }

    fn numbers(&self, done: &Done) -> Vec<u64> {
        requests(&self.world, done).iter().filter(|record| record["way"] == "http").map(number).collect()
    }
}

#[test]
fn r25_inside_of_tls_an_action_keeps_to_its_methods_and_paths_and_brings_nobodys_key() {
    let site = set_up();
    let api = site.url("/api");
    let script = format!(
        "curl -sS {api}/x; curl -sS -X POST -d a=b {api}/x; curl -sS {}; \
         curl -sS -H 'Authorization: Bearer attacker' {api}/x; curl -sS '{api}/x?api_key=attacker'; \
         curl -sS --http2 {api}/newer",
        site.url("/other")
    );
    let view = site.world.propose(&site.run, &["sh", &script, "--network", &format!("GET {api}")]);
    let id = view["id"].as_str().unwrap().to_owned();
    let card = site.world.by("ada", &["show", &id]).ok();
    assert!(card.out().contains(&format!("reaches  GET {api}\n")), "{}", card.out());
    if view["status"] == "PENDING_APPROVAL" {
        site.world.by("ada", &["approve", &id, "--yes"]).ok();
    }
    let done = site.world.done(&id);
    let said = printed(&site.world, &done);
    for refused in ["(E13)", "(E14)", "(E15)"] {
        assert!(said.contains(refused), "{refused}: {said}");
    }
    assert_eq!(site.numbers(&done), [0, 13, 14, 15, 15, 0], "each of them is evidence");
    let records = requests(&site.world, &done);
    let first = records.iter().find(|record| record["path"] == "/api/x" && number(record) == 0).unwrap();
    assert_eq!((&first["method"], &first["status"]), (&"GET".into(), &200.into()), "{first}");
    assert!(first["decision"]["allowed"].as_str().unwrap().contains("methods GET paths /api credential none"));
    let heard = site.host.heard();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard.iter().all(|head| head.starts_with("GET /api/") && !head.contains("attacker")), "{heard:?}");
    let learned = site.world.by("ada", &["run", "learn", &site.run]).ok();
    assert!(learned.out().contains(&format!("--network 'GET {api}/x'")), "{}", learned.out());
}

#[test]
fn b2_a_tunnel_that_nobody_looks_into_has_to_say_so_and_rules_can_refuse_it() {
    let mut site = set_up();
    let (url, tunnel) = (site.url("/"), format!("unseen {}", site.url("/")));
    let script = format!("curl -sSk -H 'Authorization: Bearer own' {url}");
    let view = site.world.propose(&site.run, &["sh", &script, "--network", &tunnel]);
    assert_eq!(view["status"], "PENDING_APPROVAL", "one person is asked: {view}");
    let id = view["id"].as_str().unwrap().to_owned();
    let card = site.world.by("ada", &["show", &id]).ok();
    assert!(card.out().contains(&format!("reaches  {tunnel} (a tunnel: neither requests")), "{}", card.out());
    assert!(card.out().contains("network.unseen"), "{}", card.out());
    site.world.by("ada", &["approve", &id, "--yes"]).ok();
    let done = site.world.done(&id);
    assert!(printed(&site.world, &done).contains("Bearer own"), "{done:?}");
    let records = requests(&site.world, &done);
    assert!(records.len() == 1 && records[0]["method"].is_null(), "nothing inside was seen: {records:?}");
    let rule = r#"
        @id("team.seen")
        @risk("1.00")
        @reason("here everything is looked into")
        @matches("sh 'make' ~'unseen https://example.org/'")
        @misses("sh 'make' ~https://example.org/")
        forbid (principal, action, resource) when { context.unseen_network };
    "#;
    site.world.stop_control();
    fs::write(site.world.home().join("policy/team.cedar"), rule).unwrap();
    site.world.serve();
    let refused = site.world.by("tom", &["action", "propose", &site.run, "sh", "true", "--network", &tunnel]);
    assert!(refused.stderr.contains("here everything is looked into"), "{}", refused.stderr);
}

#[test]
fn c5_a_method_that_was_refused_inside_of_tls_is_opened_by_a_person_while_the_action_runs() {
    let site = set_up();
    let url = site.url("/items");
    let script = format!(
        "for i in $(seq 300); do curl -sS -o /dev/null -w '%{{http_code}}' -X POST -d a {url} | grep -q 200 && echo open && exit 0; \
         sleep 0.1; done; echo in vain"
    );
    let id = site.world.cleared(&site.run, &["sh", &script, "--network", &format!("GET {}", site.url("/"))]);
    let wanted = format!("POST {}", site.url("/"));
    let wish = || {
        let wishes = site.world.json("ada", &["run", "wishes", &site.run])["wishes"].as_array().unwrap().clone();
        wishes.into_iter().find(|wish| wish["opening"] == wanted.as_str())
    };
    eventually("a person is asked", Duration::from_secs(60), || wish().is_some());
    let number = wish().unwrap()["number"].to_string();
    site.world.by("ada", &["run", "allow", &site.run, &number, "--minutes", "5"]).ok();
    let done = site.world.done(&id);
    assert_eq!(printed(&site.world, &done), "open\n", "{done:?}");
}
