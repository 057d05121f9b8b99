//! Duties (RACI): for each operation, who is accountable, responsible, consulted and informed.
//!
//! Only accountable people decide. Responsible people may work and look, but not decide. Consulted people are notified when an operation
//! can be decided and may give advice, which the decision records; the decision does not wait for it. Informed people are notified by
//! name, in the record itself. An agent never has a duty.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::id::IdentityId;
use crate::identity::{Identity, Role};
use crate::refusal::Refusal;

/// Longer lists are a mailing list, which is one name.
const MOST_PEOPLE: usize = 100;

macro_rules! operations {
    ($($variant:ident = $name:literal: $meaning:literal;)*) => {
        /// What people have duties for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Operation {
            $(#[doc = $meaning] $variant,)*
        }

        impl Operation {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

operations! {
    Start = "start": "To give an agent a ticket and a worktree, and to take them away.";
    Execute = "execute": "To let it work in its cage.";
    ScopeCheck = "scope_check": "To judge what it changed.";
    Close = "close": "To say that it is done.";
    Merge = "merge": "To take its work over.";
}

/// Somebody by name or by the id of their identity, or everybody with a role (`@operator`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Person {
    Named(String),
    Is(IdentityId),
    With(Role),
}

impl Person {
    /// Whether somebody is meant, where it is known who there is: a name means somebody only if nobody else has it or had it, so that
    /// nobody comes by what is another's through being called the same.
    pub fn means(&self, identity: &Identity, everybody: &[Identity]) -> bool {
        match self {
            Self::Named(name) => {
                *name == identity.name && everybody.iter().filter(|other| other.name == *name).count() == 1
            }
            Self::Is(_) | Self::With(_) => self.is(identity),
        }
    }

    fn is(&self, identity: &Identity) -> bool {
        match self {
            Self::Named(name) => *name == identity.name,
            Self::Is(id) => *id == identity.id,
            Self::With(role) => identity.has(*role),
        }
    }
}

impl TryFrom<String> for Person {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let Some(role) = text.strip_prefix('@') else {
            if let Ok(id) = text.parse() {
                return Ok(Self::Is(id));
            }
            let plain = !text.is_empty() && text.len() <= 80 && !text.chars().any(|c| c.is_control() || c == '@');
            return if plain { Ok(Self::Named(text)) } else { Err(format!("`{text}` is no name of an identity")) };
        };
        let people = [Role::Reviewer, Role::Operator, Role::Admin, Role::Auditor];
        let found = people.into_iter().find(|known| known.as_str() == role);
        found
            .map(Self::With)
            .ok_or_else(|| format!("`@{role}` is no role of people: reviewer, operator, admin, auditor"))
    }
}

impl From<Person> for String {
    fn from(person: Person) -> Self {
        person.to_string()
    }
}

impl std::fmt::Display for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Is(id) => write!(f, "{id}"),
            Self::With(role) => write!(f, "@{role}"),
        }
    }
}

/// Who has which part in one operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duty {
    pub accountable: BTreeSet<Person>,
    #[serde(default)]
    pub responsible: BTreeSet<Person>,
    #[serde(default)]
    pub consulted: BTreeSet<Person>,
    #[serde(default)]
    pub informed: BTreeSet<Person>,
}

impl Duty {
    fn of(role: Role) -> Self {
        Self { accountable: [Person::With(role)].into(), ..Self::default() }
    }
}

/// Who has which part in what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duties {
    pub start: Duty,
    pub execute: Duty,
    pub scope_check: Duty,
    pub close: Duty,
    pub merge: Duty,
}

impl Default for Duties {
    /// Operators start and close; who takes work over is a reviewer.
    fn default() -> Self {
        let operators = || Duty::of(Role::Operator);
        let (start, execute, scope_check, close) = (operators(), operators(), operators(), operators());
        Self { start, execute, scope_check, close, merge: Duty::of(Role::Reviewer) }
    }
}

impl Duties {
    /// Whether nobody has assigned them otherwise.
    pub fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    pub const fn of(&self, operation: Operation) -> &Duty {
        match operation {
            Operation::Start => &self.start,
            Operation::Execute => &self.execute,
            Operation::ScopeCheck => &self.scope_check,
            Operation::Close => &self.close,
            Operation::Merge => &self.merge,
        }
    }

    /// Every operation needs somebody who answers for it.
    pub fn check(&self) -> Result<(), Refusal> {
        for operation in Operation::ALL {
            let duty = self.of(*operation);
            if duty.accountable.is_empty() {
                let why = format!("nobody is accountable for `{}`; name at least one person", operation.as_str());
                return Err(Refusal::Invalid { why });
            }
            let most = [&duty.accountable, &duty.responsible, &duty.consulted, &duty.informed];
            if most.iter().any(|people| people.len() > MOST_PEOPLE) {
                return Err(Refusal::invalid("a duty is for at most 100 people; name a role instead"));
            }
        }
        Ok(())
    }

    /// Whether somebody may decide an operation.
    pub fn may_decide(&self, operation: Operation, identity: &Identity) -> Result<(), Refusal> {
        let accountable = &self.of(operation).accountable;
        if is_person(identity) && accountable.iter().any(|person| person.is(identity)) {
            return Ok(());
        }
        Err(Refusal::Duty { operation: operation.as_str(), accountable: listed(accountable) })
    }

    /// Returns the entries that make this person consulted on an operation, or refuses if none does.
    pub fn consulted_as(&self, operation: Operation, identity: &Identity) -> Result<Vec<Person>, Refusal> {
        let consulted = &self.of(operation).consulted;
        let entries: Vec<Person> = consulted.iter().filter(|person| person.is(identity)).cloned().collect();
        if is_person(identity) && !entries.is_empty() {
            return Ok(entries);
        }
        Err(Refusal::Duty { operation: operation.as_str(), accountable: listed(consulted) })
    }

    /// Whether somebody may do what an operation consists of, without deciding anything.
    pub fn may_do(&self, operation: Operation, identity: &Identity) -> Result<(), Refusal> {
        let duty = self.of(operation);
        let mut people = duty.accountable.iter().chain(&duty.responsible);
        if is_person(identity) && people.any(|person| person.is(identity)) {
            return Ok(());
        }
        let people = duty.accountable.union(&duty.responsible).cloned().collect();
        Err(Refusal::Duty { operation: operation.as_str(), accountable: listed(&people) })
    }
}

fn is_person(identity: &Identity) -> bool {
    !identity.has(Role::Agent) && !identity.has(Role::Worker)
}

fn listed(people: &BTreeSet<Person>) -> String {
    people.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
