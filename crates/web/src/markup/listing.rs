//! Which part of the inbox is listed, and the address of it: whoever decides, pages on or comes back is where they were.

use std::fmt::Write as _;

use placet_domain::id::{ActionId, ProjectId};

/// Which part is listed, only what of it, and from where on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) part: Part,
    /// Only actions of this tier.
    pub(crate) tier: Option<String>,
    pub(crate) project: Option<ProjectId>,
    pub(crate) from: Option<From>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// The viewer; what else waits is listed after it.
    #[default]
    Mine,
    /// The viewer, because somebody named them.
    Named,
    /// Others than the viewer.
    Others,
    /// The viewer, who set it aside.
    Aside,
    /// Somebody who says what becomes of it.
    Interrupted,
}

impl Part {
    pub(crate) const ALL: &[Self] = &[Self::Mine, Self::Named, Self::Others, Self::Aside, Self::Interrupted];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Named => "named",
            Self::Others => "others",
            Self::Aside => "aside",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|part| part.as_str() == word)
    }
}

/// A place in the queue, as the store names it, and on which side of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    After(String),
    Before(String),
}

impl Listing {
    pub(crate) fn after(&self, spot: &str) -> Self {
        Self { from: Some(From::After(spot.to_owned())), ..self.clone() }
    }

    pub(crate) fn before(&self, spot: &str) -> Self {
        Self { from: Some(From::Before(spot.to_owned())), ..self.clone() }
    }

    /// Whether both list the same, wherever they begin.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Self { from: None, ..self.clone() } == Self { from: None, ..other.clone() }
    }

    /// Everything that the address says of it.
    pub(crate) fn query(&self) -> String {
        let mut query = String::new();
        let mut say = |name: &str, value: &str| {
            let joined = if query.is_empty() { "" } else { "&" };
            let _ = write!(query, "{joined}{name}={value}");
        };
        if self.part != Part::Mine {
            say("part", self.part.as_str());
        }
        if let Some(tier) = &self.tier {
            say("tier", tier);
        }
        if let Some(project) = self.project {
            say("project", &project.to_string());
        }
        match &self.from {
            Some(From::After(spot)) => say("after", spot),
            Some(From::Before(spot)) => say("before", spot),
            None => {}
        }
        query
    }

    /// The same, with this looked at.
    pub(crate) fn query_at(&self, action: ActionId) -> String {
        let query = self.query();
        let joined = if query.is_empty() { "" } else { "&" };
        format!("{query}{joined}action={action}")
    }

    pub(crate) fn link(&self) -> String {
        let query = self.query();
        if query.is_empty() { "/".to_owned() } else { format!("/?{query}") }
    }

    pub(crate) fn link_at(&self, action: ActionId) -> String {
        format!("/?{}", self.query_at(action))
    }
}
