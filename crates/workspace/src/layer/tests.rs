//! Uppers made by hand, odder than any cage would leave them. What real cages leave is in `tests/it`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use tempfile::TempDir;

use super::*;
use crate::digest::Digest;

/// A lower, an upper and a work directory.
pub(crate) struct World(TempDir);

/// A tree as anybody sees it: content or target, and mode.
pub(crate) type Seen = BTreeMap<PathBuf, (String, u32)>;

impl World {
    pub(crate) fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        for name in ["lower", "run", "run/upper", "run/work"] {
            fs::create_dir(outer.path().join(name)).unwrap();
        }
        Self(outer)
    }

    pub(crate) fn lower(&self, name: &str) -> PathBuf {
        join(self.0.path().join("lower"), name)
    }

    pub(crate) fn upper(&self, name: &str) -> PathBuf {
        join(self.0.path().join("run/upper"), name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        write(&self.lower(name), text);
        self
    }

    pub(crate) fn baseline(&self) -> Baseline {
        Baseline::record(&self.lower(""), Limits::default()).unwrap()
    }

    pub(crate) fn open(&self) -> Layered {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Layered, LayerError> {
        Layered::open(&self.lower(""), &self.upper(""), &self.path("run/work"))
    }

    pub(crate) fn seen(&self) -> Seen {
        seen(&self.lower(""))
    }
}

fn join(directory: PathBuf, name: &str) -> PathBuf {
    if name.is_empty() { directory } else { directory.join(name) }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn whiteout(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, Mode::RUSR, 0).unwrap();
}

pub(crate) fn opaque(path: &Path, value: &[u8]) {
    fs::create_dir_all(path).unwrap();
    rustix::fs::setxattr(path, upper::OPAQUE, value, XattrFlags::empty()).unwrap();
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn seen(root: &Path) -> Seen {
    let mut found = Seen::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            let content = if meta.is_file() {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            } else if meta.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else {
                if meta.is_dir() {
                    waiting.push(path.clone());
                }
                format!("{:?}", meta.file_type())
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (content, meta.mode() & 0o7777));
        }
    }
    found
}

pub(crate) fn at(path: &str) -> TreePath {
    TreePath::new(path).unwrap()
}

/// Each change as a reader would note it.
fn told(changes: &Changes) -> Vec<String> {
    let conflict = |change: &Change| change.conflict().map(|why| format!(" ! {why:?}")).unwrap_or_default();
    changes.iter().map(|change| format!("{:?} {}{}", change.kind(), change.path(), conflict(change))).collect()
}

#[test]
fn every_kind_of_change_is_told_by_its_name() {
    let world = World::new().with("same", "x").with("text", "old").with("moded", "x").with("gone", "x");
    let world = world.with("tree/one", "1").with("tree/deep/two", "2").with("again/old", "x").with("turned", "x");
    symlink("here", world.lower("link")).unwrap();
    let baseline = world.baseline();
    write(&world.upper("same"), "x");
    write(&world.upper("text"), "new");
    write(&world.upper("moded"), "x");
    mode(&world.upper("moded"), 0o755);
    whiteout(&world.upper("gone"));
    whiteout(&world.upper("tree"));
    whiteout(&world.upper("never-was"));
    opaque(&world.upper("again"), b"y");
    write(&world.upper("again/new"), "x");
    write(&world.upper("turned/inner"), "x");
    symlink("there", world.upper("link")).unwrap();
    write(&world.upper("made/file"), "x");
    let changes = world.open().preview(&baseline).unwrap();
    let expected = [
        "Added again/new",
        "Removed again/old",
        "Removed gone",
        "Changed link",
        "Added made",
        "Added made/file",
        "ModeChanged moded",
        "Changed text",
        "Removed tree",
        "Removed tree/deep",
        "Removed tree/deep/two",
        "Removed tree/one",
        "Replaced turned",
        "Added turned/inner",
    ];
    assert_eq!(told(&changes), expected);
    assert_eq!(changes, serde_json::from_str(&serde_json::to_string(&changes).unwrap()).unwrap());
}

#[test]
fn nothing_shows_through_directories_inside_an_opaque_one() {
    let world = World::new().with("again/inner/old", "x").with("again/inner/both", "x");
    let baseline = world.baseline();
    opaque(&world.upper("again"), b"y");
    write(&world.upper("again/inner/both"), "y");
    let changes = world.open().preview(&baseline).unwrap();
    assert_eq!(told(&changes), ["Changed again/inner/both", "Removed again/inner/old"]);
}

#[test]
fn whiteouts_that_are_marked_files_count_only_where_the_directory_says_so() {
    let world = World::new().with("marked/file", "x").with("plain/file", "x");
    let baseline = world.baseline();
    opaque(&world.upper("marked"), b"x");
    for name in ["marked/file", "plain/file"] {
        write(&world.upper(name), "");
        rustix::fs::setxattr(world.upper(name), upper::WHITEOUT, b"y", XattrFlags::empty()).unwrap();
    }
    let changes = world.open().preview(&baseline).unwrap();
    assert_eq!(told(&changes), ["Removed marked/file", "Changed plain/file"]);
}

#[test]
fn pipes_and_sockets_are_not_opened_and_not_promoted() {
    let world = World::new();
    let baseline = world.baseline();
    rustix::fs::mkfifoat(CWD, world.upper("pipe"), Mode::RUSR).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(world.upper("socket")).unwrap();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    assert_eq!(told(&changes), ["Added pipe ! Special(Pipe)", "Added socket ! Special(Socket)"]);
    assert!(matches!(layered.promote(&baseline, &changes), Err(LayerError::Conflicts(all)) if all.len() == 2));
    assert!(world.seen().is_empty());
}

#[test]
fn links_out_of_the_tree_are_links_and_nothing_more() {
    let world = World::new().with("dir/file", "inside");
    let baseline = world.baseline();
    write(&world.path("outside/file"), "outside");
    symlink(world.path("outside"), world.upper("dir")).unwrap();
    symlink("/etc/passwd", world.upper("stolen")).unwrap();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    assert_eq!(told(&changes), ["Replaced dir", "Removed dir/file", "Added stolen"]);
    assert!(
        matches!(changes.get(&at("stolen")).unwrap().after(), Some(Node::Symlink { target }) if target.as_bytes() == b"/etc/passwd")
    );
    layered.promote(&baseline, &changes).unwrap();
    assert_eq!(fs::read_to_string(world.path("outside/file")).unwrap(), "outside");
    assert_eq!(fs::read_link(world.lower("stolen")).unwrap(), Path::new("/etc/passwd"));
}

#[test]
fn a_link_in_the_lower_is_never_walked_through() {
    let world = World::new();
    write(&world.path("outside/file"), "outside");
    symlink(world.path("outside"), world.lower("dir")).unwrap();
    let baseline = world.baseline();
    write(&world.upper("dir/file"), "hostile");
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    assert_eq!(told(&changes), ["Replaced dir", "Added dir/file"]);
    layered.promote(&baseline, &changes).unwrap();
    assert_eq!(fs::read_to_string(world.path("outside/file")).unwrap(), "outside");
    assert_eq!(fs::read_to_string(world.lower("dir/file")).unwrap(), "hostile");
}

#[test]
fn odd_names_are_kept_byte_for_byte() {
    let world = World::new();
    let baseline = world.baseline();
    let long = vec![vec![b'n'; 255]; 15].join(&b'/');
    let names: [&[u8]; 5] = [b"new\nline", b"\xff\xfe", b" ", b"-rf", &long];
    for name in names {
        deep_write(&world.upper(""), name);
    }
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    layered.promote(&baseline, &changes).unwrap();
    assert_eq!(
        Upper::read(&layered.lower, Limits::default()).unwrap().digest(),
        layered.read_upper().unwrap().digest()
    );
    for name in names {
        assert!(changes.get(&TreePath::new(name).unwrap()).is_some(), "{:?}", OsStr::from_bytes(name));
    }
}

/// A path that is longer than the kernel takes with what comes before it.
fn deep_write(root: &Path, path: &[u8]) {
    let path = TreePath::new(path).unwrap();
    let (mut dir, names) = (Dir::open(root).unwrap(), path.as_bytes().split(|&byte| byte == b'/'));
    let names: Vec<&[u8]> = names.collect();
    for name in &names[..names.len() - 1] {
        dir = dir.dir(name).or_else(|_| dir.make(name)).unwrap();
    }
    std::io::Write::write_all(&mut dir.create(names[names.len() - 1]).unwrap(), b"x").unwrap();
}

#[test]
fn what_is_too_much_is_refused_and_can_still_be_discarded() {
    let world = World::new();
    let baseline = world.baseline();
    let small = Limits { entries: 10, depth: 3, bytes: 1000, ..Limits::default() };
    let refused = |what: &str| {
        let layered = world.open().limits(small);
        let error = layered.preview(&baseline).unwrap_err();
        assert!(matches!(&error, LayerError::TooLarge { what: found, .. } if *found == what), "{error}");
        layered.discard().unwrap();
        assert!(seen(&world.upper("")).is_empty());
    };
    fs::File::create(world.upper("sparse")).unwrap().set_len(1 << 40).unwrap();
    refused("bytes");
    write(&world.upper("a/b/c/d"), "");
    refused("depth");
    (0..11).for_each(|number| write(&world.upper(&number.to_string()), ""));
    refused("entries");
}

#[test]
fn a_set_user_id_bit_of_a_run_is_not_taken_over() {
    let world = World::new();
    let baseline = world.baseline();
    write(&world.upper("tool"), "x");
    mode(&world.upper("tool"), 0o6755);
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    assert_eq!(changes.get(&at("tool")).unwrap().after().unwrap().mode(), Some(0o755));
    layered.promote(&baseline, &changes).unwrap();
    assert_eq!(fs::metadata(world.lower("tool")).unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn a_diff_shows_text_and_says_why_it_shows_nothing_else() {
    let world = World::new().with("text", "one\ntwo\n").with("large", "x").with("moded", "x");
    let baseline = world.baseline();
    write(&world.upper("text"), "one\nthree\n");
    write(&world.upper("binary"), "a\0b");
    write(&world.upper("large"), &"x".repeat(usize::try_from(MAX_DIFF_BYTES).unwrap() + 1));
    write(&world.upper("moded"), "x");
    mode(&world.upper("moded"), 0o755);
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    let shown = |name: &str| layered.diff(&changes, &at(name)).unwrap();
    let Shown::Text(text) = shown("text") else { panic!("no text") };
    assert!(text.contains("--- a/text\n+++ b/text\n") && text.contains("\n-two\n+three\n"), "{text}");
    assert_eq!([shown("binary"), shown("large"), shown("moded")], [Shown::Binary, Shown::TooLarge, Shown::NoContent]);
    assert!(matches!(layered.diff(&changes, &at("other")), Err(LayerError::NotChanged(_))));
    write(&world.upper("text"), "one\nfour\n");
    assert!(matches!(layered.diff(&changes, &at("text")), Err(LayerError::Outdated(_))), "it shows what was previewed");
}

#[test]
fn rolling_back_restores_everything_a_later_run_could_see() {
    let world = World::new().with("gone", "x").with("again/old", "x");
    write(&world.upper("file"), "first");
    fs::hard_link(world.upper("file"), world.upper("second-name")).unwrap();
    mode(&world.upper("file"), 0o4711);
    whiteout(&world.upper("gone"));
    opaque(&world.upper("again"), b"y");
    symlink("nowhere", world.upper("link")).unwrap();
    rustix::fs::mkfifoat(CWD, world.upper("pipe"), Mode::RUSR).unwrap();
    rustix::fs::setxattr(world.upper("file"), "user.note", b"kept", XattrFlags::empty()).unwrap();
    let before = (seen(&world.upper("")), fs::metadata(world.upper("file")).unwrap().mtime_nsec());
    let layered = world.open();
    let snapshot = layered.snapshot(&world.path("snapshot")).unwrap();
    fs::remove_file(world.upper("gone")).unwrap();
    write(&world.upper("file"), "later");
    write(&world.upper("more/deep"), "later");
    layered.roll_back(&snapshot).unwrap();
    assert_eq!((seen(&world.upper("")), fs::metadata(world.upper("file")).unwrap().mtime_nsec()), before);
    assert_eq!(fs::metadata(world.upper("file")).unwrap().nlink(), 2);
    let mut value = [0; 8];
    assert_eq!(rustix::fs::getxattr(world.upper("file"), "user.note", &mut value), Ok(4));
    assert_eq!(layered.read_upper().unwrap().digest(), snapshot.digest());
    assert_eq!(fs::read_dir(world.path("run")).unwrap().count(), 2, "nothing is left beside upper and work");
    snapshot.remove().unwrap();
    assert!(!world.path("snapshot").exists());
}

#[test]
fn a_damaged_snapshot_changes_nothing() {
    let world = World::new();
    write(&world.upper("file"), "first");
    let layered = world.open();
    let snapshot = layered.snapshot(&world.path("snapshot")).unwrap();
    write(&world.upper("file"), "later");
    write(&world.path("snapshot/file"), "damaged");
    assert!(matches!(layered.roll_back(&snapshot), Err(LayerError::Damaged(_))));
    assert!(matches!(layered.preview_of(&snapshot, &world.baseline()), Err(LayerError::Damaged(_))));
    assert_eq!(fs::read_to_string(world.upper("file")).unwrap(), "later");
    let other = Snapshot::new(world.path("snapshot"), Digest::of(b"another"));
    assert!(matches!(layered.roll_back(&other), Err(LayerError::Damaged(_))));
}

#[test]
fn a_snapshot_says_what_promoting_it_would_do() {
    let world = World::new().with("file", "old");
    let baseline = world.baseline();
    write(&world.upper("file"), "first");
    let layered = world.open();
    let snapshot = layered.snapshot(&world.path("snapshot")).unwrap();
    let then = layered.preview(&baseline).unwrap();
    write(&world.upper("file"), "later");
    assert_eq!(layered.preview_of(&snapshot, &baseline).unwrap(), then);
    assert_ne!(layered.preview(&baseline).unwrap().digest(), then.digest());
}

#[test]
fn layers_are_held_by_one_at_a_time() {
    let world = World::new();
    let first = world.open();
    assert!(matches!(world.try_open(), Err(LayerError::Busy(_))));
    drop(first);
    world.open();
}

#[test]
fn a_directory_that_its_caller_may_not_list_does_not_keep_a_run_from_beginning() {
    let world = World::new().with("closed/file", "x").with("secret", "x").with("text", "old");
    mode(&world.lower("closed"), 0o000);
    mode(&world.lower("secret"), 0o000);
    let baseline = world.baseline();
    write(&world.upper("text"), "new");
    let layered = world.open();
    layered.promote(&baseline, &layered.preview(&baseline).unwrap()).unwrap();
    mode(&world.lower("closed"), 0o755);
    assert_eq!(fs::read_to_string(world.lower("closed/file")).unwrap(), "x");
}

#[test]
fn a_lock_that_is_let_go_of_in_a_moment_is_waited_for() {
    let run = tempfile::tempdir().unwrap();
    let open = || Dir::open(run.path()).unwrap();
    let (first, second) = (open(), open());
    hold(&first, run.path()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pause(Duration::from_millis(50));
            drop(first);
        });
        hold(&second, run.path()).unwrap();
    });
    assert!(matches!(hold(&open(), run.path()), Err(LayerError::Busy(_))));
}
