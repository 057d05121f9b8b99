//! Witnesses: they cosign what continues the last head they saw, and nothing else.

use placet_ledger::{
    ConsistencyProof, Hash, NoteError, SignedTreeHead, VerifierKey, WitnessKey, WitnessRefusal, WitnessVerifierKey,
    empty_root,
};

use crate::support::{Ledger, bytes, entry, grow, signed, verifier};

const NOW_S: u64 = 1_769_851_800;

fn witness() -> WitnessKey {
    WitnessKey::from_seed("witness.example.com/w1".parse().expect("a name"), &[9; 32])
}

fn growth(ledger: &Ledger, old: u64) -> Vec<Hash> {
    let (tree, tiles) = grow(&ledger.leaves());
    ConsistencyProof::build(old, tree.size(), &tiles).expect("all tiles are there").path
}

#[test]
fn a_witness_cosigns_a_ledger_that_only_grew() {
    let ledger = Ledger::of(300);
    let seen = ledger.head_at(100);
    let cosigned = witness().cosign(Some(seen.head()), &ledger.head(), &growth(&ledger, 100), NOW_S).expect("cosigned");
    assert_eq!(witness().verifier().verify(&cosigned), Ok(NOW_S));
    let read = SignedTreeHead::verify(cosigned.to_string().as_bytes(), &verifier()).expect("still a signed head");
    assert_eq!(witness().verifier().verify(&read), Ok(NOW_S));
}

#[test]
fn the_first_head_is_cosigned_on_first_use() {
    let ledger = Ledger::of(3);
    assert!(witness().cosign(None, &ledger.head(), &[], NOW_S).is_ok());
    let empty = signed(0, empty_root());
    assert!(witness().cosign(Some(empty.head()), &ledger.head(), &[], NOW_S).is_ok());
    let needless = witness().cosign(None, &ledger.head(), &ledger.leaves(), NOW_S);
    assert_eq!(needless, Err(WitnessRefusal::NeedlessProof { hashes: 3 }));
}

#[test]
fn a_fork_is_never_cosigned() {
    let (honest, mut forked) = (Ledger::of(300), Ledger::of(300));
    let mut other = entry(50);
    other.actor = "mallory".into();
    forked.entries[50] = bytes(&other);
    let seen = honest.head_at(100);
    for path in [growth(&forked, 100), growth(&honest, 100), Vec::new()] {
        let refused = witness().cosign(Some(seen.head()), &forked.head(), &path, NOW_S);
        assert!(matches!(refused, Err(WitnessRefusal::Fork(_))), "{refused:?}");
    }
    let same_size = witness().cosign(Some(honest.head().head()), &forked.head(), &[], NOW_S);
    assert!(matches!(same_size, Err(WitnessRefusal::Fork(_))), "{same_size:?}");
}

#[test]
fn a_ledger_that_went_back_is_never_cosigned() {
    let ledger = Ledger::of(300);
    let refused = witness().cosign(Some(ledger.head().head()), &ledger.head_at(299), &[], NOW_S);
    assert_eq!(refused, Err(WitnessRefusal::Backwards { last_size: 300, new_size: 299 }));
}

#[test]
fn the_same_head_is_cosigned_again_with_the_later_time() {
    let head = Ledger::of(3).head();
    let first = witness().cosign(None, &head, &[], NOW_S).expect("cosigned");
    let second = witness().cosign(Some(head.head()), &first, &[], NOW_S + 60).expect("cosigned");
    assert_eq!(witness().verifier().verify(&second), Ok(NOW_S + 60));
    assert_eq!(second.note().signatures().len(), 2, "the older cosignature is replaced");
}

#[test]
fn no_changed_bit_of_a_cosignature_passes() {
    let cosigned = witness().cosign(None, &Ledger::of(3).head(), &[], NOW_S).expect("cosigned").to_string();
    let line = cosigned.rfind('—').expect("the cosignature is the last line");
    for at in line..cosigned.len() {
        for bit in 0..8 {
            let mut changed = cosigned.clone().into_bytes();
            changed[at] ^= 1 << bit;
            let Ok(head) = SignedTreeHead::verify(&changed, &verifier()) else { continue };
            assert!(witness().verifier().verify(&head).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn the_signature_of_the_ledger_does_not_count_as_a_cosignature() {
    let head = Ledger::of(3).head();
    assert!(matches!(witness().verifier().verify(&head), Err(NoteError::NotSignedBy { .. })));
    let text = witness().verifier().to_string();
    assert_eq!(text.parse::<WitnessVerifierKey>(), Ok(witness().verifier()));
    assert!(text.parse::<VerifierKey>().is_err(), "a witness key is no ledger key");
    assert!(verifier().to_string().parse::<WitnessVerifierKey>().is_err(), "a ledger key is no witness key");
}

#[test]
fn a_time_that_the_format_cannot_express_is_refused() {
    let refused = witness().cosign(None, &Ledger::of(1).head(), &[], u64::MAX);
    assert_eq!(refused, Err(WitnessRefusal::Time { at_unix_s: u64::MAX }));
}
