//! What holds for every set of rules on every host: each path gets the access that the deepest rule says, nothing
//! above a covered path can be moved, and the order does not depend on how the rules were written down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use placet_sandbox::{
    Access, Entry, EntryKind, HostFacts, HostUser, Identity, Layers, MountFlag, Profile, Request, Rules, Step, plan,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::tests;

tests![
    every_path_gets_the_access_of_its_deepest_rule,
    everything_above_a_covered_path_is_pinned_and_mounted_first,
    what_is_absent_is_mounted_on_the_skeleton_and_nothing_else_is_in_it,
    the_order_of_the_rules_does_not_matter,
];

const LOWER: &str = "/srv/lower";
const CAGE: HostUser = HostUser { uid: 210_000, gid: 210_000 };
const CALLER: HostUser = HostUser { uid: 1_234, gid: 1_234 };

/// A host directory and the rules for it.
#[derive(Clone, Debug)]
struct Case {
    elsewhere: Access,
    rules: Vec<(PathBuf, Access)>,
    tree: BTreeMap<PathBuf, EntryKind>,
}

fn path() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(prop::sample::select(vec!["a", "b"]), 1..4).prop_map(|parts| parts.iter().collect())
}

fn access() -> impl Strategy<Value = Access> {
    prop::sample::select(vec![Access::Writable, Access::ReadOnly, Access::Hidden])
}

fn cases() -> impl Strategy<Value = Case> {
    let elsewhere = prop::sample::select(vec![Access::Writable, Access::ReadOnly]);
    let tree = prop::collection::vec((path(), any::<bool>()), 0..8);
    let cases = (elsewhere, prop::collection::vec((path(), access()), 0..6), tree);
    let cases = cases.prop_map(|(elsewhere, rules, tree)| Case { elsewhere, rules, tree: grown(tree) });
    cases.prop_filter("the request is refused", |case| case.planned().is_some())
}

/// Files are leaves; whatever is above something is a directory.
fn grown(paths: Vec<(PathBuf, bool)>) -> BTreeMap<PathBuf, EntryKind> {
    let mut tree = BTreeMap::new();
    for (path, file) in paths {
        let free = above(&path).all(|above| tree.get(above) != Some(&EntryKind::File));
        if free && !tree.contains_key(&path) {
            tree.extend(above(&path).map(|above| (above.to_owned(), EntryKind::Directory)));
            tree.insert(path, if file { EntryKind::File } else { EntryKind::Directory });
        }
    }
    tree
}

fn above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|above| *above != Path::new(""))
}

/// The mounts of the workspace in a plan.
struct Mounts {
    all: Vec<(PathBuf, Access)>,
    skeleton: BTreeSet<PathBuf>,
}

impl Case {
    fn rules(&self) -> Rules {
        let start = if self.elsewhere == Access::Writable { Rules::writable() } else { Rules::read_only() };
        self.rules.iter().fold(start, |rules, (path, access)| rules.path(path, *access))
    }

    fn facts(&self) -> HostFacts {
        let entry = |kind| Entry { kind, identity: Identity { device: 1, inode: 1 }, owner: CALLER };
        let mut entries: BTreeMap<_, _> =
            self.tree.iter().map(|(path, kind)| (Path::new(LOWER).join(path), entry(kind.clone()))).collect();
        for directory in [LOWER, "/srv/run/upper", "/srv/run/work"] {
            entries.insert(directory.into(), entry(EntryKind::Directory));
        }
        HostFacts {
            caller: CALLER,
            cage: CAGE,
            landlock_abi: 6,
            seccomp: true,
            groups: Vec::new(),
            entries,
            found: BTreeMap::new(),
            protected: BTreeMap::new(),
            mount_points: ["/".into()].into(),
        }
    }

    fn steps(&self) -> Option<Vec<Step>> {
        let layers = Layers::new(LOWER, "/srv/run/upper", "/srv/run/work");
        let request = Request::new(["true"]).workspace(layers).rules(self.rules());
        plan(&Profile::builtin("default").expect("a profile"), &request, &self.facts()).ok()
    }

    fn planned(&self) -> Option<Mounts> {
        let mut mounts = Mounts { all: Vec::new(), skeleton: BTreeSet::new() };
        let of = |flags: &[MountFlag]| match flags.contains(&MountFlag::ReadOnly) {
            true => Access::ReadOnly,
            false => Access::Writable,
        };
        let mut add =
            |at: &Path, access| mounts.all.push((at.strip_prefix("/work").expect("in it").to_owned(), access));
        for step in self.steps()? {
            if let Step::Rebind { at, flags } | Step::MountLayers { at, flags, .. } = &step {
                add(at, of(flags));
            }
            if let Step::Blank { at } = &step {
                add(at, Access::Hidden);
            }
            if let Step::MountLayers { skeleton, .. } = step {
                mounts.skeleton = skeleton.into_iter().collect();
            }
        }
        Some(mounts)
    }

    /// What the rules say: hidden stays hidden, otherwise the deepest rule wins, and of two the stricter one.
    fn expected(&self, path: &Path) -> Access {
        let rule = |path: &Path| self.rules.iter().filter(|rule| rule.0 == path).map(|rule| rule.1).max();
        match path.ancestors().any(|above| rule(above) == Some(Access::Hidden)) {
            true => Access::Hidden,
            false => path.ancestors().find_map(rule).unwrap_or(self.elsewhere),
        }
    }

    fn below_a_file(&self, path: &Path) -> bool {
        above(path).any(|above| self.tree.get(above) == Some(&EntryKind::File))
    }
}

impl Mounts {
    fn at(&self, path: &Path) -> Option<Access> {
        self.all.iter().find(|(place, _)| place == path).map(|(_, access)| *access)
    }

    fn access(&self, path: &Path) -> Access {
        path.ancestors().find_map(|above| self.at(above)).expect("the workspace itself is mounted")
    }
}

fn universe() -> Vec<PathBuf> {
    let names = |above: &Path| ["a", "b"].map(|name| above.join(name));
    let first: Vec<_> = names(Path::new("")).into();
    let second: Vec<_> = first.iter().flat_map(|path| names(path)).collect();
    let third: Vec<_> = second.iter().flat_map(|path| names(path)).collect();
    [first, second, third].concat()
}

fn for_all(check: impl Fn(Case, Mounts) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, cases: 1_000, ..Config::default() });
    let checked = runner.run(&cases(), |case| {
        let mounts = case.planned().expect("filtered");
        check(case, mounts)
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}

fn every_path_gets_the_access_of_its_deepest_rule() {
    for_all(|case, mounts| {
        for path in universe().iter().filter(|path| !case.below_a_file(path)) {
            let (expected, given) = (case.expected(path), mounts.access(path));
            // What is absent and read-only below something writable is kept absent by an empty place.
            let kept_absent = expected == Access::ReadOnly && given == Access::Hidden && !case.tree.contains_key(path);
            prop_assert!(expected == given || kept_absent, "{path:?}: {expected:?}, but {given:?}");
        }
        Ok(())
    });
}

fn everything_above_a_covered_path_is_pinned_and_mounted_first() {
    for_all(|case, mounts| {
        let strict = case.rules.iter().filter(|rule| rule.1 != Access::Writable && !case.below_a_file(&rule.0));
        for (path, _) in strict {
            for above in above(path).filter(|above| mounts.access(above) == Access::Writable) {
                prop_assert!(mounts.at(above).is_some(), "{above:?} above {path:?} can be moved");
            }
        }
        for (index, (place, _)) in mounts.all.iter().enumerate() {
            let earlier = &mounts.all[..index];
            prop_assert!(earlier.iter().all(|(other, _)| !other.starts_with(place)), "{place:?} comes too late");
        }
        Ok(())
    });
}

fn what_is_absent_is_mounted_on_the_skeleton_and_nothing_else_is_in_it() {
    for_all(|case, mounts| {
        let there = |path: &Path| case.tree.contains_key(path) || mounts.skeleton.contains(path);
        for (place, _) in mounts.all.iter().filter(|(place, _)| place != Path::new("")) {
            prop_assert!(there(place), "{place:?} has nothing to be mounted on");
        }
        for bone in &mounts.skeleton {
            prop_assert!(above(bone).all(|above| mounts.skeleton.contains(above)));
            prop_assert!(case.rules.iter().any(|rule| rule.0.starts_with(bone)), "{bone:?} is for nothing");
            prop_assert!(case.tree.get(bone) != Some(&EntryKind::File), "{bone:?} is a file on the host");
        }
        Ok(())
    });
}

fn the_order_of_the_rules_does_not_matter() {
    for_all(|case, _| {
        let mut turned = case.clone();
        turned.rules.reverse();
        prop_assert_eq!(turned.steps(), case.steps());
        Ok(())
    });
}
