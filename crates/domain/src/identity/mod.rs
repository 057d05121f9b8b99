//! Identities: who holds a credential, what it may be used for, and who stands behind it.
//!
//! Roles are kept apart by construction: an agent is only an agent and a worker only a worker, so that no credential inside
//! a cage could ever approve, execute or administer. Secrets are not here: an identity knows the digest of its token.

mod away;
mod decide;
mod declaration;
mod doors;
mod keys;
mod rights;
mod signed;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use away::{Away, AwayCommand, LONGEST_AWAY_MS};
pub use decide::{IdentityCommand, IdentityEvent, check_new_name, decide, evolve};
pub use declaration::{CageStanding, CageTier, Declaration};
pub use doors::{DoorCommand, Doors, Entrance, LONGEST_LINK_MS, LONGEST_VISIT_MS, Pass};
pub(crate) use keys::used;
pub use keys::{FRESH_VISIT_MS, has_come_in};
pub(crate) use rights::could_be;
pub use signed::is_guarded;

use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId};
use crate::refusal::Refusal;

macro_rules! roles {
    ($($variant:ident = $name:literal: $meaning:literal;)*) => {
        /// What an identity may do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Role {
            $(#[doc = $meaning] $variant,)*
        }

        impl Role {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

roles! {
    Agent = "agent": "Proposes actions in the runs it is assigned to. Nothing else.";
    Worker = "worker": "Leases permitted actions and executes them. Decides nothing.";
    Reviewer = "reviewer": "Decides what must be decided: plans, actions, results.";
    Operator = "operator": "Makes scopes and runs, starts, pauses and cancels them.";
    Admin = "admin": "Makes projects and identities.";
    Auditor = "auditor": "Reads everything, changes nothing.";
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which projects an identity sees. To everyone else they do not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    Everywhere,
    Only(BTreeSet<ProjectId>),
}

impl Reach {
    pub fn includes(&self, project: ProjectId) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Only(projects) => projects.contains(&project),
        }
    }

    /// Whether it sees nothing that the other does not see.
    pub fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Everywhere) => true,
            (Self::Everywhere, Self::Only(_)) => false,
            (Self::Only(projects), Self::Only(others)) => projects.is_subset(others),
        }
    }

    /// Whether there is a project that both see.
    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everywhere, _) | (_, Self::Everywhere) => true,
            (Self::Only(projects), Self::Only(others)) => !projects.is_disjoint(others),
        }
    }
}

/// Who stands behind an identity: its parent, that one's parent, and so on. Whoever made an agent or was made by it is no
/// independent judge of what it proposes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(BTreeSet<IdentityId>);

impl Lineage {
    /// The line of a child of `parent`.
    pub fn below(parent: &Identity) -> Self {
        let mut line = parent.lineage.0.clone();
        line.insert(parent.id);
        Self(line)
    }

    pub fn includes(&self, id: IdentityId) -> bool {
        self.0.contains(&id)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everybody in it. Ids are ordered by age, so the eldest comes first.
    pub fn iter(&self) -> impl Iterator<Item = IdentityId> {
        self.0.iter().copied()
    }

    /// Whether somebody is in both.
    fn meets(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }
}

/// One holder of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub id: IdentityId,
    pub name: String,
    pub roles: BTreeSet<Role>,
    pub reach: Reach,
    pub lineage: Lineage,
    /// The digest of the bearer token; the token itself was shown once and is stored nowhere.
    pub token: Digest,
    pub revoked: bool,
    /// How its person comes in by a browser. Boxed: most identities have none, and they are handed around.
    #[serde(default, skip_serializing_if = "Doors::is_closed")]
    pub doors: Box<Doors>,
    /// Who is told instead of them, while they are away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// What a worker said last of what it is. Its own claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declaration: Option<Box<Declaration>>,
}

impl Identity {
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether its holder lives in a cage: never a person.
    pub fn is_caged(&self) -> bool {
        self.has(Role::Agent) || self.has(Role::Worker)
    }

    /// Whether the two are the same, one stands behind the other, or somebody stands behind both: whoever does would
    /// decide on their own undertaking with another's hand.
    pub fn is_kin_of(&self, id: IdentityId, lineage: &Lineage) -> bool {
        self.id == id || lineage.includes(self.id) || self.lineage.includes(id) || self.lineage.meets(lineage)
    }
}

/// On whose behalf a command is given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every actor is somebody, and a command has one")]
pub enum Actor {
    /// Somebody who showed a valid credential.
    Identity(Identity),
    /// Placet itself: its clockwork (expiry) and the very first set-up on the machine it runs on.
    Runtime,
}

impl Actor {
    pub const fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Identity(identity) => Some(identity),
            Self::Runtime => None,
        }
    }

    /// Whether it is the runtime itself or has one of these roles; the first of them is told to whoever has none.
    pub(crate) fn needs(&self, any: &[Role]) -> Result<(), Refusal> {
        match self {
            Self::Runtime => Ok(()),
            Self::Identity(identity) if any.iter().any(|role| identity.has(*role)) => Ok(()),
            Self::Identity(_) => Err(Refusal::Role { needed: any.first().copied().unwrap_or(Role::Admin) }),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity(identity) => write!(f, "{}", identity.id),
            Self::Runtime => f.write_str("runtime"),
        }
    }
}
