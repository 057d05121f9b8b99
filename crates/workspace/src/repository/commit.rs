//! Commits as their authors wrote them, read from the objects themselves: what git prints for people can be bent by what
//! is in a name.

use super::RepositoryError;
use super::refs::object;
use crate::git::{Call, Git, ObjectId};
use crate::path::RawBytes;

/// One commit, with what its author wrote, as it is: any bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its name.
    pub id: ObjectId,
    /// What it continues; two or more for a merge, none for a beginning.
    pub parents: Vec<ObjectId>,
    /// Who wrote it.
    pub author: Person,
    /// Who made the commit.
    pub committer: Person,
    /// The whole message.
    pub message: RawBytes,
}

/// Somebody, by their own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Their name.
    pub name: RawBytes,
    /// Where to reach them.
    pub email: RawBytes,
    /// When they did it, in seconds since 1970, by their own clock.
    pub at_s: i64,
}

/// The commits of a range, as this git sees it, newest first.
pub(crate) fn commits(git: &Git, base: &ObjectId, tip: &ObjectId) -> Result<Vec<CommitInfo>, RepositoryError> {
    let ids = range(git, base, tip)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let printed = git.call(Call::new(["cat-file", "--batch"]).input(ids))?;
    let (mut found, mut rest) = (Vec::new(), printed.as_slice());
    while !rest.is_empty() {
        let (commit, after) = next(rest)?;
        found.push(commit);
        rest = after;
    }
    Ok(found)
}

/// The names of the commits of a range, one in each line.
pub(crate) fn range(git: &Git, base: &ObjectId, tip: &ObjectId) -> Result<Vec<u8>, RepositoryError> {
    if base == tip {
        return Ok(Vec::new());
    }
    Ok(git.run(["rev-list", "--topo-order", tip.as_str(), &format!("^{base}"), "--"])?)
}

/// The first of several objects, each with a line that says how long it is.
fn next(printed: &[u8]) -> Result<(CommitInfo, &[u8]), RepositoryError> {
    let damaged = || RepositoryError::Unknown(String::from_utf8_lossy(&printed[..printed.len().min(60)]).into_owned());
    let end = printed.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
    let header = std::str::from_utf8(&printed[..end]).map_err(|_| damaged())?;
    let mut words = header.split(' ');
    let (id, kind, size) = (words.next().unwrap_or_default(), words.next(), words.next());
    let size: usize = size.filter(|_| kind == Some("commit")).and_then(|size| size.parse().ok()).ok_or_else(damaged)?;
    let body = printed.get(end + 1..end + 1 + size).ok_or_else(damaged)?;
    let after = printed.get(end + 2 + size..).ok_or_else(damaged)?;
    Ok((commit(id.parse()?, body)?, after))
}

/// Headers, an empty line, the message.
fn commit(id: ObjectId, body: &[u8]) -> Result<CommitInfo, RepositoryError> {
    let mut commit =
        CommitInfo { id, parents: Vec::new(), author: nobody(), committer: nobody(), message: RawBytes::new([]) };
    let mut rest = body;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        match line.split_once_at(b' ') {
            _ if line.is_empty() => break,
            Some((b"parent", id)) => commit.parents.push(object(id)?),
            Some((b"author", who)) => commit.author = person(who),
            Some((b"committer", who)) => commit.committer = person(who),
            // Signatures and encodings say nothing about who or what.
            Some(_) | None => {}
        }
    }
    commit.message = RawBytes::new(rest);
    Ok(commit)
}

trait SplitOnce {
    fn split_once_at(&self, byte: u8) -> Option<(&[u8], &[u8])>;
}

impl SplitOnce for [u8] {
    fn split_once_at(&self, byte: u8) -> Option<(&[u8], &[u8])> {
        let at = self.iter().position(|&each| each == byte)?;
        Some((&self[..at], &self[at + 1..]))
    }
}

fn nobody() -> Person {
    Person { name: RawBytes::new([]), email: RawBytes::new([]), at_s: 0 }
}

/// `Name <email> seconds zone`; the last pair of brackets counts.
fn person(who: &[u8]) -> Person {
    let close = who.iter().rposition(|&byte| byte == b'>').unwrap_or(who.len());
    let open = who[..close].iter().rposition(|&byte| byte == b'<').unwrap_or(close);
    let time = String::from_utf8_lossy(who.get(close + 1..).unwrap_or_default()).into_owned();
    Person {
        name: RawBytes::new(who[..open].trim_ascii()),
        email: RawBytes::new(who.get(open + 1..close).unwrap_or_default()),
        at_s: time.split_whitespace().next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8]) -> CommitInfo {
        commit("a".repeat(40).parse().unwrap(), body).unwrap()
    }

    #[test]
    fn who_and_what_are_read_whatever_is_in_a_name() {
        let parent = "b".repeat(40);
        let body = format!(
            "tree {parent}\nparent {parent}\nauthor A\x1fB <a@b> <c@d> 17 +0200\ncommitter C <> 18 +0000\n\nfirst\n\nauthor no <n@n> 1 +0\n"
        );
        let commit = read(body.as_bytes());
        assert_eq!((commit.parents.len(), commit.author.at_s, commit.committer.at_s), (1, 17, 18));
        assert_eq!(commit.author.name.as_bytes(), b"A\x1fB <a@b>");
        assert_eq!(commit.author.email.as_bytes(), b"c@d");
        assert_eq!(commit.message.as_bytes(), b"first\n\nauthor no <n@n> 1 +0\n");
    }

    #[test]
    fn a_damaged_commit_is_read_as_far_as_it_goes() {
        for body in [&b""[..], b"author", b"author <", b"author > <", b"x\n\n", b"\n"] {
            assert_eq!(read(body).parents, []);
        }
    }
}
