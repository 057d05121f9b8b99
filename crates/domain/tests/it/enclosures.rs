//! What mounts keep of a scope: nothing that may not change is writable, nothing that may is lost without a word.

use placet_domain::scope::{
    Access, Enclosure, GapKind, Glob, Leaf, MOST_MOUNTS, PathRuling, Scope, ScopeDraft, ScopePath, Tree,
};
use proptest::prelude::*;

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| pattern.parse().expect("a valid pattern")).collect()
}

fn scope(allow: &[&str], deny: &[&str]) -> Scope {
    Scope::lock(ScopeDraft { allow: globs(allow), deny: globs(deny), ..ScopeDraft::default() })
}

fn tree(paths: &[&str]) -> Tree {
    Tree::new(paths.iter().map(|path| match path.strip_suffix('@') {
        Some(link) => (link.as_bytes(), Leaf::Link),
        None => (path.as_bytes(), Leaf::File),
    }))
}

/// The rules as text, the ground first: `+` is writable, `-` is read-only.
fn shown(enclosure: &Enclosure) -> Vec<String> {
    let sign = |access| match access {
        Access::Writable => '+',
        Access::ReadOnly => '-',
    };
    let rules = enclosure.rules().map(|(path, access)| format!("{}{}", sign(access), String::from_utf8_lossy(path)));
    std::iter::once(format!("{}.", sign(enclosure.ground()))).chain(rules).collect()
}

fn gaps(enclosure: &Enclosure) -> Vec<String> {
    enclosure.gaps().iter().map(ToString::to_string).collect()
}

#[test]
fn a5_a_subtree_is_one_rule_whether_it_exists_or_not() {
    let scope = scope(&["src/**", "docs/", "new/place/**"], &[]);
    let enclosure = Enclosure::of(&scope, &[], &tree(&["src/a.rs", "src/b/c.rs", "docs/x.md", "Makefile"]));
    assert_eq!(shown(&enclosure), ["-.", "+docs", "+new/place", "+src"]);
    assert!(enclosure.gaps().is_empty());
}

#[test]
fn a5_what_is_denied_stays_read_only_even_if_it_is_absent() {
    let scope = scope(&["src/**"], &["src/secret/**", "src/key.pem"]);
    let enclosure = Enclosure::of(&scope, &globs(&["src/gen/"]), &tree(&["src/a.rs", "src/gen/x.rs"]));
    assert_eq!(shown(&enclosure), ["-.", "+src", "-src/gen", "-src/key.pem", "-src/secret"]);
    assert_eq!(enclosure.access(b"src/secret/deep/new"), Access::ReadOnly);
    assert!(enclosure.gaps().is_empty());
}

#[test]
fn a5_a_denied_directory_is_read_only_in_every_spelling_that_exists() {
    let scope = scope(&["**"], &["docs/secret/**"]);
    let enclosure = Enclosure::of(&scope, &[], &tree(&["Docs/SECRET/k", "DOCS/a.md"]));
    assert_eq!(shown(&enclosure), ["+.", "-DOCS/secret", "-Docs/SECRET", "-Docs/secret", "-docs/secret"]);
}

#[test]
fn a5_a_file_that_exists_is_writable_alone() {
    let enclosure = Enclosure::of(&scope(&["Cargo.lock"], &[]), &[], &tree(&["Cargo.lock", "Cargo.toml"]));
    assert_eq!(shown(&enclosure), ["-.", "+Cargo.lock"]);
    assert!(enclosure.gaps().is_empty());
}

#[test]
fn a5_a_file_that_is_absent_opens_its_directory_and_says_so() {
    let enclosure = Enclosure::of(&scope(&["etc/new.conf"], &[]), &[], &tree(&["etc/a.conf", "etc/b/c", "x"]));
    assert_eq!(shown(&enclosure), ["-.", "+etc", "-etc/a.conf", "-etc/b"]);
    assert_eq!(gaps(&enclosure), ["`etc/new.conf`: it is absent, so other new names can be made beside it in `etc`"]);
}

#[test]
fn a5_wildcards_open_their_directory_and_close_what_they_do_not_match() {
    let scope = scope(&["src/**/*.rs", "*.md"], &["**/*.pem"]);
    let tree = tree(&["README.md", "Makefile", "src/a.rs", "src/a.txt", "src/b/c.rs", "src/b/k.pem", "docs/x.md"]);
    let enclosure = Enclosure::of(&scope, &[], &tree);
    assert_eq!(shown(&enclosure), ["+.", "-Makefile", "-docs", "-src/a.txt", "-src/b/k.pem"]);
    assert_eq!(
        gaps(&enclosure),
        [
            "`*.md`: new names that it does not match can be made in the root too",
            "`src/**/*.rs`: new names that it does not match can be made in 2 directories of `src` too",
            "`**/*.pem`: names that it denies and that are absent can be made in 3 directories of the root",
        ]
    );
}

#[test]
fn a5_names_behind_wildcards_are_rules_where_the_wildcards_have_met_something() {
    let scope = scope(&["crates/*/src/**"], &[]);
    let enclosure = Enclosure::of(&scope, &[], &tree(&["crates/a/src/x.rs", "crates/a/Cargo.toml", "crates/b/x"]));
    assert_eq!(shown(&enclosure), ["-.", "+crates", "-crates/a", "+crates/a/src", "-crates/b", "+crates/b/src"]);
}

#[test]
fn a5_a_link_that_would_be_writable_alone_stays_and_is_named() {
    let enclosure = Enclosure::of(&scope(&["a/link", "b/**"], &[]), &[], &tree(&["a/link@", "a/x", "b/link@"]));
    assert_eq!(shown(&enclosure), ["-.", "+b"]);
    assert_eq!(gaps(&enclosure), ["`a/link` is a symbolic link; allow the directory it is in to change it"]);
}

#[test]
fn a5_a_file_in_the_place_of_a_directory_stays() {
    let enclosure = Enclosure::of(&scope(&["**"], &["a/**"]), &[], &tree(&["a", "b"]));
    assert_eq!(shown(&enclosure), ["+.", "-a"]);
    assert_eq!(enclosure.gaps()[0].kind(), GapKind::InTheWay);
    let enclosure = Enclosure::of(&scope(&["a/**"], &[]), &[], &tree(&["a", "b"]));
    assert_eq!(shown(&enclosure), ["-."]);
    assert_eq!(gaps(&enclosure), ["`a/**`: `a` is in the place of a directory; it stays as it is"]);
}

/// Files of two kinds: `src/<n>/` holds many others and few sources, `src/main` only sources.
fn mixed(directories: usize, others: usize) -> Vec<String> {
    let other = move |dir| (0..others).map(move |n| format!("src/{dir}/{n}.txt"));
    let source = |dir| [format!("src/{dir}/lib.rs"), format!("src/main/{dir}.rs")];
    (0..directories).flat_map(|dir| other(dir).chain(source(dir))).collect()
}

#[test]
fn a5_without_room_for_exceptions_new_names_are_given_up_before_files_are() {
    let paths = mixed(5, 300);
    let tree = Tree::new(paths.iter().map(|path| (path.as_bytes(), Leaf::File)));
    let enclosure = Enclosure::of(&scope(&["src/**/*.rs"], &[]), &[], &tree);
    assert!(enclosure.rules().count() <= MOST_MOUNTS);
    for path in &paths {
        let expected = if path.ends_with(".rs") { Access::Writable } else { Access::ReadOnly };
        assert_eq!(enclosure.access(path.as_bytes()), expected, "{path}");
    }
    let closed = enclosure.gaps().iter().find(|gap| gap.kind() == GapKind::NoNewNames).expect("it is said");
    assert_eq!((closed.places(), closed.permits_more()), (3, false));
    assert_eq!(
        closed.to_string(),
        "no new names can be made in 3 directories of `src`: too many exceptions; allow whole directories"
    );
}

#[test]
fn a5_with_hardly_any_room_everything_is_read_only_and_says_so() {
    let paths = mixed(50, 3);
    let tree = Tree::new(paths.iter().map(|path| (path.as_bytes(), Leaf::File)));
    let enclosure = Enclosure::within(1, &scope(&["src/**/*.rs"], &[]), &[], &tree);
    assert!(enclosure.rules().count() <= 1);
    assert!(enclosure.gaps().iter().any(|gap| gap.kind() == GapKind::Closed));
}

fn a_glob() -> impl Strategy<Value = Glob> {
    let pattern = prop_oneof![
        3 => "[ab]{1}(/[abc]){0,2}",
        3 => "[ab](/[abc]){0,1}/\\*\\*",
        1 => "\\*\\*/[abc](/\\*\\*)?",
        2 => "([ab]/){0,2}(\\*\\*/)?\\*\\.(rs|md)",
        1 => "([ab]/)?\\*/[abc](/\\*\\*)?",
        1 => "([ab]/)?[abc]\\*(/[ab])?",
        1 => "\\*\\*",
    ];
    pattern.prop_filter_map("a pattern that is taken", |pattern| pattern.parse().ok())
}

fn a_path() -> impl Strategy<Value = String> {
    "([abcAB]/){0,3}([abcAB]|x\\.rs|y\\.md|z)"
}

/// A tree whose paths do not lead through each other.
fn a_tree() -> impl Strategy<Value = Vec<(String, Leaf)>> {
    let leaf = prop_oneof![9 => Just(Leaf::File), 1 => Just(Leaf::Link)];
    prop::collection::btree_map(a_path(), leaf, 0..40).prop_map(|paths| {
        let is_directory = |path: &String| paths.keys().any(|other| other.starts_with(&format!("{path}/")));
        paths.iter().filter(|(path, _)| !is_directory(path)).map(|(path, leaf)| (path.clone(), *leaf)).collect()
    })
}

/// A scope with its protected globs, the same judged as one, and a tree.
#[derive(Debug)]
struct World {
    scope: Scope,
    protected: Vec<Glob>,
    whole: Scope,
    paths: Vec<(String, Leaf)>,
}

fn a_world() -> impl Strategy<Value = World> {
    let lists = (prop::collection::vec(a_glob(), 0..4), prop::collection::vec(a_glob(), 0..3));
    (lists, prop::collection::vec(a_glob(), 0..2), a_tree()).prop_map(|((allow, deny), protected, paths)| {
        let draft = ScopeDraft { allow, deny, ..ScopeDraft::default() };
        let mut whole = draft.clone();
        whole.deny.extend(protected.iter().cloned());
        World { scope: Scope::lock(draft), protected, whole: Scope::lock(whole), paths }
    })
}

impl World {
    fn enclosed(&self, most_mounts: usize) -> Enclosure {
        let tree = Tree::new(self.paths.iter().map(|(path, leaf)| (path.as_bytes(), *leaf)));
        Enclosure::within(most_mounts, &self.scope, &self.protected, &tree)
    }

    fn ruling(&self, path: &str) -> PathRuling<'_> {
        self.whole.judge_path(&ScopePath::new(path.as_bytes()).expect("a path"))
    }

    fn allows(&self, path: &str) -> bool {
        matches!(self.ruling(path), PathRuling::Allowed { .. })
    }

    /// Whether nothing has this path, nothing is below it, and no file is in its way.
    fn could_be_made(&self, path: &str) -> bool {
        self.paths.iter().all(|(other, _)| {
            other != path && !other.starts_with(&format!("{path}/")) && !path.starts_with(&format!("{other}/"))
        })
    }

    /// Whether the path or a directory above it is itself denied, or is a directory of something denied: that is there as soon as the
    /// cage is, whatever its case, so that no file can be made in its place.
    fn is_denied_on_the_way(&self, path: &str) -> bool {
        let deny = self
            .whole
            .rules()
            .deny
            .iter()
            .flat_map(|deny| above(deny.as_str()).filter(|place| *place != deny.as_str()));
        let deny = deny.map(|place| place.to_lowercase().parse().expect("a glob")).collect();
        let tops = Scope::lock(ScopeDraft { deny, ..ScopeDraft::default() });
        let is_top = |path: &str| {
            let path = path.to_lowercase();
            let path = ScopePath::new(path.as_bytes()).expect("a path");
            matches!(tops.judge_path(&path), PathRuling::Denied { .. })
        };
        above(path).any(|path| is_top(path) || matches!(self.ruling(path), PathRuling::Denied { .. }))
    }
}

/// A path and all the directories above it.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash]).chain([path])
}

fn is_at_or_above(place: &[u8], path: &str) -> bool {
    place.is_empty() || above(path).any(|above| above.as_bytes() == place)
}

#[test]
fn a5_no_file_can_be_made_in_the_place_of_a_denied_subtree() {
    let deny = vec!["a/c/**".parse().expect("a glob")];
    let allow = vec!["**".parse().expect("a glob")];
    let scope = Scope::lock(ScopeDraft { allow, deny, ..ScopeDraft::default() });
    let world = World { whole: scope.clone(), scope, protected: Vec::new(), paths: Vec::new() };
    let enclosure = world.enclosed(MOST_MOUNTS);
    assert_eq!(enclosure.access(b"a/c"), Access::ReadOnly);
    assert_eq!(enclosure.access(b"a/cd"), Access::Writable);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a5_what_exists_and_may_not_change_is_always_read_only(world in a_world(), most_mounts in 0..40_usize) {
        let enclosure = world.enclosed(most_mounts);
        prop_assert!(enclosure.rules().count() <= most_mounts);
        for (path, _) in world.paths.iter().filter(|(path, _)| !world.allows(path)) {
            prop_assert_eq!(enclosure.access(path.as_bytes()), Access::ReadOnly, "{} in {:?}", path, enclosure);
        }
    }

    #[test]
    fn a5_what_exists_and_may_change_is_writable_or_named_by_a_gap(world in a_world(), most_mounts in 0..200_usize) {
        let enclosure = world.enclosed(most_mounts);
        for (path, _) in world.paths.iter().filter(|(path, _)| world.allows(path)) {
            let named = enclosure.gaps().iter().any(|gap| !gap.permits_more() && is_at_or_above(gap.place(), path));
            prop_assert!(named || enclosure.access(path.as_bytes()) == Access::Writable, "{} in {:?}", path, enclosure);
        }
    }

    #[test]
    fn a5_with_enough_room_only_links_and_what_is_in_the_way_are_given_up(world in a_world()) {
        let enclosure = world.enclosed(MOST_MOUNTS);
        for (path, _) in world.paths.iter().filter(|(path, _)| world.allows(path)) {
            let named = enclosure.gaps().iter().any(|gap| {
                matches!(gap.kind(), GapKind::Link | GapKind::InTheWay) && gap.place() == path.as_bytes()
            });
            prop_assert!(named || enclosure.access(path.as_bytes()) == Access::Writable, "{} in {:?}", path, enclosure);
        }
    }

    #[test]
    fn a5_denied_names_and_subtrees_are_read_only_also_where_they_are_absent(world in a_world(), path in a_path()) {
        let enclosure = world.enclosed(MOST_MOUNTS);
        for deny in &world.whole.rules().deny {
            let stem = deny.as_str().strip_suffix("/**").unwrap_or(deny.as_str());
            if stem.contains('*') {
                continue;
            }
            let is_subtree = deny.as_str() != stem;
            // A file with a rule of its own can be neither removed nor replaced, so that nothing comes to be below it.
            let has_rule = |place: &str| enclosure.rules().any(|(rule, _)| rule == place.as_bytes());
            let is_there = |place: &str| world.paths.iter().any(|(path, _)| path == place);
            let is_mounted = (has_rule(stem) && !world.could_be_made(stem))
                || above(stem).any(|place| has_rule(place) && is_there(place));
            if is_subtree && !is_mounted {
                let below = format!("{stem}/{path}");
                prop_assert_eq!(enclosure.access(below.as_bytes()), Access::ReadOnly, "{} in {:?}", below, enclosure);
            } else if !is_subtree && world.could_be_made(stem) {
                prop_assert_eq!(enclosure.access(stem.as_bytes()), Access::ReadOnly, "{} in {:?}", stem, enclosure);
            }
        }
    }

    #[test]
    fn a5_what_is_allowed_can_be_made(world in a_world(), path in a_path()) {
        let enclosure = world.enclosed(MOST_MOUNTS);
        let is_expected = world.allows(&path) && world.could_be_made(&path) && !world.is_denied_on_the_way(&path);
        prop_assert!(!is_expected || enclosure.access(path.as_bytes()) == Access::Writable, "{:?}", enclosure);
    }

    #[test]
    fn a5_what_can_be_made_and_is_not_allowed_is_named_by_a_gap(world in a_world(), path in a_path()) {
        let (enclosure, path) = (world.enclosed(MOST_MOUNTS), path.to_lowercase());
        // What a writable rule names is a directory as soon as the cage is there, and nothing else can be made of it.
        let is_mounted = enclosure.rules().any(|(rule, _)| rule == path.as_bytes());
        let can_be_made = world.could_be_made(&path) && enclosure.access(path.as_bytes()) == Access::Writable;
        if can_be_made && !is_mounted && !world.allows(&path) {
            let named = enclosure.gaps().iter().any(|gap| gap.permits_more());
            prop_assert!(named, "{} in {:?}", path, enclosure);
        }
    }
}
