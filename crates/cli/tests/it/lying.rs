//! An operator who lies: the holder of the ledger's key writes another history and signs it. Hashes and heads are right then; what
//! passkeys signed, and had to sign, is not.

use placet_ledger::{Entry, SigningKey, Tree, TreeHead, VerifierKey, bundle, leaf_hash};

use crate::support::World;

/// The key of a world's ledger, as whoever keeps its home has it.
fn stolen(world: &World, key: &str) -> SigningKey {
    let seed = std::fs::read_to_string(world.home().join("keys/ledger.seed")).unwrap();
    let byte = |at: usize| u8::from_str_radix(&seed[2 * at..2 * at + 2], 16).unwrap();
    let origin = key.split('+').next().unwrap();
    SigningKey::from_seed(origin.parse().unwrap(), &std::array::from_fn(byte))
}

/// Writes an export anew with every entry changed as it is told, all hashes made again and the head signed.
pub(crate) fn rewrite(world: &World, key: &str, from: &str, to: &str, change: &dyn Fn(&mut Entry)) {
    let verifier: VerifierKey = key.parse().unwrap();
    let mut entries = Vec::new();
    let report = bundle::verify_reading(&world.path(from), &verifier, None, &mut |bytes| {
        let mut entry = Entry::parse(bytes).unwrap();
        change(&mut entry);
        entries.push(entry.to_bytes().unwrap());
    });
    assert!(report.is_sound(), "{report:?}");
    let mut tree = Tree::empty();
    for entry in &entries {
        tree.append(leaf_hash(entry));
    }
    let signing = stolen(world, key);
    let head = TreeHead::new(signing.name().as_str(), tree.size(), tree.root()).unwrap().sign(&signing).unwrap();
    bundle::write(&world.path(to), &head, entries.iter().map(Ok::<_, std::io::Error>)).unwrap();
}

/// What `verify` says when the signatures of all entries of a kind were left out.
pub(crate) fn without_signatures(world: &World, key: &str, kind: &str) -> String {
    let (to, place) = (format!("lie-{kind}"), if kind == "action.approved" { "approval" } else { "event" });
    rewrite(world, key, "out", &to, &|entry| {
        if entry.kind == kind {
            entry.body[place].as_object_mut().unwrap().remove("signing");
        }
    });
    let said = world.cli(&["ledger", "verify", &to, "--key", key]).exits(4);
    assert!(said.out().contains("false"), "{}", said.out());
    said.stderr.clone()
}
