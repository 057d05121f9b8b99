//! How much room files take on disk.
//!
//! A file with several names counts once, and not at all if one of them is elsewhere: the room is somebody else's.

mod descent;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use rustix::fs::{FileType, Stat};

use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::path::TreePath;
use descent::descend;

/// The kernel counts the room of a file in blocks of this size.
const BLOCK_BYTES: u64 = 512;

/// Counts entries one by one.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    bytes: u64,
    /// By number: names on disk, names that were seen, room.
    shared: HashMap<(u64, u64), (u64, u64, u64)>,
}

impl Counting {
    pub(crate) fn entry(&mut self, stat: &Stat) {
        let bytes = u64::try_from(stat.st_blocks).unwrap_or_default() * BLOCK_BYTES;
        if !has_other_names(stat) {
            self.bytes += bytes;
            return;
        }
        let names = self.shared.entry((stat.st_dev, stat.st_ino)).or_insert((stat.st_nlink, 0, bytes));
        names.1 += 1;
    }

    /// Everything below a directory, without itself.
    pub(crate) fn tree(&mut self, path: &Path) -> Result<(), LayerError> {
        let Some(root) = absent(Dir::open(path)).doing("open", path.display())? else { return Ok(()) };
        descend(root, &mut |stat| self.entry(stat)).doing("look at everything in", path.display())
    }

    pub(crate) fn total(&self) -> u64 {
        let own = self.shared.values().filter(|(names, seen, _)| seen >= names).map(|(_, _, bytes)| bytes);
        self.bytes + own.sum::<u64>()
    }

    /// Whether every file has one name: then what one of them takes is told without looking at the others.
    pub(crate) fn is_plain(&self) -> bool {
        self.shared.is_empty()
    }
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn has_other_names(stat: &Stat) -> bool {
    !is_directory(stat) && stat.st_nlink > 1
}

/// How much room these paths take, and the directories above them, which grow with what is in them. Nothing, if one of
/// the files has other names: then the room of one depends on the others.
pub(crate) fn of_paths<'a>(root: &Dir, paths: impl Iterator<Item = &'a TreePath>) -> Result<Option<u64>, LayerError> {
    let with_above = |path: &TreePath| std::iter::successors(Some(path.clone()), TreePath::parent).collect::<Vec<_>>();
    let all: BTreeSet<TreePath> = paths.flat_map(with_above).collect();
    let mut counting = Counting::default();
    for path in &all {
        if let Some(stat) = root.look(path).doing("look at", path)? {
            counting.entry(&stat);
        }
    }
    Ok(counting.is_plain().then(|| counting.total()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn all(root: &Path) -> Counting {
        let mut counting = Counting::default();
        counting.tree(root).expect("a directory");
        counting
    }

    #[test]
    fn a_file_counts_once_and_only_if_all_its_names_are_here() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(here.path().join("own"), [1; 5_000]).unwrap();
        let alone = all(here.path()).total();
        assert!(alone >= 5_000 && all(here.path()).is_plain());
        fs::hard_link(here.path().join("own"), here.path().join("again")).unwrap();
        assert_eq!(all(here.path()).total(), alone);
        fs::hard_link(here.path().join("own"), elsewhere.path().join("other")).unwrap();
        assert_eq!(all(here.path()).total(), 0);
        assert!(!all(here.path()).is_plain());
    }

    /// More directories beside and inside one another than a process has descriptors.
    #[test]
    fn a_tree_of_any_shape_is_counted_whole() {
        let here = tempfile::tempdir().unwrap();
        for number in 0..1_200 {
            fs::create_dir(here.path().join(number.to_string())).unwrap();
            fs::write(here.path().join(format!("{number}/file")), [7; 4_096]).unwrap();
        }
        assert!(all(here.path()).total() >= 1_200 * 4_096);
        let root = Dir::open(here.path()).unwrap();
        let mut deepest = root.make(b"deep").unwrap();
        for _ in 0..1_200 {
            deepest = deepest.make(b"d").unwrap();
        }
        let before = all(here.path()).total();
        std::io::Write::write_all(&mut deepest.create(b"file").unwrap(), &[7; 100_000]).unwrap();
        assert!(all(here.path()).total() >= before + 100_000);
        drop(deepest);
        crate::remove::remove_tree(&root, b"deep", b"trash").unwrap();
    }

    #[test]
    fn few_descriptors_are_enough_for_that() {
        let mut again = std::process::Command::new("sh");
        again.args(["-c", "ulimit -n 32; exec \"$0\" --exact room::tests::a_tree_of_any_shape_is_counted_whole"]);
        let ended = again.arg(std::env::current_exe().unwrap()).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && told.contains("1 passed"), "{told}");
    }

    #[test]
    fn what_is_closed_counts_too_and_stays_closed() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let here = tempfile::tempdir().unwrap();
        let (outer, inner) = (here.path().join("outer"), here.path().join("outer/inner"));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("file"), [7; 100_000]).unwrap();
        let open = all(here.path()).total();
        for path in [&inner, &outer] {
            mode(path, 0o000);
        }
        assert_eq!(all(here.path()).total(), open);
        for path in [&outer, &inner] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o000);
            mode(path, 0o700);
        }
    }

    #[test]
    fn of_a_file_with_other_names_nothing_is_told() {
        let here = tempfile::tempdir().unwrap();
        fs::write(here.path().join("one"), "1").unwrap();
        let (root, path) = (Dir::open(here.path()).unwrap(), TreePath::new("one").unwrap());
        assert!(of_paths(&root, [&path].into_iter()).unwrap().is_some());
        fs::hard_link(here.path().join("one"), here.path().join("two")).unwrap();
        assert_eq!(of_paths(&root, [&path].into_iter()).unwrap(), None);
    }

    /// A file of some size at some path, or nothing there any more.
    fn change() -> impl Strategy<Value = (String, Option<usize>)> {
        ("[ab](/[ab]){0,2}/f[0-9]{1,3}", proptest::option::of(0..20_000_usize))
    }

    fn apply(root: &Path, changes: &[(String, Option<usize>)]) {
        for (path, size) in changes {
            let path = root.join(path);
            match size {
                Some(size) => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, vec![7; *size]).unwrap();
                }
                None => drop(fs::remove_file(path)),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_changed_tells_how_much_more_room_the_whole_takes(
            before in proptest::collection::vec(change(), 0..30),
            changes in proptest::collection::vec(change(), 0..30),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let root = Dir::open(dir.path()).unwrap();
            apply(dir.path(), &before);
            let paths: Vec<TreePath> = changes.iter().map(|(path, _)| TreePath::new(path.as_str()).unwrap()).collect();
            let (whole, part) = (all(dir.path()).total(), of_paths(&root, paths.iter()).unwrap().unwrap());
            apply(dir.path(), &changes);
            let (whole_now, part_now) = (all(dir.path()).total(), of_paths(&root, paths.iter()).unwrap().unwrap());
            prop_assert_eq!(whole + part_now, whole_now + part);
        }
    }
}
