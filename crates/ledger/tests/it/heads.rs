//! Signed notes and tree heads: what others signed is accepted, and nothing that was changed is.

use placet_ledger::{
    HeadError, KeyError, KeyName, Note, NoteError, SignedTreeHead, SigningKey, TreeHead, VerifierKey, empty_root,
    leaf_hash,
};

use crate::support::{Ledger, ORIGIN, key, signed, verifier};

/// A tree head that the Go checksum database signed, with its public key: both are in daily use.
const GO_KEY: &str = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
const GO_HEAD: &str = "go.sum database tree\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
    — sum.golang.org Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";

#[test]
fn a_head_of_another_ledger_in_the_same_format_verifies() {
    let key: VerifierKey = GO_KEY.parse().expect("a key");
    assert_eq!(key.to_string(), GO_KEY);
    let note = Note::parse(GO_HEAD.as_bytes()).expect("a note");
    assert_eq!(note.verify(&key), Ok(()));
    assert_eq!(note.to_string(), GO_HEAD);
    let head = TreeHead::parse(note.text()).expect("a head");
    assert_eq!((head.origin(), head.size()), ("go.sum database tree", 20_852_163));
    // Its key does not bear the name of the ledger, which is allowed there and not here.
    assert!(matches!(SignedTreeHead::verify(GO_HEAD.as_bytes(), &key), Err(HeadError::OtherOrigin { .. })));
}

#[test]
fn a_signed_head_is_read_back_as_it_was() {
    let head = TreeHead::new(ORIGIN, 5, leaf_hash(b"root")).expect("a head");
    let head = head.with_extension("deployed by hand").expect("one line");
    let signed = head.sign(&key()).expect("signed");
    let read = SignedTreeHead::verify(signed.to_string().as_bytes(), &verifier()).expect("verified");
    assert_eq!(read, signed);
    assert_eq!(read.head().extensions(), ["deployed by hand"]);
}

#[test]
fn no_changed_byte_of_a_signed_head_passes() {
    let signed = Ledger::of(3).head().to_string().into_bytes();
    for at in 0..signed.len() {
        for bit in 0..8 {
            let mut changed = signed.clone();
            changed[at] ^= 1 << bit;
            assert!(SignedTreeHead::verify(&changed, &verifier()).is_err(), "byte {at}, bit {bit}");
        }
        assert!(SignedTreeHead::verify(&signed[..at], &verifier()).is_err(), "cut at {at}");
    }
}

#[test]
fn a_head_by_another_key_of_the_same_name_is_refused() {
    let other = SigningKey::from_seed(ORIGIN.parse().expect("a name"), &[8; 32]);
    let forged = TreeHead::new(ORIGIN, 0, empty_root()).expect("a head").sign(&other).expect("signed");
    let refused = SignedTreeHead::verify(forged.to_string().as_bytes(), &verifier());
    assert!(matches!(refused, Err(HeadError::Note(NoteError::NotSignedBy { .. }))), "{refused:?}");
}

#[test]
fn a_key_cannot_sign_for_a_ledger_of_another_name() {
    let head = TreeHead::new("example.com/other", 0, empty_root()).expect("a head");
    assert!(matches!(head.sign(&key()), Err(HeadError::OtherOrigin { .. })));
}

#[test]
fn the_empty_ledger_has_only_one_root() {
    assert_eq!(TreeHead::new(ORIGIN, 0, leaf_hash(b"x")), Err(HeadError::EmptyRoot));
}

#[test]
fn texts_that_are_not_tree_heads_are_refused() {
    let root = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert!(TreeHead::parse(&format!("o\n0\n{root}\n")).is_ok());
    for text in [
        "",
        "o\n",
        "o\n0\n",
        &format!("o\n0\n{root}"),
        &format!("\n0\n{root}\n"),
        &format!("o\n00\n{root}\n"),
        &format!("o\n+1\n{root}\n"),
        &format!("o\n-1\n{root}\n"),
        &format!("o\n18446744073709551616\n{root}\n"),
        &format!("o\n1\n{}\n", &root[..40]),
        &format!("o\n1\n{}\n", root.replace('=', "")),
        &format!("o\n1\n{root}\n\n"),
        &format!("o\n1\n {root}\n"),
    ] {
        assert!(TreeHead::parse(text).is_err(), "{text:?}");
    }
    assert!(TreeHead::new("two\nlines", 0, empty_root()).is_err());
    let head = TreeHead::new("o", 0, empty_root()).expect("a head");
    assert!(head.clone().with_extension("").is_err() && head.with_extension("a\nb").is_err());
}

#[test]
fn notes_are_parsed_strictly() {
    let good = signed(0, empty_root()).to_string();
    let (text, line) = good.split_once("\n\n").expect("an empty line");
    assert!(Note::parse(good.as_bytes()).is_ok());
    let stranger = |n: u32| format!("— stranger.example/{n} AAAAAAAA\n");
    let with = |lines: String| format!("{text}\n\n{line}{lines}");
    assert!(Note::parse(with((1..16).map(stranger).collect()).as_bytes()).is_ok());
    for (what, note) in [
        ("17 signatures", with((1..=16).map(stranger).collect())),
        ("one key twice", with(line.into())),
        ("no signature", format!("{text}\n\n")),
        ("no empty line", format!("{text}\n{line}")),
        ("no line break at the end", good.trim_end().into()),
        ("a hyphen for a dash", good.replace("— ", "- ")),
        ("a plus in a name", with("— a+b AAAAAAAA\n".into())),
        ("an empty name", with("—  AAAAAAAA\n".into())),
        ("a wide space in a name", with("— a\u{2003}b AAAAAAAA\n".into())),
        ("a third word", with("— a AAAAAAAA AAAA\n".into())),
        ("no base64", with("— a ****\n".into())),
        ("base64 with bits to spare", with("— a AAAAAAB=\n".into())),
        ("a signature without bytes", with("— a AAAAAA==\n".into())),
        ("a tab in the text", good.replace("example", "exa\tmple")),
        ("a carriage return", good.replace('\n', "\r\n")),
        ("text after the signatures", format!("{good}more\n")),
        ("far too long", format!("{}{good}", "x".repeat(300_000))),
    ] {
        assert!(Note::parse(note.as_bytes()).is_err(), "{what}");
    }
    assert!(Note::parse(&[good.as_bytes(), b"\xff"].concat()).is_err(), "not UTF-8");
}

#[test]
fn signatures_of_strangers_are_kept_and_ignored() {
    let good = signed(0, empty_root()).to_string();
    let with_stranger = format!("{good}— stranger.example AAAAAAAA\n");
    let head = SignedTreeHead::verify(with_stranger.as_bytes(), &verifier()).expect("verified");
    assert_eq!(head.to_string(), with_stranger);
    assert_eq!(head.note().signatures().len(), 2);
}

#[test]
fn a_note_may_contain_empty_lines() {
    let note = Note::sign("one\n\ntwo\n".into(), &key()).expect("signed");
    let read = Note::parse(note.to_string().as_bytes()).expect("a note");
    assert_eq!((read.text(), read.verify(&verifier())), ("one\n\ntwo\n", Ok(())));
    assert_eq!(Note::sign("no line break".into(), &key()), Err(NoteError::Text));
}

#[test]
fn verifier_keys_are_parsed_strictly() {
    let text = verifier().to_string();
    assert_eq!(text.parse::<VerifierKey>(), Ok(verifier()));
    let (name, rest) = text.split_once('+').expect("a name");
    let (id, key) = rest.split_once('+').expect("an id");
    assert!(matches!(format!("other+{id}+{key}").parse::<VerifierKey>(), Err(KeyError::Id { .. })));
    assert!(matches!(format!("{name}+00000000+{key}").parse::<VerifierKey>(), Err(KeyError::Id { .. })));
    let weak = "AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert!(matches!(format!("{name}+{id}+{weak}").parse::<VerifierKey>(), Err(KeyError::Weak)));
    let witness = format!("{name}+{id}+B{}", &key[1..]);
    assert!(matches!(witness.parse::<VerifierKey>(), Err(KeyError::Type { found: 0x05, needed: 0x01 })));
    for wrong in ["", "a", "a+b", "a+b+c", &format!("{name}+{id}+"), &text[..text.len() - 4]] {
        assert!(wrong.parse::<VerifierKey>().is_err(), "`{wrong}`");
    }
    for wrong in ["", "a b", "a+b", "a\nb", &"x".repeat(256)] {
        assert!(wrong.parse::<KeyName>().is_err(), "`{wrong}`");
    }
}

#[test]
fn a_signing_key_does_not_show_its_secret() {
    let shown = format!("{:?}", SigningKey::from_seed(ORIGIN.parse().expect("a name"), &[0xab; 32]));
    assert!(shown.starts_with("SigningKey(example.com/ledger+"), "{shown}");
    assert!(!shown.contains("abab") && !shown.contains("171"), "{shown}");
}
