//! Cages by hand: what `placet sandbox` runs, shows and refuses, and that a team's own profiles count everywhere.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Process, Said, World, clean, eventually, names_in, placet, placet_in, processes_with};

/// Runs a command in a cage, in a directory without a home.
fn caged(options: &[&str], command: &[&str]) -> Said {
    let dir = tempfile::tempdir().unwrap();
    caged_in(dir.path(), options, command)
}

fn caged_in(dir: &Path, options: &[&str], command: &[&str]) -> Said {
    placet_in(dir, &[&["sandbox", "run"], options, &["--"], command].concat())
}

fn explained(dir: &Path, options: &[&str]) -> Value {
    placet_in(dir, &[&["--json", "sandbox", "explain"], options].concat()).ok().json()
}

/// A home with one profile of the team's own.
fn home_with(name: &str, text: &str) -> World {
    let world = World::set_up();
    std::fs::write(world.home().join("profiles").join(format!("{name}.toml")), text).unwrap();
    world
}

const SMALL: &str = "about = \"small things\"\nextends = \"research_only\"\n\n[limits]\n\
                     wall = { is = \"700ms\", reason = \"they are quick\" }\n\
                     memory = { is = \"1GiB\", reason = \"as before\" }\n\n[variables]\n\
                     GREETING = { is = \"good day\", reason = \"politeness\" }\n";

#[test]
fn a_command_has_our_streams_and_its_own_code() {
    let said = caged(&[], &["sh", "-c", "echo out; echo err >&2; exit 7"]).exits(7);
    assert_eq!((said.out(), said.stderr.as_str()), ("out\n", "err\n"));
    caged(&[], &["sh", "-c", "kill -SEGV $$"]).exits(128 + 11);
    let mut child = placet()
        .args(["sandbox", "run", "--", "wc", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&vec![b'x'; 3_000_000]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "3000000", "more than a request could carry");
}

#[test]
fn a_limit_that_ends_it_is_named_with_how_much_was_used() {
    let said = caged(&["--limit", "wall=400ms,processes=50"], &["sleep", "60"]).exits(124);
    assert!(said.stderr.contains("`wall`") && said.stderr.contains("of 400ms"), "{}", said.stderr);
    assert!(said.stderr.contains("next: allow more with --limit wall="), "{}", said.stderr);
    let loud = caged(&["--limit", "output=64KiB"], &["yes"]).exits(124);
    assert!(loud.stderr.contains("`output`") && loud.stdout.len() <= 64 << 10, "{}", loud.stderr);
    let big =
        caged(&["--limit", "file_size=1MiB"], &["sh", "-c", "exec head -c 2000000 /dev/zero > /tmp/x"]).exits(124);
    assert!(big.stderr.contains("`file_size`: 1MiB of 1MiB"), "{}", big.stderr);
}

#[test]
fn as_json_the_end_and_what_was_used_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let said = placet_in(dir.path(), &["--json", "sandbox", "run", "--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
    let report = said.exits(3).json();
    assert_eq!(report["exit"], serde_json::json!({ "code": 3 }));
    assert_eq!((&report["stdout"], &report["stderr"]), (&"out\n".into(), &"err\n".into()));
    assert!(report["usage"]["peak_memory_bytes"].as_u64().unwrap() > 0 && report["usage"]["wall_ms"].is_u64());
    let over =
        placet_in(dir.path(), &["--json", "sandbox", "run", "--limit", "wall=300ms", "--", "sleep", "9"]).exits(124);
    let limit = &over.json()["exit"]["limit"];
    assert_eq!((&limit["which"], &limit["limit"]), (&"wall".into(), &300.into()));
    assert!(limit["seen"].as_u64().unwrap() >= 300, "{limit}");
}

#[test]
fn a_workspace_is_written_and_a_layered_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("kept"), "as it was").unwrap();
    std::fs::write(dir.path().join("gone"), "still here").unwrap();
    let script = "pwd; echo new > made; mkdir -p a/b; echo x > a/b/c; rm gone; echo other > kept; cat kept";
    let options = ["--workspace", ".", "--layered"];
    let said = caged_in(dir.path(), &options, &["sh", "-c", script]).ok();
    assert_eq!(said.out(), "/work\nother\n");
    for line in ["changed a/b/c ", "changed kept ", "changed made ", "removed gone "] {
        assert!(said.stderr.contains(line), "`{line}`: {}", said.stderr);
    }
    assert_eq!(names_in(dir.path()), ["gone", "kept"], "the directory is as it was");
    assert_eq!(std::fs::read_to_string(dir.path().join("kept")).unwrap(), "as it was");
    caged_in(dir.path(), &["--workspace", "."], &["sh", "-c", "rm gone; echo new > made"]).ok();
    assert_eq!(names_in(dir.path()), ["kept", "made"]);
}

#[test]
fn repositories_in_the_workspace_are_read_only() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".git")).unwrap();
    std::fs::write(dir.path().join(".git/config"), "before\n").unwrap();
    let plant = "printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/config";
    let said = caged_in(dir.path(), &["--workspace", "."], &["sh", "-c", plant]).exits(2);
    assert!(said.stderr.contains("Read-only file system"), "{}", said.stderr);
    let made = caged_in(dir.path(), &["--workspace", "."], &["mkdir", "-p", "sub/.git"]).ok();
    assert!(made.stderr.contains("the command made the repository `sub/.git`"), "{}", made.stderr);
    let json = placet_in(dir.path(), &["--json", "sandbox", "run", "--workspace", ".", "--", "mkdir", "-p", "a/.git"]);
    assert_eq!(json.ok().json()["new_repositories"], serde_json::json!(["a/.git"]));
    let inside = caged_in(dir.path(), &["--workspace", ".git"], &["true"]).exits(2);
    assert!(inside.stderr.contains("--writable-git"), "{}", inside.stderr);
    caged_in(dir.path(), &["--workspace", ".", "--writable-git"], &["sh", "-c", "echo more >> .git/config"]).ok();
    assert_eq!(std::fs::read_to_string(dir.path().join(".git/config")).unwrap(), "before\nmore\n");
}

#[test]
fn home_of_placet_is_never_shown() {
    let world = World::set_up();
    world.write("data.txt", "data");
    let secrets = "cat .placet/keys/*.seed .placet/tokens/* .placet/placet.toml; ls .placet; cat data.txt";
    for options in [&["--workspace", "."][..], &["--workspace", ".", "--layered"]] {
        let said = caged_in(world.dir(), options, &["sh", "-c", secrets]).ok();
        assert_eq!(said.out(), "data", "{options:?}");
        caged_in(world.dir(), options, &["sh", "-c", "mv .placet aside; rm .placet/placet.toml"]).exits(1);
    }
    assert!(world.home().join("placet.toml").is_file());
    let here = world.dir().display().to_string();
    for options in [
        &["--read-only", here.as_str()][..],
        &["--read-only", ".placet/keys"],
        &["--workspace", ".placet/keys"],
        &["--workspace", ".", "--writable-git"],
        &["--workspace", "data.txt", "--read-only", "."],
    ] {
        let said = caged_in(world.dir(), options, &["true"]).exits(3);
        assert!(said.stderr.contains("narrower folder"), "{options:?}: {}", said.stderr);
    }
    // A home of another name cannot be hidden.
    let other = tempfile::tempdir().unwrap();
    std::fs::rename(world.home(), other.path().join("placet-home")).unwrap();
    let home = other.path().join("placet-home").display().to_string();
    let named = ["--home", &home, "sandbox", "run", "--workspace", ".", "--", "true"];
    let said = placet_in(other.path(), &named).exits(3);
    assert!(said.stderr.contains("narrower folder"), "{}", said.stderr);
}

#[test]
fn planted_home_and_unreadable_path_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let said = caged_in(dir.path(), &["--workspace", "."], &["mkdir", "-p", "sub/.Placet"]).ok();
    assert!(said.stderr.contains("the command made `sub/.Placet`"), "{}", said.stderr);
    std::fs::remove_dir_all(dir.path().join("sub")).unwrap();
    // Deeper than a path may be long, so that nobody can look into it by its path.
    let dig = "import os\nfor _ in range(20):\n os.mkdir('d' * 250)\n os.chdir('d' * 250)\nos.mkdir('.git')";
    let said = caged_in(dir.path(), &["--workspace", "."], &["python3", "-c", dig]).ok();
    assert!(said.stderr.contains("could not be looked into: `dddd"), "{}", said.stderr);
    let again = caged_in(dir.path(), &["--workspace", "."], &["true"]).exits(2);
    assert!(again.stderr.contains("could not be searched for repositories"), "{}", again.stderr);
}

#[test]
fn files_and_variables_are_what_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data.txt"), "data\n").unwrap();
    let options = ["--read-only", "data.txt", "--read-only", "data.txt:/opt/other", "--env", "A=1=2"];
    let script = "cat /mnt/data.txt /opt/other; echo $A; echo x > /opt/other || echo closed; env | grep -c CARGO";
    let said = caged_in(dir.path(), &options, &["sh", "-c", script]).exits(1);
    assert_eq!(said.out(), "data\ndata\n1=2\nclosed\n0\n");
}

#[test]
fn a_door_leads_to_the_address_that_was_named_and_nowhere_else() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut words = String::new();
        stream.read_to_string(&mut words).unwrap();
        stream.write_all(words.to_uppercase().as_bytes()).unwrap();
    });
    let script = "import socket; s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'hello'); \
                  s.shutdown(socket.SHUT_WR); print(s.recv(100).decode())";
    let door = format!("3128={address}");
    assert_eq!(caged(&["--door", &door], &["python3", "-c", script]).ok().out(), "HELLO\n");
    server.join().unwrap();
    let shut = caged(&[], &["python3", "-c", script]).exits(1);
    assert!(shut.stderr.contains("refused"), "{}", shut.stderr);
}

/// Answers every request with its first line.
fn web_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                let Ok(1) = stream.read(&mut byte) else { break };
                asked.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&asked).lines().next().unwrap_or_default().to_owned();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{line}", line.len());
        }
    });
    address
}

#[test]
fn c5_a_command_reaches_the_hosts_that_were_allowed_and_nobody_else() {
    let (allowed, other) = (web_server(), web_server());
    let host = allowed.to_string();
    let script = format!(
        "curl -s http://{allowed}/a; echo; curl -s -p http://{allowed}/tunnel; echo; \
         curl -s -x socks5h://127.0.0.1:3128 http://{allowed}/socks; echo; \
         curl -s http://{other}/b; curl -s -o /dev/null -w '%{{http_code}}\\n' http://localhost:{}/c",
        allowed.port()
    );
    let named = format!("localhost:{}", allowed.port());
    let said = caged(&["--allow-host", &host, "--allow-host", &named], &["sh", "-c", &script]).ok();
    let lines: Vec<&str> = said.out().lines().collect();
    assert_eq!(lines[..3], ["GET /a HTTP/1.1", "GET /tunnel HTTP/1.1", "GET /socks HTTP/1.1"], "{}", said.out());
    assert!(lines[3].contains("(E11)") && lines[4].contains("a person can allow it"), "{}", said.out());
    assert_eq!(lines[5], "403", "a name does not lead to this machine");
    assert!(
        said.stderr.contains(&format!("refused {other}: the rules for `127.0.0.1` do not allow port")),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("which is this machine (E20)"), "{}", said.stderr);
}

#[test]
fn r11_programs_without_a_proxy_of_their_own_find_the_way_out_and_it_is_told_as_json() {
    let server = web_server();
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "import urllib.request as u; print(u.urlopen('http://{server}/x').read().decode())\n\
         try: u.urlopen('http://evil.test/')\nexcept Exception as e: print(e.code)"
    );
    let host = server.to_string();
    let options = ["--json", "sandbox", "run", "--allow-host", &host, "--", "python3", "-c", &script];
    let report = placet_in(dir.path(), &options).ok().json();
    assert_eq!(report["stdout"], "GET /x HTTP/1.1\n403\n");
    assert_eq!(report["requests"][0]["status"], 200);
    assert_eq!(report["requests"][1]["decision"]["refused"]["number"], 10);
    let without = caged(&[], &["python3", "-c", &script]).exits(1);
    assert!(without.stderr.contains("refused") || without.stderr.contains("unreachable"), "{}", without.stderr);
}

#[test]
fn c5_a_cage_by_hand_reaches_nobody_whom_its_profile_does_not_name() {
    let server = web_server();
    let dir = tempfile::tempdir().unwrap();
    let network =
        |hosts: &str| format!("about = \"x\"\nextends = \"default\"\nnetwork = {{ is = [{hosts}], reason = \"r\" }}\n");
    std::fs::write(dir.path().join("nobody.toml"), network("")).unwrap();
    std::fs::write(dir.path().join("here.toml"), network("\"127.0.0.1\"")).unwrap();
    let host = server.to_string();
    let tries = |profile: &str, options: &[&str]| {
        let command = ["sandbox", "run", "--profile", profile];
        placet_in(dir.path(), &[&command[..], options, &["--", "curl", "-s", &format!("http://{host}/x")]].concat())
    };
    let door = format!("{}={host}", server.port());
    for options in [["--allow-host", host.as_str()], ["--door", &door]] {
        refused(
            tries("./nobody.toml", &options),
            2,
            &["`nobody` does not let programs reach `127.0.0.1`", "--profile"],
        );
        assert_eq!(tries("./here.toml", &options).ok().out(), "GET /x HTTP/1.1");
    }
    refused(
        tries("./here.toml", &["--allow-host", "example.org"]),
        2,
        &["`here` does not let programs reach `example.org`"],
    );
}

#[test]
fn what_is_no_host_is_not_allowed_as_one() {
    refused(caged(&["--allow-host", "https://example.org"], &["true"]), 2, &["without scheme", "like example.org"]);
    refused(caged(&["--allow-host", "127.1"], &["true"]), 2, &["`127.1`", "unusual spelling"]);
    refused(caged(&["--allow-host", "example.org:0"], &["true"]), 2, &["port 0"]);
}

#[test]
fn what_ends_us_ends_the_command_and_leaves_nothing_behind() {
    let (tmp, marker) = (tempfile::tempdir().unwrap(), format!("{}", 4_000_000 + std::process::id()));
    let options = ["sandbox", "run", "--workspace", "/usr/share", "--layered", "--", "sleep", &marker];
    let mut command = placet();
    let mut process = Process::start(command.args(options).env("TMPDIR", tmp.path()));
    eventually("the command runs", Duration::from_secs(30), || processes_with(&format!("sleep {marker}")).len() > 1);
    assert_eq!(process.interrupt("INT", Duration::from_secs(30)).code(), Some(130));
    assert_eq!(processes_with(&format!("sleep {marker}")), Vec::<String>::new());
    assert_eq!(names_in(tmp.path()), Vec::<String>::new(), "the layer is gone");
}

#[test]
fn every_part_of_a_cage_is_explained_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let cage = explained(dir.path(), &["--workspace", ".", "--limit", "wall=3s", "--door", "80", "--env", "A=1"]);
    for section in ["files", "variables", "limits", "refused_calls"] {
        let parts = cage[section].as_array().unwrap();
        assert!(parts.len() >= 6, "{section}: {parts:?}");
        assert!(parts.iter().all(|part| !part["reason"].as_str().unwrap().is_empty()), "{section}: {parts:?}");
    }
    let part = |section: &str, name: &str| {
        let parts = cage[section].as_array().unwrap();
        parts.iter().find(|part| part["name"] == name).unwrap_or(&Value::Null)["is"].clone()
    };
    assert_eq!(part("limits", "wall"), "3s");
    assert_eq!(part("refused_calls", "ptrace"), "operation not permitted");
    assert!(part("files", "/work").as_str().unwrap().ends_with("writable"));
    assert_eq!(part("variables", "A"), "1");
    assert!(cage["doors"].as_str().unwrap().ends_with("asked for: 80"), "{cage}");
    assert_eq!(cage["steps"], Value::Null);
    let steps = explained(dir.path(), &["--steps"]);
    let steps = steps["steps"].as_array().unwrap();
    assert!(steps.len() > 50 && steps.last().unwrap().as_str().unwrap().starts_with("execute [\"true\"]"), "{steps:?}");
    let words = placet_in(dir.path(), &["sandbox", "explain"]).ok();
    for part in ["files", "variables", "limits", "refused system calls", "network", "it would start", "ptrace"] {
        assert!(words.out().contains(part), "`{part}`: {}", words.out());
    }
}

#[test]
fn c5_a_profile_of_ones_own_is_listed_explained_and_run() {
    let world = home_with("small", SMALL);
    let listed = world.json("admin", &["sandbox", "profiles"]);
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent", "browser_automation", "code_development", "default", "research_only", "small"]);
    let own = &listed[5];
    assert_eq!((&own["lineage"][1], &own["demands"]), (&"research_only".into(), &"degraded".into()));
    assert!(own["file"].as_str().unwrap().ends_with(".placet/profiles/small.toml"));
    let cage = explained(world.dir(), &["--profile", "small"]);
    let changes = cage["changes"].as_array().unwrap();
    assert_eq!(changes[0]["what"], "limit wall: 700ms instead of 2min");
    assert_eq!((&changes[0]["effect"], &changes[0]["reason"]), (&"tightens".into(), &"they are quick".into()));
    let run = |script: &str| caged_in(world.dir(), &["--profile", "small"], &["sh", "-c", script]);
    assert_eq!(run("echo $GREETING; cp /bin/true /tmp/t; /tmp/t").exits(126).out(), "good day\n");
    run("sleep 60").exits(124);
    std::fs::write(world.path("elsewhere.toml"), "about = \"x\"\nextends = \"small\"\n").unwrap();
    assert_eq!(
        caged_in(world.dir(), &["--profile", "elsewhere.toml"], &["printenv", "GREETING"]).ok().out(),
        "good day\n"
    );
}

#[test]
fn what_a_profile_loosens_is_listed() {
    let text = "about = \"wide\"\nextends = \"research_only\"\nprograms = { is = \"allowed\", reason = \"we must\" }\n\
                limits.wall = { is = \"9h\", reason = \"slow\" }\n";
    let world = home_with("wide", text);
    let said = world.cli(&["sandbox", "explain", "--profile", "wide"]).ok();
    let loosened: Vec<&str> = said.out().lines().filter(|line| line.trim().starts_with("loosens")).collect();
    assert_eq!(loosened.len(), 2, "{}", said.out());
    assert!(loosened[0].contains("programs written in the cage can be started") && loosened[0].contains("we must"));
    assert!(loosened[1].contains("limit wall: 9h instead of 2min") && loosened[1].contains("slow (wide)"));
}

#[test]
fn an_action_runs_in_the_profile_its_tool_names_and_its_evidence_says_what_it_used() {
    let mut world = home_with("small", SMALL);
    let tool = "[quick]\nprogram = \"/usr/bin/sleep\"\nkind = \"read_file\"\nprofile = \"small\"\n\
                [greet]\nprogram = \"/usr/bin/printenv\"\nkind = \"read_file\"\nprofile = \"small\"";
    world.edit("tools.toml", |text| format!("{text}\n{tool}"));
    world.serve();
    let run = world.undertake();
    let _worker = world.worker(&[]);
    let greeted = world.perform(&run, &["greet", "GREETING"]);
    assert_eq!((greeted.status.as_str(), world.evidence(&greeted.id, "stdout")), ("SUCCEEDED", b"good day\n".to_vec()));
    let usage = &greeted.manifest["usage"];
    assert!(usage["peak_memory_bytes"].as_u64().unwrap() > 0 && usage["cpu_ms"].is_u64(), "{usage}");
    let late = world.perform(&run, &["quick", "60"]);
    let limit = &late.manifest["exit"]["limit"];
    assert_eq!((late.status.as_str(), &limit["which"], &limit["limit"]), ("FAILED", &"timeout_ms".into(), &700.into()));
    assert!(limit["seen"].as_u64().unwrap() >= 700, "the profile is tighter than the tool, so it holds: {limit}");
}

/// What a mistake in a profile says, wherever it is read.
#[track_caller]
fn refused(said: Said, code: i32, parts: &[&str]) {
    let said = said.exits(code);
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    for part in parts {
        assert!(said.stderr.contains(part), "`{part}` is not said: {}", said.stderr);
    }
}

#[test]
fn a_broken_profile_is_named_with_its_line_and_nothing_starts() {
    let world =
        home_with("mine", "about = \"x\"\nextends = \"default\"\n[limits]\nwall = { is = \"ten\", reason = \"x\" }");
    for args in [&["serve"][..], &["--as", "admin", "work"], &["sandbox", "profiles"], &["sandbox", "explain"]] {
        refused(world.cli(args), 2, &["profiles/mine.toml` line 4", "`ten`", "`10s`"]);
    }
    let write = |text: &str| std::fs::write(world.home().join("profiles/mine.toml"), text).unwrap();
    write("about = \"x\"\nextends = \"default\"\nlimts = 1");
    refused(world.cli(&["serve"]), 2, &["mine.toml` line 3", "`limts`", "`limits`"]);
    write("about = \"x\"\nextends = \"default\"\n[limits]\nwall = { is = \"1s\" }");
    refused(world.cli(&["serve"]), 2, &["mine.toml` line 4", "`reason`", "next: add `reason"]);
    write("about = \"x\"\nextends = \"nothing\"");
    refused(world.cli(&["serve"]), 2, &["mine.toml` line 2", "`nothing`", "next: extend one of"]);
}

#[test]
fn a_tool_whose_profile_is_missing_or_not_meant_for_it_keeps_everything_from_starting() {
    let world = World::set_up();
    let tool =
        |profile: &str| format!("[t]\nprogram = \"/usr/bin/sh\"\nkind = \"execute_code\"\nprofile = \"{profile}\"");
    world.edit("tools.toml", |_| tool("mine"));
    for args in [&["serve"][..], &["--as", "admin", "work"], &["policy", "check"]] {
        refused(world.cli(args), 2, &["tools.toml`", "tool `t`", "`mine`, which does not exist", "next: name one of"]);
    }
    world.edit("tools.toml", |_| tool("research_only"));
    refused(world.cli(&["serve"]), 2, &["tool `t`", "execute_code", "`research_only` is not meant for", "next: "]);
}

#[test]
fn wrong_options_say_what_is_right() {
    refused(
        caged(&["--profile", "nothing"], &["true"]),
        10,
        &["no profile `nothing`", "next: choose one of", "default"],
    );
    refused(caged(&["--limit", "wall=10"], &["true"]), 2, &["`10`", "a time like"]);
    refused(caged(&["--limit", "wal=10s"], &["true"]), 2, &["no limit `wal`", "wall, cpu"]);
    refused(caged(&["--limit", "wall"], &["true"]), 2, &["`wall` is not NAME=VALUE"]);
    refused(caged(&["--env", "LD_PRELOAD=x"], &["true"]), 2, &["`LD_PRELOAD`", "must not be set"]);
    refused(caged(&["--read-only", "/etc:/opt/etc"], &["true"]), 2, &["`/etc`", "configures the host"]);
    refused(caged(&["--read-only", "/nowhere"], &["true"]), 2, &["`/nowhere`", "No such file"]);
    refused(caged(&["--read-only", "/usr/share:/etc/x"], &["true"]), 2, &["`/etc/x`", "/opt"]);
    refused(caged(&["--door", "x"], &["true"]), 2, &["`x`", "3128=127.0.0.1:8080"]);
    refused(caged(&["--door", "0"], &["true"]), 2, &["port 0"]);
    refused(caged(&["--layered"], &["true"]), 2, &["--workspace"]);
    refused(caged(&[], &["no-such-program"]), 10, &["`no-such-program`", "next: "]);
    refused(caged(&[], &["./x"]), 2, &["`./x`", "absolute path"]);
    refused(placet_in(&std::env::temp_dir(), &["sandbox", "run"]), 2, &["COMMAND"]);
    refused(placet_in(&std::env::temp_dir(), &["--home", "/nowhere", "sandbox", "profiles"]), 10, &["`/nowhere`"]);
}

/// A namespace of our own in which control groups cannot be written: what is left there is less than everything.
#[test]
fn a_profile_that_demands_every_layer_starts_nothing_on_a_lesser_host() {
    let world = home_with("strict", "about = \"everything\"\nextends = \"default\"\ndemands = \"full\"");
    let script = "for each in $(findmnt -rno TARGET -t cgroup,cgroup2); do mount -o remount,bind,ro $each || exit 99; done; \
                  exec \"$0\" \"$@\"";
    let lesser = |args: &[&str]| {
        let mut command = clean(Command::new("unshare"));
        command.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_placet")]).args(args);
        Said::by(command.current_dir(world.dir()))
    };
    let doctor = lesser(&["--json", "doctor"]).ok().json();
    assert_eq!(doctor["cage"]["tier"], "degraded", "{doctor}");
    let finding = |name: &str| doctor["findings"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    assert!(finding("control group: memory")["todo"].as_str().unwrap().contains("Delegate=yes"));
    assert!(finding("profiles")["detail"].as_str().unwrap().contains("strict"), "{doctor}");
    let ran = world.path("ran");
    let line = ["sandbox", "run", "--profile", "strict", "--workspace", ".", "--", "touch", "ran"];
    refused(lesser(&line), 12, &["this host cannot enforce", "next: `placet doctor`"]);
    assert!(!ran.exists());
    let explained = lesser(&["--json", "sandbox", "explain", "--profile", "strict"]).ok().json();
    assert!(explained["would_not_start"].as_str().unwrap().contains("cannot enforce"), "{explained}");
    lesser(&["sandbox", "run", "--", "true"]).ok();
    if placet_in(world.dir(), &["--json", "doctor"]).ok().json()["cage"]["tier"] == "full" {
        world.cli(&line).ok();
        assert!(ran.exists(), "where every layer is there, it runs");
    }
}

#[test]
fn cages_are_measured_beside_a_bare_process() {
    let dir = tempfile::tempdir().unwrap();
    let report = placet_in(dir.path(), &["bench", "--only", "cage", "--only", "leased", "--seconds", "1"]).ok().json();
    for what in ["/fork_exec", "/cage", "/cage_cold", "/sustained/cage"] {
        let times = report["cage"].pointer(what).unwrap();
        let [min, half, most] = ["min_ms", "p50_ms", "p95_ms"].map(|at| times[at].as_f64().unwrap());
        assert!(0.0 < min && min <= half && half <= most, "{report}");
    }
    assert!(report["cage"]["cage_first_ms"].as_f64().unwrap() > 0.0, "{report}");
    assert!(report["cage"]["cage_over_fork_exec"]["p50"].as_f64().unwrap() > 1.0, "{report}");
    let (told, ratio) = (&report["cage"]["bwrap"], &report["cage"]["cage_over_bwrap"]["p50"]);
    let absent = told["missing"].as_str().or(told["unusable"].as_str()).is_some_and(|why| !why.is_empty());
    assert!(absent && ratio.is_null() || told["p50_ms"].is_f64() && ratio.is_f64(), "{report}");
    assert!(report["leased"]["count"].as_u64().unwrap() > 0 && report["leased"]["p95_ms"].is_f64(), "{report}");
}
