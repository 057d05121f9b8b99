//! Every line that was added since the base, one after the other, in bounded memory: of each commit, of the index, of
//! tracked files, and of those that git does not track.
//!
//! Nothing is left out as binary: a secret in a binary file is a secret. A file that was only renamed adds no line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};

use super::layered::{self, Scratch};
use super::patch::{Patch, read_line};
use super::plain::{self, Unveiled};
use super::{DifferenceError, Differences, Entry, Origin};
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::git::{Call, Git, ObjectId, Stream};
use crate::path::TreePath;
use crate::worktree::{Kind, Worktree};

/// A line longer than this comes in pieces, each with the same number.
pub const MOST_LINE_BYTES: usize = super::patch::MOST_LINE_BYTES;

/// A file that git does not track is read up to this size; a larger one is an error, not a gap.
const MOST_FILE_BYTES: u64 = 2 << 30;

/// Reading all patches of a long branch takes long on a busy machine.
const PATCHES_MS: u64 = 30 * 60 * 1000;

const CHUNK_BYTES: usize = 1 << 16;

/// How git prints patches: no context, nothing taken for binary, one spelling of names.
const HOW: &[&str] = &[
    "-p",
    "-U0",
    "--text",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-M100%",
    "--no-indent-heuristic",
    "--submodule=short",
];

/// One line that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedLine {
    /// In which file.
    pub path: TreePath,
    /// Where in it, from 1.
    pub line: u64,
    /// The bytes of the line, without its end.
    pub text: Vec<u8>,
    /// Where it is kept.
    pub origin: Origin,
    /// In which commit.
    pub commit: Option<ObjectId>,
}

/// Every line that was added. After an error there are no more.
#[derive(Debug)]
pub struct AddedLines {
    waiting: VecDeque<Source>,
    open: Option<Open>,
    upper: Dir,
    line: Vec<u8>,
    _held: Held,
}

/// An index that git needs while it prints.
#[derive(Debug)]
#[expect(dead_code, reason = "they are removed when they go")]
enum Held {
    Unveiled(Unveiled),
    Scratch(Option<Scratch>),
}

#[derive(Debug)]
enum Source {
    Patches(Box<Git>, Vec<String>, String, Origin),
    File(TreePath, Origin),
}

#[derive(Debug)]
enum Open {
    Patches(BufReader<Stream>, Patch, Origin),
    File(BufReader<std::io::Take<File>>, TreePath, u64, Origin),
}

impl Worktree {
    /// Every line that was added, by the differences that were found.
    pub fn added_lines(&self, differences: &Differences) -> Result<AddedLines, DifferenceError> {
        let root = match self.kind() {
            Kind::Plain => self.path(),
            Kind::Layered => self.cage().upper,
        };
        let mut waiting = VecDeque::new();
        let git = self.repository().git().timeout_ms(PATCHES_MS);
        waiting.extend(commits(&git, differences));
        let held = self.tracked(differences, &mut waiting)?;
        let others = differences.iter().filter(|each| matches!(each.origin, Origin::Untracked | Origin::Ignored));
        let files = others.filter(|each| matches!(each.new, Some(Entry::File | Entry::Program)));
        waiting.extend(files.map(|each| Source::File(each.path.clone(), each.origin)));
        let upper = Dir::open(&root).doing("open", root.display())?;
        Ok(AddedLines { waiting, open: None, upper, line: Vec::new(), _held: held })
    }

    fn tracked(&self, differences: &Differences, waiting: &mut VecDeque<Source>) -> Result<Held, DifferenceError> {
        let of = |origin| differences.iter().filter(move |each| each.origin == origin);
        match self.kind() {
            Kind::Plain => {
                let (git, unveiled) = plain::unveiled(self)?;
                let git = git.timeout_ms(PATCHES_MS);
                if of(Origin::Staged).next().is_some() {
                    waiting.push_back(patches(&git, &["diff-index", "--cached", "HEAD"], Origin::Staged));
                }
                if of(Origin::Unstaged).next().is_some() {
                    waiting.push_back(patches(&git, &["diff-files", "--ignore-submodules=all"], Origin::Unstaged));
                }
                Ok(Held::Unveiled(unveiled))
            }
            Kind::Layered => {
                let in_upper = of(Origin::Unstaged).filter(|each| each.old.is_some() && each.new.is_some());
                let paths: Vec<&TreePath> = in_upper.map(|each| &each.path).collect();
                if paths.is_empty() {
                    return Ok(Held::Scratch(None));
                }
                let (git, scratch) = layered::narrow(self, differences.tip(), &paths)?;
                waiting.push_back(patches(&git.timeout_ms(PATCHES_MS), &["diff-files"], Origin::Unstaged));
                Ok(Held::Scratch(Some(scratch)))
            }
        }
    }
}

fn patches(git: &Git, command: &[&str], origin: Origin) -> Source {
    let arguments = command[..1].iter().chain(HOW).chain(&command[1..]).map(|word| (*word).to_owned());
    Source::Patches(Box::new(git.clone()), arguments.collect(), String::new(), origin)
}

/// The patch of each commit, and where the branch does not continue its base, the whole difference, too.
fn commits(git: &Git, differences: &Differences) -> Vec<Source> {
    let Differences { base, tip, commits, list } = differences;
    let mut sources = Vec::new();
    if !commits.is_empty() {
        let ids = commits.iter().map(|commit| format!("{}\n", commit.id)).collect();
        let Source::Patches(git, arguments, _, origin) =
            patches(git, &["diff-tree", "-r", "--stdin", "--root", "-c"], Origin::Committed)
        else {
            return sources;
        };
        sources.push(Source::Patches(git, arguments, ids, origin));
    }
    if list.iter().any(|each| each.origin == Origin::Committed && each.commit.is_none()) {
        sources.push(patches(git, &["diff-tree", "-r", base.as_str(), tip.as_str()], Origin::Committed));
    }
    sources
}

impl Iterator for AddedLines {
    type Item = Result<AddedLine, DifferenceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.open.is_none() {
                let source = self.waiting.pop_front()?;
                match self.start(source) {
                    Ok(open) => self.open = open,
                    Err(error) => return self.end(error),
                }
                continue;
            }
            match self.step() {
                Ok(Some(line)) => return Some(Ok(line)),
                Ok(None) => {}
                Err(error) => return self.end(error),
            }
        }
    }
}

impl AddedLines {
    fn end(&mut self, error: DifferenceError) -> Option<Result<AddedLine, DifferenceError>> {
        self.waiting.clear();
        self.open = None;
        Some(Err(error))
    }

    fn start(&self, source: Source) -> Result<Option<Open>, DifferenceError> {
        match source {
            Source::Patches(git, arguments, input, origin) => {
                let stream = git.stream(Call::new(arguments).input(input))?;
                Ok(Some(Open::Patches(BufReader::with_capacity(CHUNK_BYTES, stream), Patch::default(), origin)))
            }
            Source::File(path, origin) => {
                let opened = self.upper.parent_of(&path).and_then(|parent| parent.file(path.name()));
                let (file, stat) = opened.doing("open", &path)?;
                if u64::try_from(stat.st_size).unwrap_or_default() > MOST_FILE_BYTES {
                    let what = "bytes in a file that git does not track";
                    return Err(LayerError::TooLarge { what, limit: MOST_FILE_BYTES }.into());
                }
                let reader = BufReader::with_capacity(CHUNK_BYTES, file.take(MOST_FILE_BYTES));
                Ok(Some(Open::File(reader, path, 1, origin)))
            }
        }
    }

    /// Reads one line; what it adds, if it adds anything.
    fn step(&mut self) -> Result<Option<AddedLine>, DifferenceError> {
        let read = match &mut self.open {
            Some(Open::Patches(reader, patch, origin)) => {
                let read = read_line(reader, &mut self.line).map_err(|error| reader.get_ref().explain(error))?;
                let Some(is_ended) = read else { return self.finish() };
                patch.take(&self.line, is_ended)?.map(|added| AddedLine {
                    path: added.path,
                    line: added.line,
                    text: added.text,
                    origin: *origin,
                    commit: added.commit,
                })
            }
            Some(Open::File(reader, path, number, origin)) => {
                let read = read_line(reader, &mut self.line).doing("read", &*path)?;
                let Some(is_ended) = read else { return self.finish() };
                let (line, text) = (*number, self.line.clone());
                *number += u64::from(is_ended);
                Some(AddedLine { path: path.clone(), line, text, origin: *origin, commit: None })
            }
            None => None,
        };
        Ok(read)
    }

    fn finish(&mut self) -> Result<Option<AddedLine>, DifferenceError> {
        if let Some(Open::Patches(reader, ..)) = self.open.take() {
            reader.into_inner().finish()?;
        }
        Ok(None)
    }
}
