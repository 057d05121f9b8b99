//! What was read from many files, by its id: what ships, and a team's own beside it.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::problem::{Problem, Problems};

/// More than anybody compares; a table of all of them is still read.
const MOST: usize = 100;

/// How one text is read: what it is called by, and what it says.
pub(crate) type Reader<I, T> = fn(&str, &str) -> Result<(I, T), Vec<Problem>>;

/// Things by their ids, each with the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shelf<I, T>(BTreeMap<I, Placed<T>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Placed<T> {
    thing: T,
    /// `None` for what ships.
    file: Option<String>,
}

impl<I: Ord + Clone + Display, T: Clone> Shelf<I, T> {
    /// What ships. It is part of the program: that it is well-formed is tested, not hoped for.
    pub(crate) fn shipped(files: &[(&str, &str)], reader: Reader<I, T>) -> Self {
        let place = |(file, text): &(&str, &str)| {
            let (id, thing) = reader(file, text).unwrap_or_else(|problems| panic!("{file} ships broken: {problems:?}"));
            (id, Placed { thing, file: None })
        };
        Self(files.iter().map(place).collect())
    }

    /// The same and these. Either all of them count or none.
    pub(crate) fn and<'t>(
        &self,
        own: impl IntoIterator<Item = (&'t str, &'t str)>,
        reader: Reader<I, T>,
    ) -> Result<Self, Problems> {
        let (mut shelf, mut problems) = (self.clone(), Vec::new());
        for (file, text) in own {
            match reader(file, text).and_then(|(id, thing)| shelf.put(id, thing, file, text).map_err(|no| vec![no])) {
                Ok(()) => {}
                Err(found) => problems.extend(found),
            }
        }
        Problems::check(problems)?;
        Ok(shelf)
    }

    fn put(&mut self, id: I, thing: T, file: &str, text: &str) -> Result<(), Problem> {
        let refused = |message: String, hint: &str| Err(Problem::at_key(file, text, "id", message, hint));
        match self.0.get(&id) {
            Some(Placed { file: Some(other), .. }) => {
                refused(format!("`{id}` is the id of {other} already"), "give every one an id of its own")
            }
            Some(Placed { file: None, .. }) => {
                refused(format!("`{id}` is the id of one that ships"), "take another; what ships cannot be replaced")
            }
            None if self.0.len() >= MOST => {
                refused(format!("there are more than {MOST}, with those that ship"), "remove those that nobody uses")
            }
            None => {
                self.0.insert(id, Placed { thing, file: Some(file.to_owned()) });
                Ok(())
            }
        }
    }

    pub(crate) fn get(&self, id: &I) -> Option<&T> {
        self.0.get(id).map(|placed| &placed.thing)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&I, &T)> {
        self.0.iter().map(|(id, placed)| (id, &placed.thing))
    }

    pub(crate) fn file_of(&self, id: &I) -> Option<&str> {
        self.0.get(id).and_then(|placed| placed.file.as_deref())
    }
}
