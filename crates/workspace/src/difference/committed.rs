//! What commits changed, each on its own, and what differs between base and tip beyond that.

use std::collections::HashSet;

use super::link::{Leads, Link};
use super::raw::{self, Raw, unexpected};
use super::{Difference, DifferenceError, Entry, Origin};
use crate::git::{Call, Git, ObjectId};
use crate::path::RawBytes;
use crate::repository::{CommitInfo, commits};

/// A link holds a path; git takes longer ones, and nobody can follow them.
const MOST_TARGET_BYTES: usize = 1 << 16;

/// How git is asked what changed. Something that was moved and edited is deleted and added: both names count either way,
/// and comparing the content of all that might be the same takes the square of their number.
const HOW: &[&str] = &["-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "-M100%"];

/// Every difference that the commits since the base bring, and those commits, newest first.
pub(crate) fn committed(
    git: &Git,
    base: &ObjectId,
    tip: &ObjectId,
) -> Result<(Vec<Difference>, Vec<CommitInfo>), DifferenceError> {
    if base == tip {
        return Ok((Vec::new(), Vec::new()));
    }
    let commits = commits(git, base, tip)?;
    let mut found = each(git, &commits)?;
    if !continues(&commits, base) {
        let known: HashSet<_> = found.iter().flat_map(|raw| paths(&raw.difference)).collect();
        let net = between(git, base, tip)?;
        let beyond: Vec<Raw> =
            net.into_iter().filter(|raw| paths(&raw.difference).any(|path| !known.contains(&path))).collect();
        found.extend(beyond);
    }
    read_links(git, &mut found)?;
    Ok((found.into_iter().map(|raw| raw.difference).collect(), commits))
}

/// Whether each commit continues the one before, and the first one the base. Then nothing differs that none of them changed.
fn continues(commits: &[CommitInfo], base: &ObjectId) -> bool {
    let before = commits.iter().skip(1).map(|commit| &commit.id).chain([base]);
    !commits.is_empty() && commits.iter().zip(before).all(|(commit, before)| commit.parents == [before.clone()])
}

fn paths(difference: &Difference) -> impl Iterator<Item = crate::path::TreePath> {
    [Some(difference.path.clone()), difference.old_path.clone()].into_iter().flatten()
}

/// Of a merge, what differs from all its parents: the rest is in other commits.
fn each(git: &Git, commits: &[CommitInfo]) -> Result<Vec<Raw>, DifferenceError> {
    let ids: String = commits.iter().map(|commit| format!("{}\n", commit.id)).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = ["diff-tree", "--stdin", "--root", "-c"].iter().chain(HOW).copied();
    raw::parse(&git.call(Call::new(arguments).input(ids))?, Origin::Committed)
}

/// What differs between two commits, whatever lies between them.
pub(super) fn between(git: &Git, base: &ObjectId, tip: &ObjectId) -> Result<Vec<Raw>, DifferenceError> {
    let arguments = ["diff-tree"].iter().chain(HOW).copied().chain([base.as_str(), tip.as_str()]);
    raw::parse(&git.run(arguments)?, Origin::Committed)
}

/// Where committed links point. What lies between is not looked at yet; see [`super::link`].
fn read_links(git: &Git, found: &mut [Raw]) -> Result<(), DifferenceError> {
    let mut links: Vec<&mut Raw> = found.iter_mut().filter(|raw| raw.difference.new == Some(Entry::Link)).collect();
    if links.is_empty() {
        return Ok(());
    }
    let input: Vec<u8> = links.iter().flat_map(|raw| [&raw.object[..], b"\n"].concat()).collect();
    let printed = git.call(Call::new(["cat-file", "--batch"]).input(input))?;
    let mut rest = printed.as_slice();
    for raw in &mut links {
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| unexpected(rest))?;
        let size =
            std::str::from_utf8(&rest[..end]).ok().and_then(|line| line.rsplit(' ').next()?.parse::<usize>().ok());
        let size = size.ok_or_else(|| unexpected(rest))?;
        let target = rest.get(end + 1..end + 1 + size).ok_or_else(|| unexpected(rest))?;
        let kept = RawBytes::new(&target[..size.min(MOST_TARGET_BYTES)]);
        raw.difference.link = Some(Link { target: kept, leads: Leads::Inside });
        rest = rest.get(end + 2 + size..).unwrap_or_default();
    }
    Ok(())
}
