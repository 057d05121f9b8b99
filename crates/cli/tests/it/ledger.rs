//! The ledger in the hands of others: a witness that cosigns what only grows, a stranger that demands it, and an operator
//! who goes through everything.

use placet_ledger::{Hash, SignedTreeHead, SigningKey, TreeHead};
use placet_wire::api::ConsistencyQuery;
use placet_wire::endpoint::ProveConsistency;
use serde_json::Value;

use crate::support::{Said, World, names_in};

/// A control plane, and beside it a witness with a seed and a directory of its own.
struct Watched {
    world: World,
    run: String,
    key: String,
}

impl Watched {
    fn start() -> Self {
        let (world, run) = World::start();
        let key = world.json("admin", &["ledger", "head"])["key"].as_str().unwrap().to_owned();
        world.write("ledger.pub", &key);
        secret(&world, "witness.seed", &"5a".repeat(32));
        Self { world, run, key }
    }

    /// Keeps the newest head under this name, and tells its size.
    fn head(&self, name: &str) -> u64 {
        let head = self.world.json("admin", &["ledger", "head"]);
        self.world.write(name, head["note"].as_str().unwrap());
        head["size"].as_u64().unwrap()
    }

    /// Returns the newest head as a signed note.
    fn note(&self) -> String {
        self.world.json("admin", &["ledger", "head"])["note"].as_str().unwrap().to_owned()
    }

    /// Something happens, so that the ledger grows.
    fn grow(&self) {
        self.world.propose(&self.run, &["sh", "true"]);
    }

    /// Keeps the proof between two sizes, as the control plane gives it.
    fn proof(&self, name: &str, from: u64, to: u64) {
        let client = self.world.client("admin");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let query = ConsistencyQuery { from, to };
        let proof = runtime.block_on(client.get(ProveConsistency { query })).unwrap();
        self.world.write(name, serde_json::to_vec(&proof).unwrap());
    }

    fn cosign(&self, head: &str, more: &[&str]) -> Said {
        let fixed = ["ledger", "cosign", "--key", "ledger.pub", "--witness-seed", "witness.seed"];
        let named = ["--name", "example.org/witness", "--state", "seen", "--head", head];
        self.world.cli(&[&fixed[..], &named, more].concat())
    }

    /// The head as the holder of the ledger's key could sign it over another history.
    fn forged(&self, name: &str, size: u64) {
        let seed = std::fs::read_to_string(self.world.home().join("keys/ledger.seed")).unwrap();
        let byte = |at: usize| u8::from_str_radix(&seed[2 * at..2 * at + 2], 16).unwrap();
        let seed: [u8; 32] = std::array::from_fn(byte);
        let origin = self.key.split('+').next().unwrap();
        let key = SigningKey::from_seed(origin.parse().unwrap(), &seed);
        let head = TreeHead::new(origin, size, Hash([7; 32])).unwrap().sign(&key).unwrap();
        self.world.write(name, head.to_string());
    }

    fn seen(&self) -> String {
        std::fs::read_to_string(self.world.path("seen/last.head")).unwrap()
    }
}

fn secret(world: &World, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    world.write(name, text);
    std::fs::set_permissions(world.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_witness_cosigns_what_grows_and_a_stranger_can_demand_it() {
    let watched = Watched::start();
    let first = watched.head("first.head");
    let said = watched.cosign("first.head", &[]).ok();
    assert_eq!(said.out(), watched.seen(), "what is handed out is what was kept");
    watched.grow();
    let second = watched.head("second.head");
    let asked = watched.cosign("second.head", &[]).exits(2);
    assert!(asked.stderr.contains(&format!("consistency?from={first}&to={second}")), "{}", asked.stderr);
    watched.proof("proof.json", first, second);
    watched.cosign("second.head", &["--proof", "proof.json"]).ok();
    let again = watched.cosign("second.head", &["--proof", "proof.json"]).ok();
    assert_eq!(
        again.out().matches("example.org/witness").count(),
        1,
        "one cosignature of one witness: {}",
        again.out()
    );
    assert_eq!(names_in(&watched.world.path("seen")), ["last.head", "lock"]);

    let json = watched
        .world
        .cli(&[
            "--json",
            "ledger",
            "cosign",
            "--key",
            "ledger.pub",
            "--witness-seed",
            "witness.seed",
            "--name",
            "example.org/witness",
            "--state",
            "seen",
            "--head",
            "second.head",
        ])
        .ok()
        .json();
    let witness = json["witness"].as_str().unwrap();
    watched.world.cli(&["ledger", "export", "copy"]).ok();
    let verify = ["ledger", "verify", "copy", "--key", "ledger.pub", "--witness", witness];
    let missing = watched.world.cli(&verify).exits(4);
    assert!(missing.stderr.contains("not cosigned by the witness `example.org/witness`"), "{}", missing.stderr);
    let size = SignedTreeHead::verify(
        &std::fs::read(watched.world.path("copy/checkpoint")).unwrap(),
        &watched.key.parse().unwrap(),
    )
    .unwrap()
    .size();
    assert_eq!(size, second, "nothing happened since");
    watched.world.write("copy/checkpoint", json["note"].as_str().unwrap());
    let cosigned = watched.world.cli(&verify).ok();
    assert!(cosigned.stderr.contains("cosigned by example.org/witness at 2"), "{}", cosigned.stderr);
    let other = witness.replace("example.org/witness", "example.org/other");
    watched.world.cli(&["ledger", "verify", "copy", "--key", "ledger.pub", "--witness", &other]).exits(2);
}

#[test]
fn a_witness_cosigns_neither_a_fork_nor_a_ledger_that_went_back() {
    let watched = Watched::start();
    let first = watched.head("first.head");
    watched.grow();
    let second = watched.head("second.head");
    watched.cosign("second.head", &[]).ok();
    let kept = watched.seen();
    let back = watched.cosign("first.head", &[]).exits(4);
    assert!(back.stderr.contains(&format!("went back from {second} to {first}")), "{}", back.stderr);
    watched.forged("fork.head", second);
    let fork = watched.cosign("fork.head", &[]).exits(4);
    assert!(fork.stderr.contains("does not continue") && fork.out().is_empty(), "{}", fork.stderr);
    watched.grow();
    let third = watched.head("third.head");
    watched.forged("longer.head", third);
    watched.proof("proof.json", second, third);
    watched.cosign("longer.head", &["--proof", "proof.json"]).exits(4);
    assert_eq!(watched.seen(), kept, "what was refused was not seen");
    watched.cosign("third.head", &["--proof", "proof.json"]).ok();
}

#[test]
fn kept_head_verifies_in_every_printed_form() {
    let watched = Watched::start();
    let kept = watched.world.cli(&["ledger", "head"]).ok();
    watched.world.write("plain.head", kept.out());
    watched.world.write("json.head", watched.world.cli(&["--json", "ledger", "head"]).ok().out());
    // The format that older versions printed.
    watched.world.write("old.head", format!("{}\nkey {}\n", watched.note(), watched.key));
    watched.grow();
    let exported = watched.world.cli(&["--json", "ledger", "export", "copy"]).ok();
    watched.world.write("export.json", exported.out());
    for key in ["ledger.pub", "json.head", "old.head", "export.json", watched.key.as_str()] {
        for head in ["plain.head", "json.head", "old.head", "copy/checkpoint"] {
            watched.world.cli(&["ledger", "verify", "copy", "--key", key, "--since", head]).ok();
        }
    }
    watched.cosign("old.head", &[]).ok();
}

#[test]
fn unreadable_head_is_usage_error() {
    let watched = Watched::start();
    watched.world.cli(&["ledger", "export", "copy"]).ok();
    let verify = |head: &str| watched.world.cli(&["ledger", "verify", "copy", "--key", "ledger.pub", "--since", head]);
    for (name, text) in [("empty.head", ""), ("words.head", "yesterday\n"), ("key.head", watched.key.as_str())] {
        watched.world.write(name, text);
        let said = verify(name).exits(2);
        assert!(said.stderr.contains("holds no head of this ledger"), "{}", said.stderr);
    }
    watched.world.write("changed.head", watched.note().replacen('\n', "\n1", 1));
    let said = verify("changed.head").exits(4);
    assert!(said.stderr.contains("was changed after it was signed"), "{}", said.stderr);
}

#[test]
fn printed_proof_can_be_checked() {
    let watched = Watched::start();
    for (name, args) in
        [("plain.json", &["ledger", "prove", "3"][..]), ("data.json", &["--json", "ledger", "prove", "3"])]
    {
        watched.world.write(name, watched.world.cli(args).ok().out());
        watched.world.cli(&["ledger", "check-proof", name, "--key", "ledger.pub"]).ok();
    }
}

#[test]
fn a_witness_says_what_it_cannot_use() {
    let watched = Watched::start();
    let first = watched.head("first.head");
    watched.cosign("first.head", &[]).ok();
    watched.grow();
    let second = watched.head("second.head");
    watched.proof("wrong.json", 1, second);
    let wrong = watched.cosign("second.head", &["--proof", "wrong.json"]).exits(2);
    assert!(wrong.stderr.contains(&format!("from 1 to {second} entries, not from {first}")), "{}", wrong.stderr);
    watched.world.write("no.json", "{}");
    watched.cosign("second.head", &["--proof", "no.json"]).exits(2);
    watched.world.write("garbled.head", "nothing signed\n");
    watched.cosign("garbled.head", &[]).exits(2);
    watched.world.write("seen/last.head", "");
    watched.cosign("second.head", &[]).exits(4);
    use std::os::unix::fs::PermissionsExt as _;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(watched.world.path("witness.seed"), open).unwrap();
    let open = watched.cosign("second.head", &[]).exits(3);
    assert!(open.stderr.contains("chmod 600"), "{}", open.stderr);
}

#[test]
fn a_scrub_goes_through_everything_and_names_what_is_not_what_it_was() {
    let (mut world, run) = World::start();
    for _ in 0..3 {
        world.propose(&run, &["sh", "true"]);
    }
    let busy = world.cli(&["ledger", "scrub"]).exits(9);
    assert!(busy.stderr.contains("another process"), "{}", busy.stderr);
    world.stop_control();
    let sound: Value = world.json("admin", &["ledger", "scrub"]);
    assert!(sound["entries"].as_u64().unwrap() > 10 && sound["heads"].as_u64().unwrap() > 0, "{sound}");
    assert_eq!((&sound["faults"], &sound["differences"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(world.cli(&["ledger", "scrub"]).ok().out().starts_with("sound"));

    let database = rusqlite::Connection::open(world.home().join("data/placet.db")).unwrap();
    database.pragma_update(None, "foreign_keys", "off").unwrap();
    database.execute("UPDATE run SET status = 'COMPLETED'", []).unwrap();
    database.execute("DELETE FROM action WHERE created = (SELECT min(created) FROM action)", []).unwrap();
    drop(database);
    let broken = world.cli(&["ledger", "scrub"]).exits(4);
    assert!(broken.out().contains(&format!("the stored run `{run}`")), "{}", broken.out());
    assert!(broken.out().contains("the stored action `act_"), "{}", broken.out());
    assert!(broken.stderr.contains("in 2 places"), "{}", broken.stderr);
}
