//! Credentials of the team for actions: an agent names one, a person approves that it is used, and a worker puts it in outside
//! of the cage. Real curl, git and Python, a real worker, and a real server with TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::requests::{CANARY, Host, repository};
use crate::support::{Process, Said, World};

/// A home whose team gives actions two credentials for a host, and a run whose scope has that host.
struct Team {
    world: World,
    host: Host,
    run: String,
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn set_up() -> Team {
    let mut world = World::set_up();
    let host = Host::start(repository(world.dir()));
    fs::write(world.path("host.pem"), host.issuer.pem()).unwrap();
    private(&world.path("key"), CANARY);
    private(&world.home().join("credentials.toml"), &file(&world, &host, "/api"));
    world.serve();
    let run = world.undertake_reaching(&[&format!("https://{}/", host.address)]);
    Team { world, host, run }
}

fn file(world: &World, host: &Host, path: &str) -> String {
    let (at, to) = (world.dir().display(), format!("https://{}", host.address));
    format!(
        r#"
        tls = {{ roots = ["{at}/host.pem"] }}
        [[credential]]
        name = "api"
        to = ["{to}{path}"]
        methods = ["GET"]
        tools = ["sh", "curl"]
        projects = ["alpha"]
        key = {{ file = "{at}/key" }}
        variables = ["API_TOKEN"]
        [[credential]]
        name = "git"
        to = ["{to}/repo.git"]
        tools = ["sh"]
        key = {{ file = "{at}/key" }}
        put = {{ basic = "x-access-token" }}
        [[credential]]
        name = "others"
        to = ["{to}/"]
        tools = ["sh"]
        projects = ["beta"]
        key = {{ env = "NOBODY_LOOKS_FOR_THIS" }}
        "#
    )
}

impl Team {
    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host.address)
    }

    fn worker(&self) -> Process {
        self.world.worker(&[])
    }

    fn ask<'a>(&'a self, more: &[&'a str]) -> Said {
        self.world.by("tom", &[&["action", "propose", &self.run], more].concat())
    }
}

/// Everything that the home holds, as bytes; and everything that a reviewer gets as evidence, decrypted and unpacked.
fn everything(world: &World, action: &str) -> String {
    fn below(dir: &Path, all: &mut Vec<u8>) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => below(&entry.path(), all),
                kind if kind.is_file() => all.extend(fs::read(entry.path()).unwrap_or_default()),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    below(&world.home(), &mut all);
    let manifest = world.json("ada", &["evidence", "list", action]);
    for piece in manifest["items"].as_array().into_iter().flatten() {
        all.extend(world.evidence(action, piece["name"].as_str().unwrap()));
    }
    all.extend(world.by("ada", &["show", action]).ok().stdout);
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn r24_an_action_uses_a_credential_of_the_team_that_is_nowhere_but_at_the_worker_and_the_host() {
    let team = set_up();
    let (world, url) = (&team.world, team.url(""));
    let worker = team.worker();
    let script = format!(
        "set -e\n\
         curl -sS {url}/api/curl\n\
         curl -sS -H \"Authorization: Bearer $API_TOKEN\" {url}/api/token\n\
         python3 -c 'import urllib.request as u; print(u.urlopen(\"{url}/api/python\").read().decode())'\n\
         git clone -q {url}/repo.git /tmp/clone && cat /tmp/clone/hello\n\
         curl -sS {url}/elsewhere\n\
         env; cat /proc/*/environ | tr '\\0' '\\n'; ls -la /opt/placet-egress\n\
         grep -rs 's3cr3[t]-of' /opt /tmp /home /work /run /var /mnt /srv /etc && echo FO''UND || true\n"
    );
    let view = world.propose(
        &team.run,
        &["sh", &script, "--network", &team.url("/"), "--credential", "api", "--credential", "git"],
    );
    let id = view["id"].as_str().unwrap().to_owned();
    assert_eq!(view["status"], "PENDING_APPROVAL");
    let card = world.by("ada", &["show", &id]).ok();
    assert!(card.out().contains(&format!("uses     the team's credential api for GET {url}/api")), "{}", card.out());
    assert!(card.out().contains("network.credential"), "the policy says so: {}", card.out());
    world.by("ada", &["approve", &id, "--yes"]).ok();
    let done = world.done(&id);
    let said = String::from_utf8(world.evidence(&id, "stdout")).unwrap();
    let failed = String::from_utf8(world.evidence(&id, "stderr")).unwrap();
    assert_eq!(done.status, "SUCCEEDED", "{said}{failed}");
    // What it printed is shown without what looks like a secret, a placeholder too.
    assert!(said.contains("from the repository") && said.contains("API_TOKEN=[redacted "), "{said}");
    let heard = team.host.heard();
    for path in ["/api/curl", "/api/token", "/api/python"] {
        let sent = format!("Authorization: Bearer {CANARY}\r\n");
        assert!(heard.iter().any(|head| head.starts_with(&format!("GET {path} ")) && head.contains(&sent)), "{path}");
    }
    let elsewhere = heard.iter().find(|head| head.starts_with("GET /elsewhere ")).unwrap();
    assert!(!elsewhere.contains("Authorization"), "what is open beside its path goes without: {elsewhere}");
    assert!(!said.contains("FOUND") && said.matches("Authorization: Bearer ******************").count() == 3, "{said}");
    let everywhere = everything(world, &id) + &worker.stderr() + &world.control().stderr();
    assert!(
        everywhere.contains("/api/curl") && !everywhere.contains(CANARY),
        "the canary is in the home or the evidence"
    );
    let sealed = world.json("ada", &["show", &id])["spec"].clone();
    assert_eq!(sealed["credentials"][0]["name"], "api", "{sealed}");
}

#[test]
fn r25_a_credential_that_was_not_approved_is_not_put_in_and_a_strangers_is_refused() {
    let team = set_up();
    let _worker = team.worker();
    let url = team.url("/api/x");
    let script = format!(
        "curl -sS -H 'Authorization: Bearer attacker' {url}; curl -sS -X POST {url}; curl -sS '{url}?api_key=attacker'; curl -sS {url}"
    );
    let network = team.url("/");
    let done = team.world.perform(&team.run, &["sh", &script, "--network", &network, "--credential", "api"]);
    let said = String::from_utf8(team.world.evidence(&done.id, "stdout")).unwrap();
    assert_eq!(said.matches("(E15)").count(), 2, "{said}");
    let heard = team.host.heard();
    assert!(heard.len() == 2 && heard[0].starts_with("POST ") && !heard[0].contains(CANARY), "{heard:?}");
    assert!(heard[1].starts_with("GET ") && heard[1].contains(CANARY), "{heard:?}");
    let without = team.world.perform(&team.run, &["sh", &format!("curl -skS {url}"), "--network", &network]);
    assert_eq!(without.status, "SUCCEEDED", "{without:?}");
    assert!(!team.host.heard().last().unwrap().contains("Authorization"), "not named, not put in");
}

#[test]
fn b2_a_credential_is_refused_to_whom_it_is_not_for_and_rules_can_ask_about_it() {
    let mut team = set_up();
    let (network, other) = (team.url("/"), "https://other.test/".to_owned());
    let sh = |name: &'static str, network: &str| {
        let said = team.ask(&["sh", "true", "--network", network, "--credential", name]);
        said.stderr
    };
    assert!(sh("none", &network).contains("there is no credential `none`"), "{}", sh("none", &network));
    assert!(sh("others", &network).contains("not for this project"), "{}", sh("others", &network));
    assert!(sh("api", &other).contains("which this action does not open"), "{}", sh("api", &other));
    let python = team.ask(&["python3", "--network", &network, "--credential", "api", "--", "-c", "pass"]);
    assert!(python.stderr.contains("not for the tool `python3`"), "{}", python.stderr);
    let rule = r#"
        @id("team.git")
        @risk("1.00")
        @reason("nobody pushes from here")
        @matches("sh 'git push' ~https://example.org/ !git")
        @misses("sh 'git push' ~https://example.org/ !api")
        forbid (principal, action, resource) when { context.credentials.contains("git") };
    "#;
    team.world.stop_control();
    fs::write(team.world.home().join("policy/team.cedar"), rule).unwrap();
    team.world.serve();
    let refused = team.ask(&["sh", "git push", "--network", &network, "--credential", "git"]);
    assert!(refused.stderr.contains("nobody pushes from here"), "{}", refused.stderr);
}

#[test]
fn r24_a_worker_whose_own_file_says_otherwise_or_whose_secret_is_gone_starts_nothing() {
    let team = set_up();
    let (world, network) = (&team.world, team.url("/"));
    let elsewhere = world.path("credentials.toml");
    private(&elsewhere, &file(world, &team.host, "/api/narrow"));
    let worker = world.worker(&["--credentials", elsewhere.to_str().unwrap()]);
    let asked = ["sh", &format!("curl -sS {}", team.url("/api/x")), "--network", &network, "--credential", "api"];
    let why = |manifest: &Value| manifest["exit"].to_string();
    let done = world.perform(&team.run, &asked);
    assert!(done.status == "FAILED" && why(&done.manifest).contains("this worker's own goes to"), "{done:?}");
    worker.kill();
    let _worker = team.worker();
    fs::remove_file(world.path("key")).unwrap();
    let done = world.perform(&team.run, &asked);
    assert!(done.status == "FAILED" && why(&done.manifest).contains("the credential `api` cannot be read"), "{done:?}");
    assert!(team.host.heard().is_empty());
}

#[test]
fn a_file_of_credentials_that_others_may_write_or_that_says_too_little_is_not_read() {
    let world = World::set_up();
    let path = world.home().join("credentials.toml");
    private(&path, "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let said = world.cli(&["serve"]);
    assert!(said.stderr.contains("others may write to it"), "{}", said.stderr);
    private(
        &path,
        "[[credential]]\nname = \"a\"\nto = [\"https://a.test/\"]\ntools = [\"telnet\"]\nkey = { env = \"A\" }\n",
    );
    assert!(world.cli(&["serve"]).stderr.contains("the tool `telnet`, which does not exist"));
    private(&path, "[[credential]]\nname = \"a\"\nto = [\"https://a.test/\"]\ntools = [\"sh\"]\nkey = \"s3cr3t\"\n");
    let said = world.cli(&["serve"]);
    assert!(said.stderr.contains("credentials.toml") && !said.stderr.contains("s3cr3t"), "{}", said.stderr);
}
