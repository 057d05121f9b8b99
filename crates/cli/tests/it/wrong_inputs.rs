//! Wrong inputs: each is answered with what is wrong and what to do, never with a panic or with words of the compiler.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Said, World, placet_in};

/// What every answer to a mistake has in common.
#[track_caller]
fn well_said(said: Said, code: i32, parts: &[&str]) {
    let said = said.exits(code);
    let text = &said.stderr;
    assert!(text.starts_with("error: "), "{}: {text}", said.what);
    for part in parts {
        assert!(text.contains(part), "{}: `{part}` is not said: {text}", said.what);
    }
    for foreign in ["panicked", "backtrace", "RUST_", "::", "Err(", "Some(", "None", "unwrap", "\u{1b}", ".rs:"] {
        assert!(!text.contains(foreign), "{}: says `{foreign}`: {text}", said.what);
    }
    assert_eq!(said.out(), "", "{}: a mistake has no answer", said.what);
}

const NEXT: &str = " next: ";

#[test]
fn without_a_home_it_says_how_to_make_one() {
    let empty = tempfile::tempdir().unwrap();
    let here = |args: &[&str]| placet_in(empty.path(), args);
    well_said(here(&["queue"]), 10, &["there is no .placet here", NEXT, "placet init"]);
    well_said(here(&["serve"]), 10, &["there is no .placet here", NEXT]);
    well_said(here(&["--home", "nowhere", "queue"]), 10, &["`nowhere` holds no placet.toml", NEXT]);
    // A worker could do without a home, and would save what it hosts in the clear.
    let without =
        ["--home", "nowhere", "--server", "http://127.0.0.1:1", "--token", "t", "work", "--permit-key", "permit.pub"];
    well_said(here(&[&without[..], &["--runs", "runs"]].concat()), 10, &["`nowhere` holds no placet.toml", NEXT]);
    well_said(here(&["policy", "check"]), 10, &["there is no .placet here", NEXT]);
    well_said(here(&["ledger", "check-proof", "nowhere", "--key", "x"]), 2, &["not a verifier key"]);
    well_said(
        here(&["--server", "127.0.0.1:80", "--token", "x", "queue"]),
        2,
        &["`127.0.0.1:80` is no address", NEXT, "http://"],
    );
}

#[test]
fn broken_settings_name_the_file_the_line_and_the_key() {
    let world = World::set_up();
    let good = std::fs::read_to_string(world.home().join("placet.toml")).unwrap();
    let with = |text: String| {
        world.edit("placet.toml", |_| text);
        world.cli(&["serve"])
    };
    well_said(with("address = [".into()), 2, &["placet.toml`", "line 1"]);
    well_said(with(good.replace("lease_ms", "leese_ms")), 2, &["leese_ms", "lease_ms", "line "]);
    well_said(with(good.replace("127.0.0.1", "localhost")), 2, &["address", "line "]);
    well_said(with(good.replace("lease_ms = ", "lease_ms = -")), 2, &["lease_ms", "line "]);
    well_said(with(good.replace("127.0.0.1", "0.0.0.0")), 2, &["is not a loopback address", NEXT, "TLS"]);
}

#[test]
fn a_broken_rule_is_shown_with_file_line_and_column_and_nothing_starts() {
    let world = World::set_up();
    std::fs::write(world.home().join("policy/mine.cedar"), "\npermit (principal action);").unwrap();
    for args in [&["serve"][..], &["policy", "check"], &["policy", "test"], &["policy", "explain", "cat", "x"]] {
        well_said(world.cli(args), 2, &["mine.cedar:2:19", "hint:"]);
    }
    for name in ["code", "files", "mine", "network", "outward", "reading"] {
        std::fs::remove_file(world.home().join(format!("policy/{name}.cedar"))).unwrap();
    }
    well_said(world.cli(&["serve"]), 2, &["holds no .cedar file", "everything is refused", NEXT]);
}

#[test]
fn a_typo_in_the_tools_is_named_and_nothing_starts() {
    let world = World::set_up();
    world.edit("tools.toml", |text| text.replacen("kind = \"read_file\"", "kid = \"read_file\"", 1));
    for args in [&["serve"][..], &["policy", "check"]] {
        well_said(world.cli(args), 2, &["tools.toml`", "line ", "`kid`", "`kind`"]);
    }
    world.edit("tools.toml", |text| text.replacen("kid = \"read_file\"", "kind = \"reads_file\"", 1));
    well_said(world.cli(&["serve"]), 2, &["tools.toml`", "reads_file", "read_file"]);
    world.edit("tools.toml", |_| "[cat]\nprogram = \"cat\"\nkind = \"read_file\"".into());
    well_said(world.cli(&["serve"]), 2, &["`cat` is not an absolute path"]);
}

#[test]
fn secrets_that_others_can_read_are_not_used() {
    let world = World::set_up();
    for name in ["keys/permit.seed", "keys/ledger.seed"] {
        let path = world.home().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        well_said(world.cli(&["serve"]), 3, &[name, "can be read by others", NEXT, "chmod 600"]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let token = world.home().join("tokens/admin.token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o604)).unwrap();
    well_said(world.cli(&["queue"]), 3, &["admin.token", NEXT, "chmod 600"]);
}

#[test]
fn lost_and_broken_keys_are_named() {
    let world = World::set_up();
    world.edit("keys/permit.seed", |_| "not hex".into());
    well_said(world.cli(&["serve"]), 2, &["permit.seed", "64 hex digits", NEXT]);
    std::fs::remove_file(world.home().join("keys/ledger.seed")).unwrap();
    well_said(world.cli(&["ledger", "export", "copy", "--offline"]), 10, &["ledger.seed", "is gone", NEXT, "backup"]);
    world.edit("keys/permit.pub", |_| "zz".into());
    well_said(world.cli(&["work"]), 2, &["permit.pub", "no permit key"]);
    well_said(world.by("nobody", &["queue"]), 10, &["no token of `nobody`", NEXT, "placet identity add nobody"]);
}

#[test]
fn what_is_taken_already_is_left_alone() {
    let (world, _) = World::start();
    let before = std::fs::read(world.home().join("keys/ledger.seed")).unwrap();
    well_said(world.cli(&["init"]), 9, &["set up already", NEXT, "placet serve"]);
    assert_eq!(std::fs::read(world.home().join("keys/ledger.seed")).unwrap(), before);
    well_said(world.cli(&["serve", "--address", "127.0.0.1:0"]), 9, &["another process", "uses the store"]);
    well_said(world.cli(&["ledger", "export", "copy", "--offline"]), 9, &["another process", "uses the store"]);
    let other = World::set_up();
    let address = world.url().replace("http://", "");
    well_said(other.cli(&["serve", "--address", &address]), 9, &[&address, NEXT, "--address"]);
    well_said(world.cli(&["project", "new", "alpha"]), 9, &["exists already"]);
}

#[test]
fn unknown_names_and_ids_are_named_back() {
    let (world, run) = World::start();
    well_said(world.by("ada", &["show", "cafecafe"]), 10, &["no action `cafecafe`", NEXT]);
    well_said(world.by("ada", &["show", "xy"]), 2, &["too short"]);
    well_said(world.cli(&["run", "show", "cafecafe"]), 10, &["no run `cafecafe`", NEXT]);
    well_said(
        world.cli(&["run", "show", "run_00000000000070008000000000000000"]),
        10,
        &["no such run", NEXT, "placet run list"],
    );
    well_said(world.cli(&["scope", "list", "--project", "beta"]), 10, &["no project `beta`", NEXT]);
    well_said(world.cli(&["identity", "revoke", "zoe"]), 10, &["nobody is called `zoe`", NEXT]);
    well_said(
        world.cli(&["run", "new", "x", "--scope", "none", "--agent", "tom"]),
        10,
        &["there is no scope `none`", "there are: `all`"],
    );
    well_said(world.by("tom", &["action", "propose", &run, "emacs"]), 2, &["`emacs`"]);
    well_said(world.by("tom", &["action", "propose", &run, "Cat"]), 2, &["bad name `Cat`"]);
    well_said(world.by("tom", &["action", "propose", &run, "cat", "--file", "nowhere"]), 1, &["`nowhere`"]);
    well_said(world.by("tom", &["action", "propose", &run, "cat", "--env", "X"]), 2, &["`X` is not NAME=VALUE"]);
    well_said(world.by("tom", &["action", "propose", &run, "nmap", "--target", "a b"]), 2, &["a b"]);
    well_said(
        world.cli(&["project", "new", "beta"]).ok().then(&world, &["scope", "list"]),
        2,
        &["several projects", NEXT],
    );
}

#[test]
fn who_may_not_do_something_is_told_who_may() {
    let (world, run) = World::start();
    well_said(world.cli(&["run", "approve", &run, "--json"]).ok_json_error(3), 3, &[]);
    well_said(world.by("tom", &["queue"]), 3, &["reviewer", NEXT, "--as"]);
    well_said(world.by("w1", &["run", "list"]), 3, &["roles", NEXT, "--as"]);
    world.cli(&["identity", "revoke", "ada"]).ok();
    well_said(world.by("ada", &["queue"]), 3, &["not known or was revoked", NEXT, "--as"]);
    well_said(world.cli(&["--token", "plc_guessed", "queue"]), 3, &["not known", NEXT]);
}

#[test]
fn files_that_are_not_what_they_should_be_are_named() {
    let (world, _) = World::start();
    world.write("scope.toml", "allow = [\"a\"]\nalow = []");
    well_said(world.cli(&["scope", "lock", "x", "scope.toml"]), 2, &["scope.toml`", "alow", "line 2"]);
    world.write("scope.toml", "tools = [\"emacs\"]");
    well_said(world.cli(&["scope", "lock", "x", "scope.toml"]), 2, &["`emacs`"]);
    well_said(world.cli(&["scope", "lock", "x", "nowhere.toml"]), 10, &["nowhere.toml"]);
    let key = world.json("admin", &["ledger", "head"])["key"].as_str().unwrap().to_owned();
    world.write("proof.json", "{}");
    well_said(world.cli(&["ledger", "check-proof", "proof.json", "--key", &key]), 2, &["proof.json", "seq"]);
    well_said(world.cli(&["ledger", "prove", "999999"]), 10, &["no such entry"]);
    world.write("some.head", "nothing signed");
    std::fs::create_dir(world.path("copy")).unwrap();
    well_said(
        world.cli(&["ledger", "verify", "copy", "--key", &key, "--since", "some.head"]),
        2,
        &["some.head", "no head"],
    );
    world.write("copy/mine.txt", "mine");
    well_said(world.cli(&["ledger", "export", "copy"]), 1, &["copy"]);
    assert!(Path::new(&world.path("copy/mine.txt")).exists());
}

impl Said {
    /// The next command, for a sentence of two.
    fn then(self, world: &World, args: &[&str]) -> Self {
        world.cli(args)
    }

    /// As JSON, an error is one object on stderr; returned in words, to be looked at like the others.
    #[track_caller]
    fn ok_json_error(self, code: i32) -> Self {
        let problem: serde_json::Value = serde_json::from_str(&self.stderr).unwrap();
        assert_eq!(problem["exit"], code);
        let stderr =
            format!("error: {}\n next: {}", problem["error"].as_str().unwrap(), problem["hint"].as_str().unwrap());
        Self { stderr, ..self }
    }
}
