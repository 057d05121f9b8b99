//! All profiles that can be named: those that ship, and a team's own. Pure: names and texts in, profiles out.
//!
//! Either every text is a profile or none counts: a cage that is missing because of a typo elsewhere would be noticed
//! only when somebody needs it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::error::{Fault, ProfileError};
use super::file::File;
use super::{Profile, builtin, extend};

/// Profiles by name.
#[derive(Clone, Debug)]
pub struct Profiles(BTreeMap<String, Profile>);

static SHIPPED: LazyLock<Profiles> = LazyLock::new(|| {
    let mut shipped = BTreeMap::new();
    for (name, text) in builtin::SHIPPED {
        let profile = shipped_profile(name, text, &shipped);
        let profile = profile.unwrap_or_else(|error| panic!("the profile `{name}` that ships: {error}"));
        shipped.insert((*name).to_owned(), Profile { changes: Vec::new(), ..profile });
    }
    Profiles(shipped)
});

fn shipped_profile(name: &str, text: &str, known: &BTreeMap<String, Profile>) -> Result<Profile, ProfileError> {
    let faulty = |fault: Fault| fault.of(name, text);
    let file = File::parse(text).map_err(faulty)?;
    match &file.extends {
        Some(parent) => {
            let parent = known.get(parent.get_ref()).ok_or_else(|| Fault::at(parent.span(), "it comes later"));
            parent.and_then(|parent| extend::extend(parent, name, &file)).map_err(faulty)
        }
        None => {
            let base = extend::extend(&builtin::base(), name, &file).map_err(faulty)?;
            Ok(Profile { lineage: Vec::new(), ..base })
        }
    }
}

impl Default for Profiles {
    /// Those that ship.
    fn default() -> Self {
        SHIPPED.clone()
    }
}

impl Profiles {
    pub(super) fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Those that ship and these: pairs of name and text. All that is wrong is told at once.
    pub fn with<'a>(own: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Vec<ProfileError>> {
        let mut reading = Reading { known: Self::default(), texts: BTreeMap::new(), errors: Vec::new() };
        for (name, text) in own {
            reading.open(name, text);
        }
        while reading.take_one() {}
        reading.end()
    }

    /// The profile of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.0.get(name)
    }

    /// Every one, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.0.values()
    }

    /// Every name, for a sentence.
    #[must_use]
    pub fn listed(&self) -> String {
        self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

struct Reading<'a> {
    known: Profiles,
    /// Not yet extended, because their parents may come later.
    texts: BTreeMap<&'a str, (&'a str, File)>,
    errors: Vec<ProfileError>,
}

impl<'a> Reading<'a> {
    fn open(&mut self, name: &'a str, text: &'a str) {
        match File::parse(text).and_then(|file| admissible(name).map(|()| file)) {
            Ok(file) => drop(self.texts.insert(name, (text, file))),
            Err(fault) => self.errors.push(fault.of(name, text)),
        }
    }

    /// Extends one profile whose parent is known; `false` when there is none left.
    fn take_one(&mut self) -> bool {
        let ready = |file: &File| file.extends.as_ref().and_then(|parent| self.known.get(parent.get_ref())).cloned();
        let next = self.texts.iter().find_map(|(name, (_, file))| ready(file).map(|parent| (*name, parent)));
        let Some((name, parent)) = next else { return false };
        if let Some((text, file)) = self.texts.remove(name) {
            match extend::extend(&parent, name, &file) {
                Ok(profile) => drop(self.known.0.insert(name.to_owned(), profile)),
                Err(fault) => self.errors.push(fault.of(name, text)),
            }
        }
        true
    }

    fn end(mut self) -> Result<Profiles, Vec<ProfileError>> {
        let broken: Vec<String> = self.errors.iter().map(|error| error.profile.clone()).collect();
        let left = self.texts.iter().filter(|(_, (_, file))| !file.extends_any(&broken));
        let orphans: Vec<_> = left.map(|(name, (text, file))| self.orphan(file).of(name, text)).collect();
        self.errors.extend(orphans);
        if self.errors.is_empty() { Ok(self.known) } else { Err(self.errors) }
    }

    fn orphan(&self, file: &File) -> Fault {
        let listed = self.known.listed();
        match &file.extends {
            None => Fault::at(0..0, "it does not say which profile it extends")
                .hint(format!("add `extends = \"default\"`, or another of {listed}")),
            Some(parent) if self.texts.contains_key(parent.get_ref().as_str()) => {
                Fault::at(parent.span(), format!("it extends `{parent}`, which in the end extends itself"))
                    .hint(format!("let one of them extend one of {listed}"))
            }
            Some(parent) => Fault::at(parent.span(), format!("there is no profile `{parent}` to extend"))
                .hint(format!("extend one of {listed}")),
        }
    }
}

impl File {
    /// Whether its parent is one of these, so that the fault is its parent's.
    fn extends_any(&self, names: &[String]) -> bool {
        self.extends.as_ref().is_some_and(|parent| names.contains(parent.get_ref()))
    }
}

/// Lowercase, short, usable as a file name and in tools; and not one that ships, which would silently change what all
/// tools without a profile run in.
fn admissible(name: &str) -> Result<(), Fault> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    let starts_well = name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    if !starts_well || name.len() > 64 || !name.bytes().all(plain) {
        return Err(Fault::at(0..0, format!("`{}` is no name of a profile", name.escape_debug()))
            .hint("use 1 to 64 lowercase letters, digits, `_` and `-`, and start with a letter"));
    }
    if Profile::NAMES.contains(&name) {
        return Err(Fault::at(0..0, format!("`{name}` ships and cannot be replaced"))
            .hint("give the file another name and let it extend this one"));
    }
    Ok(())
}
