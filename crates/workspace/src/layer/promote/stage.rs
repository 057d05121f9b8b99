//! Prepares a promotion: copies of everything new, beside their targets, flushed; and the list of steps.
//!
//! What is staged is hashed after it was copied, and only if it is what the preview showed are there any steps.

use std::io::Seek;

use rustix::fs::Mode;

use super::journal::{Act, Step};
use crate::copy::{Owner, copy_content};
use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::Layered;
use crate::layer::baseline::Told;
use crate::layer::changes::{Change, Conflict};
use crate::layer::node::Node;
use crate::layer::preview::Compared;
use crate::path::TreePath;

/// What the owner of a directory needs to fill and to move it.
const OWNER_ALL: u32 = 0o700;

/// Makes the staging directory, fills it, and says what to do with it.
pub(super) fn stage(layered: &Layered, compared: &Compared, name: &[u8]) -> Result<(Dir, Vec<Step>), LayerError> {
    let staging = layered.lower.make(name).doing("make a staging directory in", layered.lower_path.display())?;
    let owner = Owner::of(&layered.lower.own_stat().doing("look at", layered.lower_path.display())?);
    let staged = Staging { staging: &staging, upper: layered.upper()?, owner, compared };
    let steps = staged.steps()?;
    rustix::fs::syncfs(&staging).doing("flush", layered.lower_path.display())?;
    Ok((staging, steps))
}

struct Staging<'a> {
    staging: &'a Dir,
    upper: Dir,
    owner: Owner,
    compared: &'a Compared,
}

impl Staging<'_> {
    /// What goes is taken away from the inside out, what comes is put in place from the outside in, and directories are
    /// closed, from the inside out, when everything is in them.
    fn steps(&self) -> Result<Vec<Step>, LayerError> {
        let (mut takes, mut puts, mut modes) = (Vec::new(), Vec::new(), Vec::new());
        for (number, change) in self.compared.changes.iter().enumerate() {
            let held = number.to_string();
            match (change.before(), change.after()) {
                (Some(Node::Directory { mode: old }), Some(Node::Directory { mode: new })) => {
                    modes.push(step(change, held, Act::Mode { old: *old, new: *new }));
                }
                (Some(_), None) => takes.push(step(change, held, Act::Take { old: self.told(change)? })),
                (old, Some(new)) => {
                    let made = self.make(&held, change.path(), new)?;
                    let act = match old {
                        Some(_) => Act::Exchange { old: self.told(change)?, new: made },
                        None => Act::Put { new: made },
                    };
                    puts.push(step(change, held.clone(), act));
                    modes.extend(closed_later(change, held, new));
                }
                (None, None) => {}
            }
        }
        takes.reverse();
        modes.reverse();
        Ok(takes.into_iter().chain(puts).chain(modes).collect())
    }

    fn told(&self, change: &Change) -> Result<Told, LayerError> {
        self.compared.told.get(change.path()).cloned().ok_or_else(|| LayerError::Moving(change.path().clone()))
    }

    fn make(&self, held: &str, path: &TreePath, node: &Node) -> Result<Told, LayerError> {
        let name = held.as_bytes();
        match node {
            Node::File { mode, digest, .. } => self.make_file(name, path, *mode, *digest)?,
            Node::Directory { mode } => {
                self.staging.make(name).doing("stage", path)?;
                self.owner.give(self.staging, name).doing("give to its owner", path)?;
                self.staging.set_mode_of(name, mode | OWNER_ALL).doing("set the mode of", path)?;
            }
            Node::Symlink { target } => {
                rustix::fs::symlinkat(target.as_bytes(), self.staging, name).doing("stage", path)?;
                self.owner.give(self.staging, name).doing("give to its owner", path)?;
            }
            Node::Special { what } => {
                return Err(LayerError::Conflicts(vec![(path.clone(), Conflict::Special(*what))]));
            }
        }
        self.staging.stat(name).map(|stat| Told::new(&stat)).doing("look at", path)
    }

    fn make_file(&self, name: &[u8], path: &TreePath, mode: u32, digest: Digest) -> Result<(), LayerError> {
        let parent = self.upper.parent_of(path).doing("open the directory of", path)?;
        let (mut source, _) = parent.file(path.name()).doing("open", path)?;
        let mut copy = self.staging.create(name).doing("stage", path)?;
        copy_content(&mut source, &mut copy).doing("copy", path)?;
        copy.rewind().doing("read", path)?;
        if Digest::of_reader(&copy).doing("read", path)?.0 != digest {
            return Err(LayerError::Outdated(vec![path.clone()]));
        }
        self.owner.give(self.staging, name).doing("give to its owner", path)?;
        rustix::fs::fchmod(&copy, Mode::from_raw_mode(mode)).doing("set the mode of", path)
    }
}

/// A new directory that its owner may not write to gets that mode when everything is in it.
fn closed_later(change: &Change, held: String, new: &Node) -> Option<Step> {
    match new {
        Node::Directory { mode } if mode & OWNER_ALL != OWNER_ALL => {
            Some(step(change, held, Act::Mode { old: mode | OWNER_ALL, new: *mode }))
        }
        Node::Directory { .. } | Node::File { .. } | Node::Symlink { .. } | Node::Special { .. } => None,
    }
}

fn step(change: &Change, held: String, act: Act) -> Step {
    Step { path: change.path().clone(), held, act }
}
