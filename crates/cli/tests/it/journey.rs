//! A new user's whole way, only with the command line: once reading words, once as a script that reads JSON.

use serde_json::Value;

use crate::support::{Said, World};

/// How the user reads answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Words,
    Json,
}

struct Journey {
    world: World,
    reads: Reads,
}

impl Journey {
    /// Runs a command as somebody and checks that stdout carries the answer and nothing else.
    #[track_caller]
    fn say(&self, name: &str, args: &[&str]) -> Said {
        let mut command = self.world.command(&["--as", name]);
        if self.reads == Reads::Json {
            command.arg("--json");
        }
        let said = Said::by(command.args(args));
        assert!(!said.out().contains('\u{1b}'), "no colour in a pipe: {}", said.out());
        match self.reads {
            Reads::Words => assert!(!said.out().contains("next:"), "advice is no data: {}", said.out()),
            Reads::Json if said.code == Some(0) => {
                said.json();
                assert_eq!(said.stderr, "", "{}", said.what);
            }
            Reads::Json => {}
        }
        said
    }

    #[track_caller]
    fn ok(&self, name: &str, args: &[&str]) -> Said {
        self.say(name, args).ok()
    }

    /// The end of the id that an answer names, as one would copy it.
    fn end_of_id(&self, said: &Said) -> String {
        let id = match self.reads {
            Reads::Json => said.json()["id"].as_str().unwrap().to_owned(),
            Reads::Words => said
                .out()
                .split_whitespace()
                .rfind(|word| word.contains("act_") || word.contains("run_"))
                .unwrap()
                .to_owned(),
        };
        id[id.len() - 8..].to_owned()
    }

    /// Whether an answer says so: in words, or in this field.
    #[track_caller]
    fn tells(&self, said: &Said, field: &str, value: &str) {
        match self.reads {
            Reads::Words => assert!(said.out().contains(value), "{value}: {}", said.out()),
            Reads::Json => assert_eq!(at(&said.json(), field), value, "{}", said.out()),
        }
    }
}

fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('/').fold(value, |value, key| key.parse::<usize>().map_or_else(|_| &value[key], |index| &value[index]))
}

#[test]
fn a_new_user_reads_words() {
    travel(Reads::Words);
}

#[test]
fn a_script_reads_json() {
    travel(Reads::Json);
}

fn travel(reads: Reads) {
    let mut journey = Journey { world: World::set_up(), reads };
    journey.world.serve();
    let run = prepare(&journey);
    let _worker = journey.world.worker(&[]);
    let [read, written, refused] = propose_all_three(&journey, &run);
    decide(&journey, &written, &run);
    look_at_evidence(&journey, &read, &written);
    assert!(journey.say("ada", &["evidence", "list", &refused]).exits(10).stderr.contains("no evidence"));
    finish(&journey, &run);
    check_the_record(&journey);
    journey.world.stop_control();
}

/// From an empty home to a run that is under way.
fn prepare(journey: &Journey) -> String {
    let made = journey.ok("admin", &["project", "new", "alpha"]);
    journey.tells(&made, "name", "alpha");
    journey.tells(&journey.ok("admin", &["project", "list"]), "projects/0/name", "alpha");
    journey.world.write(
        "scope.toml",
        "allow = [\"lines.txt\"]\ntargets = [\"10.0.0.0/24\"]\ntools = [\"cat\", \"sh\", \"nmap\"]",
    );
    journey.tells(&journey.ok("admin", &["scope", "lock", "lab", "scope.toml"]), "name", "lab");
    journey.tells(&journey.ok("admin", &["scope", "list"]), "scopes/0/name", "lab");
    for (name, role) in [("ada", "reviewer"), ("tom", "agent"), ("w1", "worker")] {
        journey.tells(&journey.ok("admin", &["identity", "add", name, "--role", role]), "identity/name", name);
    }
    assert!(journey.ok("admin", &["identity", "list"]).out().contains("reviewer"));

    let new = journey.ok(
        "admin",
        &["run", "new", "count lines", "--scope", "lab", "--agent", "tom", "--step", "read", "--step", "count"],
    );
    journey.tells(&new, "status", "PENDING_APPROVAL");
    let run = journey.end_of_id(&new);
    journey.tells(&journey.ok("ada", &["run", "approve", &run]), "status", "APPROVED");
    journey.tells(&journey.ok("admin", &["run", "start", &run]), "status", "SPAWNING_SANDBOX");
    journey.tells(&journey.ok("admin", &["run", "list"]), "runs/0/goal", "count lines");
    run
}

/// Tier A is carried out at once, tier B waits, tier D is refused with a code of its own.
fn propose_all_three(journey: &Journey, run: &str) -> [String; 3] {
    journey.world.write("notes.txt", "one\ntwo\n");
    let read =
        journey.ok("tom", &["action", "propose", run, "cat", "notes.txt", "--file", "notes.txt", "--wait", "60"]);
    journey.tells(&read, "status", "SUCCEEDED");
    let script = "wc -l < notes.txt > lines.txt";
    let because = "--because=I count.";
    let written = journey
        .ok("tom", &["action", "propose", run, "sh", script, "--file", "notes.txt", "--output", "lines.txt", because]);
    journey.tells(&written, "verdict/tier", "B");
    let refused = journey.say("tom", &["action", "propose", run, "nmap", "--target", "10.9.9.9", "--", "-sV"]).exits(3);
    assert!(refused.stderr.contains("refused by policy") && refused.stderr.contains("10.9.9.9"), "{}", refused.stderr);
    journey.tells(&refused, "verdict/tier", "D");
    [&read, &written, &refused].map(|said| journey.end_of_id(said))
}

/// One proposal is approved after a look, another one rejected.
fn decide(journey: &Journey, written: &str, run: &str) {
    let other = journey.end_of_id(&journey.ok("tom", &["action", "propose", run, "sh", "true"]));
    let queue = journey.ok("ada", &["queue"]);
    assert!(queue.out().contains(written) && queue.out().contains(&other), "{}", queue.out());
    let card = journey.ok("ada", &["show", written]);
    let review = match journey.reads {
        Reads::Json => card.json()["review"].as_str().unwrap().to_owned(),
        Reads::Words => card.out().lines().find_map(|line| line.strip_prefix("review ")).unwrap().to_owned(),
    };
    let shown = ["wc -l < notes.txt > lines.txt", "notes.txt", "lines.txt", "I count."];
    assert!(shown.iter().all(|part| card.out().contains(part)), "{}", card.out());
    journey.tells(&journey.ok("ada", &["approve", written, "--yes", "--seen", &review]), "0/status", "APPROVED");
    journey.tells(&journey.ok("ada", &["reject", &other, "--reason", "it does nothing"]), "status", "REJECTED");
    journey.world.reaches(written, &["SUCCEEDED"]);
    assert!(!journey.ok("ada", &["queue"]).out().contains(written), "what is decided does not wait");
}

fn look_at_evidence(journey: &Journey, read: &str, written: &str) {
    assert_eq!(journey.world.evidence(read, "stdout"), b"one\ntwo\n");
    assert_eq!(journey.world.evidence(written, "out/lines.txt"), b"2\n");
    let kept = journey.world.path("kept.txt");
    journey.world.by("ada", &["evidence", "get", written, "out/lines.txt", "--to", kept.to_str().unwrap()]).ok();
    assert_eq!(std::fs::read(kept).unwrap(), b"2\n");
    assert!(journey.ok("ada", &["evidence", "list", written]).out().contains("out/lines.txt"));
    let verified = journey.ok("ada", &["evidence", "verify", written]);
    assert!(verified.out().contains('3'), "stdout, stderr and one output: {}", verified.out());
}

fn finish(journey: &Journey, run: &str) {
    journey.tells(&journey.ok("tom", &["run", "finish", run, "--summary", "counted"]), "status", "PENDING_EXPORT");
    journey.tells(&journey.ok("ada", &["run", "reject-results", run, "--reason", "look again"]), "status", "EXECUTING");
    journey.ok("tom", &["run", "finish", run]);
    journey.tells(&journey.ok("ada", &["run", "complete", run]), "status", "COMPLETED");
    journey.tells(&journey.ok("admin", &["run", "show", run]), "run/status", "COMPLETED");
    let audit = journey.ok("admin", &["run", "audit", run]);
    for event in
        ["run.created", "run.plan_approved", "action.judged", "action.rejected", "permit.redeemed", "job.completed"]
    {
        assert!(audit.out().contains(event), "{event}: {}", audit.out());
    }
    // Once it is over, watching it tells everything and ends.
    let watched = journey.world.cli(&["run", "watch", run]).ok();
    assert!(watched.out().contains(" created") && watched.out().contains(" completed"), "{}", watched.out());
}

fn check_the_record(journey: &Journey) {
    let head = journey.ok("admin", &["ledger", "head"]);
    let view = journey.world.json("admin", &["ledger", "head"]);
    let (note, key) = (view["note"].as_str().unwrap(), view["key"].as_str().unwrap());
    // Only the note is data, unless all of it is asked for as JSON.
    assert!(head.stderr.contains(key) != head.out().contains(key), "{}", head.stderr);
    journey.world.write("kept.head", note);
    journey.world.write("ledger.pub", key);
    journey.ok("admin", &["ledger", "export", "copy"]);
    journey.ok("nobody", &["ledger", "verify", "copy", "--key", key]);
    journey.ok("nobody", &["ledger", "verify", "copy", "--key", "ledger.pub", "--since", "kept.head"]);
    journey.ok("admin", &["ledger", "prove", "3"]);
    journey.world.cli(&["ledger", "prove", "3", "--to", "proof.json"]).ok();
    let checked = journey.ok("nobody", &["ledger", "check-proof", "proof.json", "--key", key]);
    assert!(checked.out().contains("verified"), "{}", checked.out());
}
