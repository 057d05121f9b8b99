//! Evidence on disk: stored by content, never changed, and a changed byte never goes unnoticed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use placet_store::{Blobs, EvidenceKey, IntegrityFault, StoreError};
use proptest::prelude::*;
use tempfile::TempDir;

const CHUNK: usize = 64 * 1024;

fn key(byte: u8) -> Option<EvidenceKey> {
    Some(EvidenceKey::new([byte; 32]))
}

fn open(dir: &TempDir, key: Option<EvidenceKey>) -> Blobs {
    Blobs::open(&dir.path().join("evidence"), key).unwrap()
}

fn plain_path(dir: &TempDir, digest: Digest) -> PathBuf {
    let hex = digest.to_hex();
    dir.path().join("evidence").join(&hex[..2]).join(&hex[2..])
}

fn sealed_path(dir: &TempDir, digest: Digest) -> PathBuf {
    plain_path(dir, digest).with_extension("sealed")
}

/// Changes a file that is not meant to be changed.
fn tamper(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(path, bytes).unwrap();
}

fn files_below(path: &Path) -> usize {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

fn sample(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 31 % 251) as u8).collect()
}

#[tokio::test]
async fn what_is_stored_is_found_by_its_digest_in_every_length() {
    for key in [|| None, || key(1)] {
        let dir = tempfile::tempdir().unwrap();
        let blobs = open(&dir, key());
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 200_000] {
            let bytes = sample(length);
            let digest = blobs.put(bytes.clone()).await.unwrap();
            assert_eq!(digest, Digest::of(&bytes));
            assert_eq!(blobs.size(digest).await.unwrap(), Some(length as u64));
            assert_eq!(blobs.get(digest).await.unwrap(), Some(bytes));
        }
        assert_eq!(blobs.get(Digest::of(b"never stored")).await.unwrap(), None);
        assert!(!blobs.has(Digest::of(b"never stored")).await.unwrap());
    }
}

#[tokio::test]
async fn storing_the_same_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, None);
    let racers: Vec<_> = (0..16)
        .map(|_| {
            let blobs = blobs.clone();
            tokio::spawn(async move { blobs.put(b"the same".to_vec()).await.unwrap() })
        })
        .collect();
    for racer in racers {
        assert_eq!(racer.await.unwrap(), Digest::of(b"the same"));
    }
    assert_eq!(files_below(dir.path()), 1);
    let mode = fs::metadata(plain_path(&dir, Digest::of(b"the same"))).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o400);
}

#[tokio::test]
async fn every_changed_bit_of_plain_evidence_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, None);
    let bytes = sample(100);
    let digest = blobs.put(bytes.clone()).await.unwrap();
    for bit in 0..bytes.len() * 8 {
        tamper(&plain_path(&dir, digest), |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        let error = blobs.get(digest).await.unwrap_err();
        assert!(error.to_string().contains(&digest.to_string()), "{error}");
        assert!(matches!(error, StoreError::Integrity(IntegrityFault::Changed { what: "evidence", .. })));
        tamper(&plain_path(&dir, digest), |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
    assert_eq!(blobs.get(digest).await.unwrap(), Some(bytes));
}

#[tokio::test]
async fn every_changed_byte_of_sealed_evidence_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, key(1));
    let digest = blobs.put(sample(100)).await.unwrap();
    let path = sealed_path(&dir, digest);
    for place in 0..fs::read(&path).unwrap().len() {
        tamper(&path, |bytes| bytes[place] ^= 0x40);
        let error = blobs.get(digest).await.unwrap_err();
        let found =
            matches!(error, StoreError::Integrity(IntegrityFault::SealBroken { .. }) | StoreError::WrongKey { .. });
        assert!(found, "byte {place}: {error:?}");
        tamper(&path, |bytes| bytes[place] ^= 0x40);
    }
    assert!(blobs.get(digest).await.unwrap().is_some());
}

#[tokio::test]
async fn chunks_of_sealed_evidence_cannot_be_dropped_added_or_exchanged() {
    const HEADER: usize = 76;
    const SEALED_CHUNK: usize = CHUNK + 16;
    type Change = fn(&mut Vec<u8>);
    let attacks: [(&str, Change); 5] = [
        ("cut inside a chunk", |bytes| bytes.truncate(bytes.len() - 1)),
        ("drop the last chunk", |bytes| bytes.truncate(HEADER + 2 * SEALED_CHUNK)),
        ("exchange two chunks", |bytes| bytes[HEADER..HEADER + 2 * SEALED_CHUNK].rotate_left(SEALED_CHUNK)),
        ("add a byte", |bytes| bytes.push(0)),
        ("drop everything", Vec::clear),
    ];
    for (attack, change) in attacks {
        let dir = tempfile::tempdir().unwrap();
        let blobs = open(&dir, key(1));
        let digest = blobs.put(sample(2 * CHUNK + 10)).await.unwrap();
        tamper(&sealed_path(&dir, digest), change);
        let error = blobs.get(digest).await.unwrap_err();
        assert!(matches!(error, StoreError::Integrity(IntegrityFault::SealBroken { .. })), "{attack}: {error:?}");
    }
}

#[tokio::test]
async fn a_sealed_file_under_another_name_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, key(1));
    let digest = blobs.put(b"innocent".to_vec()).await.unwrap();
    let other = blobs.put(b"incriminating".to_vec()).await.unwrap();
    let innocent = fs::read(sealed_path(&dir, digest)).unwrap();
    tamper(&sealed_path(&dir, other), |bytes| *bytes = innocent);
    let error = blobs.get(other).await.unwrap_err();
    assert!(matches!(error, StoreError::Integrity(IntegrityFault::SealBroken { .. })), "{error:?}");
}

#[tokio::test]
async fn sealed_evidence_needs_its_key_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let secret = b"the password is swordfish".to_vec();
    let digest = open(&dir, key(1)).put(secret.clone()).await.unwrap();
    let stored = fs::read(sealed_path(&dir, digest)).unwrap();
    assert!(!stored.windows(9).any(|window| window == b"swordfish"));
    let without = open(&dir, None).get(digest).await.unwrap_err();
    assert!(matches!(without, StoreError::NoKey { .. }), "{without:?}");
    let wrong = open(&dir, key(2)).get(digest).await.unwrap_err();
    assert!(matches!(wrong, StoreError::WrongKey { .. }), "{wrong:?}");
    assert_eq!(open(&dir, key(1)).get(digest).await.unwrap(), Some(secret));
}

#[tokio::test]
async fn evidence_from_before_the_key_stays_readable_and_is_not_stored_again() {
    let dir = tempfile::tempdir().unwrap();
    let digest = open(&dir, None).put(b"old".to_vec()).await.unwrap();
    let blobs = open(&dir, key(1));
    assert_eq!(blobs.put(b"old".to_vec()).await.unwrap(), digest);
    assert_eq!(blobs.get(digest).await.unwrap(), Some(b"old".to_vec()));
    assert_eq!(files_below(dir.path()), 1);
}

#[tokio::test]
async fn more_than_the_limit_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, None);
    let mut writer = blobs.writer(10).unwrap();
    writer.write(b"12345").unwrap();
    assert_eq!(writer.size_bytes(), 5);
    let error = writer.write(b"678901").unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { limit_bytes: 10 }), "{error:?}");
    drop(writer);
    assert_eq!(files_below(dir.path()), 0);
}

#[tokio::test]
async fn what_a_crash_left_half_written_is_cleared_away_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = open(&dir, None);
    let kept = blobs.put(b"kept".to_vec()).await.unwrap();
    let mut writer = blobs.writer(10).unwrap();
    writer.write(b"half").unwrap();
    std::mem::forget(writer);
    assert_eq!(files_below(dir.path()), 2);
    let blobs = open(&dir, None);
    assert_eq!(files_below(dir.path()), 1);
    assert_eq!(blobs.get(kept).await.unwrap(), Some(b"kept".to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn in_whatever_pieces_bytes_come_they_are_the_same_blob(
        pieces in prop::collection::vec((any::<u8>(), 0_usize..90_000), 0..6),
        sealed: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let blobs = open(&dir, if sealed { key(3) } else { None });
        let pieces: Vec<Vec<u8>> = pieces.into_iter().map(|(byte, length)| vec![byte; length]).collect();
        let whole = pieces.concat();
        let got = runtime.block_on(async {
            let mut writer = blobs.writer(whole.len() as u64).unwrap();
            for piece in &pieces {
                writer.write(piece).unwrap();
            }
            let digest = writer.finish().await.unwrap();
            (digest, blobs.size(digest).await.unwrap(), blobs.get(digest).await.unwrap())
        });
        prop_assert_eq!(got, (Digest::of(&whole), Some(whole.len() as u64), Some(whole)));
    }
}
