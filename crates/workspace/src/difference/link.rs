//! Where symbolic links lead, told by their text and that of other links on the way, without following any of them.
//!
//! A link leads out if its target is absolute, if it climbs above the root of the worktree, or if another link on its way
//! does. Where the way cannot be told, it leads out.

use std::path::PathBuf;

use serde::Serialize;

use super::{Difference, DifferenceError, Origin};
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::path::{RawBytes, TreePath};
use crate::worktree::{Kind, Worktree};

/// The kernel follows no more links on one way.
const MOST_LINKS: usize = 40;

/// A symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Its text: any bytes.
    pub target: RawBytes,
    /// Where it leads.
    pub leads: Leads,
}

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leads {
    /// To something in the worktree, whether it exists or not.
    Inside,
    /// Out of the worktree.
    Outside,
}

/// The text of a link at a path, if one is there.
type Lookup<'a> = dyn Fn(&[Vec<u8>]) -> Option<Vec<u8>> + 'a;

/// Where a link at this path with this text leads.
fn leads(at: &TreePath, target: &[u8], lookup: &Lookup<'_>) -> Leads {
    let mut here: Vec<Vec<u8>> = at.names().map(<[u8]>::to_vec).collect();
    here.pop();
    let mut waiting = parts(target);
    let mut links = 0;
    if target.starts_with(b"/") || target.is_empty() {
        return Leads::Outside;
    }
    while let Some(part) = waiting.pop() {
        match part.as_slice() {
            b"." => {}
            b".." if here.pop().is_none() => return Leads::Outside,
            b".." => {}
            _ => {
                here.push(part);
                let Some(next) = lookup(&here) else { continue };
                links += 1;
                if next.starts_with(b"/") || links > MOST_LINKS {
                    return Leads::Outside;
                }
                here.pop();
                waiting.extend(parts(&next));
            }
        }
    }
    // The repository itself is not part of the worktree.
    let into_git = here.first().is_some_and(|name| name.eq_ignore_ascii_case(b".git"));
    if into_git { Leads::Outside } else { Leads::Inside }
}

/// The parts of a target, the first one last.
fn parts(target: &[u8]) -> Vec<Vec<u8>> {
    target.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).rev().collect()
}

impl Worktree {
    /// Where each link among these differences leads, with the links that are in the worktree now.
    pub(super) fn lead(&self, list: &mut [Difference]) -> Result<(), DifferenceError> {
        if list.iter().all(|difference| difference.link.is_none()) {
            return Ok(());
        }
        let roots = self.roots()?;
        let lookup = |names: &[Vec<u8>]| roots.iter().find_map(|root| read_link(root, names));
        for difference in list {
            let Some(link) = &mut difference.link else { continue };
            link.leads = leads(&difference.path, link.target.as_bytes(), &lookup);
            // The links of an earlier commit are not here to be asked.
            if difference.origin == Origin::Committed && turns_back(link.target.as_bytes()) {
                link.leads = Leads::Outside;
            }
        }
        Ok(())
    }

    /// The directories that together are the worktree, the one that is seen first.
    fn roots(&self) -> Result<Vec<Dir>, DifferenceError> {
        let cage = self.cage();
        let paths: Vec<PathBuf> = match self.kind() {
            Kind::Plain => vec![cage.lower],
            Kind::Layered => vec![cage.upper, cage.lower],
        };
        let open = |path: &PathBuf| Ok(Dir::open(path).doing("open", path.display())?);
        paths.iter().map(open).collect()
    }
}

/// Whether it goes up after it went down: through what, only a link at that place can tell.
fn turns_back(target: &[u8]) -> bool {
    let mut down = false;
    target.split(|&byte| byte == b'/').any(|part| match part {
        b"" | b"." => false,
        b".." => down,
        _ => {
            down = true;
            false
        }
    })
}

fn read_link(root: &Dir, names: &[Vec<u8>]) -> Option<Vec<u8>> {
    let path = TreePath::new(names.join(&b'/')).ok()?;
    let parent = absent(root.parent_of(&path)).ok()??;
    parent.link_target(path.name()).ok()
}

/// For commits that are in no worktree: every link of theirs by its text alone.
pub(crate) fn lead_by_text(list: &mut [Difference]) {
    for difference in list {
        if let Some(link) = &mut difference.link {
            let by_text = leads(&difference.path, link.target.as_bytes(), &|_| None);
            let back = turns_back(link.target.as_bytes());
            link.leads = if back { Leads::Outside } else { by_text };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn led(at: &str, target: &str, others: &[(&str, &str)]) -> Leads {
        let others: BTreeMap<Vec<u8>, &str> = others.iter().map(|(at, to)| (at.as_bytes().to_vec(), *to)).collect();
        let lookup = |names: &[Vec<u8>]| others.get(&names.join(&b'/')).map(|to| to.as_bytes().to_vec());
        leads(&TreePath::new(at).unwrap(), target.as_bytes(), &lookup)
    }

    #[test]
    fn links_are_told_apart_by_where_they_lead() {
        for (at, target) in [("a", "b"), ("a/b", "../c"), ("a/b/c", "../../x/y"), ("a", "./b/../c"), ("a/b", "..")] {
            assert_eq!(led(at, target, &[]), Leads::Inside, "{at} -> {target}");
        }
        for (at, target) in
            [("a", "/etc"), ("a", ".."), ("a/b", "../../x"), ("a", "b/../../x"), ("a", ""), ("a", ".git/x")]
        {
            assert_eq!(led(at, target, &[]), Leads::Outside, "{at} -> {target}");
        }
    }

    #[test]
    fn other_links_on_the_way_count() {
        assert_eq!(led("a", "d/passwd", &[("d", "/etc")]), Leads::Outside);
        assert_eq!(led("a", "d/e", &[("d", "x/y")]), Leads::Inside);
        assert_eq!(led("a", "d/../../e", &[("d", "x/y")]), Leads::Inside, "`d` is two levels down");
        assert_eq!(led("x/a", "d/../e", &[("x/d", "..")]), Leads::Outside, "`d` is the root");
        assert_eq!(led("a", "b", &[("b", "a"), ("a", "b")]), Leads::Outside, "it leads nowhere");
    }

    #[test]
    fn going_up_after_going_down_is_noticed() {
        assert!(turns_back(b"a/../b") && turns_back(b"../a/./../b"));
        assert!(!turns_back(b"../../a/b") && !turns_back(b"a/b"));
    }
}
