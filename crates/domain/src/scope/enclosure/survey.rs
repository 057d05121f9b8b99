//! The walk through a tree that finds out which places should be writable, before anybody counts mounts.
//!
//! A directory is writable if names may have to be made in it that are absent now; a file, if the scope allows to change it.
//! Directories that no rule reaches, or one deny rule reaches wholly, are not entered.

use std::collections::{BTreeMap, BTreeSet};

use super::Access;
use super::gap::{GapKind, Gaps};
use super::tree::{Entries, Leaf, Node, Seen, Tree, join, parent};
use crate::scope::wildmatch::reach::{Progress, Reach};
use crate::scope::{Case, Glob};

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    Leaf(Leaf),
    /// Nothing yet, and a rule keeps it so.
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: Kind,
    pub(super) access: Access,
}

/// What each place should be. The directory of every place is a place too.
#[derive(Debug, Default)]
pub(super) struct Places(pub(super) BTreeMap<Vec<u8>, Place>);

impl Places {
    pub(super) fn ground(&self) -> Access {
        self.0.get(&[][..]).map_or(Access::ReadOnly, |root| root.access)
    }

    pub(super) fn above(&self, path: &[u8]) -> Access {
        self.0.get(parent(path)).map_or(Access::ReadOnly, |place| place.access)
    }

    fn changes(&self) -> impl Iterator<Item = (&Vec<u8>, Access)> {
        // Neighbours are mostly in the same directory, which is then looked up once.
        let mut last = (&[][..], self.ground());
        self.0.iter().filter_map(move |(path, place)| {
            let above = parent(path);
            if last.0 != above {
                last = (above, self.above(path));
            }
            (!path.is_empty() && place.access != last.1).then_some((path, place.access))
        })
    }

    /// The places that are other than the directory they are in.
    pub(super) fn rules(&self) -> BTreeMap<Vec<u8>, Access> {
        self.changes().map(|(path, access)| (path.clone(), access)).collect()
    }

    /// How many mounts the rules cost: a cage also mounts every writable directory above a rule, lest it be moved away.
    pub(super) fn mounts(&self) -> usize {
        let mut mounts = BTreeSet::new();
        for (path, _) in self.changes() {
            let mut above = parent(path);
            while !above.is_empty() && self.0[above].access == Access::Writable && mounts.insert(above) {
                above = parent(above);
            }
            mounts.insert(path);
        }
        mounts.len()
    }
}

/// The rules that still reach something, each with how far it has come.
struct Reaching<'scope> {
    allow: Vec<Rule<'scope>>,
    deny: Vec<Rule<'scope>>,
}

type Rule<'scope> = (&'scope Glob, Progress<'scope>, Reach);

fn reaching<'scope>(rule: (&'scope Glob, Progress<'scope>)) -> Option<Rule<'scope>> {
    let (glob, progress) = rule;
    let reach = progress.reach();
    (reach != Reach::Nothing).then_some((glob, progress, reach))
}

impl<'scope> Reaching<'scope> {
    fn new(allow: &'scope [Glob], deny: impl Iterator<Item = &'scope Glob>) -> Self {
        let allow = allow.iter().map(|glob| (glob, glob.progress(Case::Exact))).filter_map(reaching).collect();
        let deny = deny.map(|glob| (glob, glob.progress(Case::Ignore))).filter_map(reaching).collect();
        Self { allow, deny }
    }

    fn entered(&self, name: &[u8]) -> Self {
        let enter = |rules: &[Rule<'scope>]| {
            rules.iter().map(|(glob, progress, _)| (*glob, progress.entered(name))).filter_map(reaching).collect()
        };
        Self { allow: enter(&self.allow), deny: enter(&self.deny) }
    }

    fn allows(&self, path: &[u8]) -> bool {
        let matches =
            |(glob, _, reach): &Rule<'scope>| *reach == Reach::Everything || glob.matches_bytes(path, Case::Exact);
        self.allow.iter().any(matches) && !self.denies(path)
    }

    fn denies(&self, path: &[u8]) -> bool {
        self.deny.iter().any(|(glob, ..)| glob.matches_bytes(path, Case::Ignore))
    }

    /// Directories that rules know by name. What is denied matters only where it could be made.
    fn named_directories(&self, access: Access) -> BTreeSet<&Vec<u8>> {
        let denied = self.deny.iter().filter(|_| access == Access::Writable);
        self.allow.iter().chain(denied).filter_map(|(_, _, reach)| reach.directory()).collect()
    }

    fn allows_everything(&self) -> bool {
        self.allow.iter().any(|(_, _, reach)| *reach == Reach::Everything)
    }

    fn denies_everything(&self) -> bool {
        self.deny.iter().any(|(_, _, reach)| *reach == Reach::Everything)
    }
}

/// Which places are noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Directories, and what is other than the directory it is in: enough for the rules, and few of a large tree.
    Changes,
    /// Everything that is seen, for whoever wants to close directories.
    Everything,
}

/// What was found.
pub(super) struct Survey<'scope> {
    detail: Detail,
    pub(super) places: Places,
    pub(super) gaps: Gaps<'scope>,
}

impl<'scope> Survey<'scope> {
    pub(super) fn of(
        detail: Detail,
        allow: &'scope [Glob],
        deny: impl Iterator<Item = &'scope Glob>,
        tree: &Tree,
    ) -> Self {
        let mut survey = Self { detail, places: Places::default(), gaps: Gaps::default() };
        survey.directory(b"", &tree.entries, &Reaching::new(allow, deny));
        survey
    }

    /// A directory that exists, or one that a rule names and that has no entries.
    fn directory(&mut self, path: &[u8], entries: &Entries, rules: &Reaching<'scope>) {
        if rules.allow.is_empty() || rules.denies_everything() {
            return self.put(path, Kind::Directory, Access::ReadOnly);
        }
        if rules.allows_everything() && rules.deny.is_empty() {
            return self.put(path, Kind::Directory, Access::Writable);
        }
        let access = self.own_access(path, entries, rules);
        self.put(path, Kind::Directory, access);
        for (name, node) in entries {
            let path = join(path, name);
            match node.seen() {
                Seen::Leaf(leaf) => self.leaf(&path, leaf, access, rules),
                Seen::Directory(entries) => self.directory(&path, entries, &rules.entered(name)),
            }
        }
        let absent = |name: &&Vec<u8>| !entries.contains_key(*name);
        for name in rules.named_directories(access).into_iter().filter(absent) {
            self.directory(&join(path, name), &Entries::new(), &rules.entered(name));
        }
        self.allowed_by_name(path, entries, rules);
        self.deny_absent(path, entries, rules);
        if access == Access::Writable {
            self.denied_by_name(path, entries, rules);
        }
    }

    fn leaf(&mut self, path: &[u8], leaf: Leaf, above: Access, rules: &Reaching<'scope>) {
        let access = if rules.allows(path) { Access::Writable } else { Access::ReadOnly };
        if access != above || self.detail == Detail::Everything {
            self.put(path, Kind::Leaf(leaf), access);
        }
    }

    fn put(&mut self, path: &[u8], kind: Kind, access: Access) {
        self.places.0.insert(path.to_vec(), Place { kind, access });
    }

    /// Whether names that are absent may have to be made in a directory.
    fn own_access(&mut self, path: &[u8], entries: &Entries, rules: &Reaching<'scope>) -> Access {
        if rules.allows_everything() {
            return Access::Writable;
        }
        let mut access = Access::ReadOnly;
        for (glob, _, reach) in &rules.allow {
            let kind = match reach {
                Reach::Names => GapKind::NewNames,
                Reach::File(name) if !entries.contains_key(name) && !rules.denies(&join(path, name)) => {
                    GapKind::NewFile
                }
                Reach::File(_) | Reach::Directory(_) | Reach::Nothing | Reach::Everything => continue,
            };
            self.gaps.add(kind, Some(glob), path);
            access = Access::Writable;
        }
        access
    }

    /// Names that an allow rule knows and that something else has.
    fn allowed_by_name(&mut self, path: &[u8], entries: &Entries, rules: &Reaching<'scope>) {
        for (glob, _, reach) in &rules.allow {
            let (Reach::File(name) | Reach::Directory(name)) = reach else { continue };
            match (reach, entries.get(name).map(Node::seen)) {
                (Reach::File(_), Some(Seen::Directory(_))) | (Reach::Directory(_), Some(Seen::Leaf(_))) => {
                    self.gaps.add(GapKind::InTheWay, Some(glob), &join(path, name));
                }
                _ => {}
            }
        }
    }

    /// Names that a deny rule knows, in a directory where they could be made.
    fn denied_by_name(&mut self, path: &[u8], entries: &Entries, rules: &Reaching<'scope>) {
        for (glob, _, reach) in &rules.deny {
            let name = match reach {
                Reach::File(name) | Reach::Directory(name) => name,
                Reach::Names => {
                    self.gaps.add(GapKind::Unborn, Some(glob), path);
                    continue;
                }
                Reach::Nothing | Reach::Everything => continue,
            };
            let place = join(path, name);
            match (reach, entries.get(name).map(Node::seen)) {
                (Reach::File(_), Some(Seen::Directory(_))) => self.gaps.add(GapKind::Unborn, Some(glob), &place),
                (Reach::Directory(_), Some(Seen::Leaf(leaf))) => self.keep_in_the_way(glob, &place, leaf),
                _ => {}
            }
        }
    }

    /// Files that are denied by name and absent. Where an allow rule makes a directory of such a name, it is read-only too.
    fn deny_absent(&mut self, path: &[u8], entries: &Entries, rules: &Reaching<'scope>) {
        let file =
            |(_, _, reach): &Rule<'scope>| reach.file().map(|name| (join(path, name), entries.contains_key(name)));
        for (place, _) in rules.deny.iter().filter_map(file).filter(|(_, exists)| !exists) {
            match self.places.0.get_mut(&place) {
                Some(known) => known.access = Access::ReadOnly,
                None => self.put(&place, Kind::Absent, Access::ReadOnly),
            }
        }
    }

    /// As long as it stays, nothing can be made below it. What is not noted is as writable as the directory it is in.
    fn keep_in_the_way(&mut self, glob: &'scope Glob, path: &[u8], leaf: Leaf) {
        if self.places.0.get(path).is_none_or(|place| place.access == Access::Writable) {
            self.gaps.add(GapKind::InTheWay, Some(glob), path);
        }
        self.put(path, Kind::Leaf(leaf), Access::ReadOnly);
    }

    /// A link in a writable directory can be replaced; one that would be writable alone cannot be mounted.
    pub(super) fn close_lone_links(&mut self) {
        let is_lone = |(path, place): &(&Vec<u8>, &Place)| {
            **place == Place { kind: Kind::Leaf(Leaf::Link), access: Access::Writable }
                && self.places.above(path) == Access::ReadOnly
        };
        let lone: Vec<Vec<u8>> = self.places.0.iter().filter(is_lone).map(|(path, _)| path.clone()).collect();
        for path in lone {
            self.gaps.add(GapKind::Link, None, &path);
            self.put(&path, Kind::Leaf(Leaf::Link), Access::ReadOnly);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn survey<'scope>(allow: &'scope [Glob], deny: &'scope [Glob], paths: &[&str]) -> Survey<'scope> {
        let tree = Tree::new(paths.iter().map(|path| (path.as_bytes(), Leaf::File)));
        Survey::of(Detail::Everything, allow, deny.iter(), &tree)
    }

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        patterns.iter().map(|pattern| pattern.parse().expect("a valid pattern")).collect()
    }

    #[test]
    fn a_rule_costs_its_mount_and_one_for_each_writable_directory_above_it() {
        let (allow, deny) = (globs(&["a/**"]), globs(&["a/b/c/k1", "a/b/c/k2"]));
        let survey = survey(&allow, &deny, &["a/b/c/k1", "a/b/c/x"]);
        let rules: Vec<Vec<u8>> = survey.places.rules().into_keys().collect();
        assert_eq!(rules, [&b"a"[..], b"a/b/c/k1", b"a/b/c/k2"]);
        assert_eq!(survey.places.mounts(), 5, "the rules, and a/b and a/b/c");
    }

    #[test]
    fn directories_that_one_rule_settles_are_not_entered() {
        let (allow, deny) = (globs(&["a/**", "b/*.rs"]), globs(&["b/x/**"]));
        let survey = survey(&allow, &deny, &["a/1", "a/2/3", "b/x/y", "c/d"]);
        let places: Vec<&[u8]> = survey.places.0.keys().map(Vec::as_slice).collect();
        assert_eq!(places, [&b""[..], b"a", b"b", b"b/x", b"c"]);
    }

    fn pattern() -> impl Strategy<Value = Glob> {
        let part = prop_oneof!["[ab]", Just("*".to_owned()), Just("**".to_owned()), Just("a*".to_owned())];
        let joined = proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"));
        joined.prop_filter_map("a pattern", |text| text.parse().ok())
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let leaf = prop_oneof![4 => Just(Leaf::File), 1 => Just(Leaf::Link)];
        let entry = ("[abAB]{1,2}(/[abAB]{1,2}){0,3}", leaf);
        proptest::collection::vec(entry, 0..40)
            .prop_map(|entries| Tree::new(entries.iter().map(|(path, leaf)| (path.as_bytes(), *leaf))))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn what_is_noted_of_a_large_tree_tells_the_same_rules_as_everything(
            allow in proptest::collection::vec(pattern(), 0..4),
            deny in proptest::collection::vec(pattern(), 0..4),
            tree in tree(),
        ) {
            let both = [Detail::Changes, Detail::Everything].map(|detail| {
                let mut survey = Survey::of(detail, &allow, deny.iter(), &tree);
                let mounts = survey.places.mounts();
                survey.close_lone_links();
                (survey.places.ground(), survey.places.rules(), mounts, survey.gaps.into_list())
            });
            prop_assert_eq!(&both[0], &both[1]);
        }
    }
}
