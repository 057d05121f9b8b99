//! A smaller one of what `placet bench --only rollback` measures.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::World;
use crate::harness::tests;

tests![a_large_workspace_goes_back_without_being_read_or_copied];

const DIRECTORIES: usize = 100;
const FILES_IN_EACH: usize = 30;
const CHANGED: usize = 30;

/// Different in every file, and not compressible by repetition.
fn content(number: usize, version: u8) -> Vec<u8> {
    let mut state = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) + u64::from(version);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..2_000).flat_map(|_| next()).collect()
}

fn name(number: usize) -> String {
    format!("made/{:03}/{:02}", number % DIRECTORIES, number / DIRECTORIES)
}

fn a_large_workspace_goes_back_without_being_read_or_copied() {
    let world = World::new();
    let upper = world.path("space/upper");
    for number in 0..DIRECTORIES * FILES_IN_EACH {
        let file = upper.join(name(number));
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, content(number, 0)).expect("a file");
    }
    let space = world.space();
    let record = space.snapshot(1).expect("a snapshot");
    assert_eq!((record.files, record.bytes), (3_000, 3_000 * 16_000));
    let (inodes, bytes, people) = (inodes(&upper), bytes(&upper), bytes(&world.path("base")));
    for number in 0..CHANGED {
        fs::write(upper.join(name(number * 97)), content(number, 1)).expect("a change");
    }
    world.person("untracked", "a person's own\n");
    assert_eq!(space.restore(1, &record).expect("the way back").paths, CHANGED as u64);
    assert!(self::bytes(&upper) == bytes, "byte by byte the same");
    let kept = self::inodes(&upper).iter().filter(|(path, inode)| inodes.get(*path) == Some(inode)).count();
    assert_eq!(kept, 3_000 - CHANGED, "what did not change was not touched");
    let mut people_now = self::bytes(&world.path("base"));
    assert_eq!(people_now.remove("untracked").as_deref(), Some(&b"a person's own\n"[..]));
    assert!(people_now == people);
}

fn each(root: &Path, at: &str, found: &mut dyn FnMut(String, &Path)) {
    for entry in fs::read_dir(root).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = format!("{at}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a type").is_dir() {
            each(&entry.path(), &format!("{path}/"), found);
        } else {
            found(path, &entry.path());
        }
    }
}

fn inodes(root: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    each(root, "", &mut |path, file| {
        found.insert(path, fs::metadata(file).expect("a file").ino());
    });
    found
}

fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    each(root, "", &mut |path, file| {
        found.insert(path, fs::read(file).expect("a file"));
    });
    found
}
