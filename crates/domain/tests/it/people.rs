//! The people and programs of the test world, each registered through the one door.
//!
//! The line of descent is grandparent, parent, agent, child: the first two are people, the agent proposes, and the child is a
//! reviewer that the agent brought into the world. The door refuses to register such a one; an older ledger might still name
//! one, and whoever comes from there must not be listened to either.

use std::collections::BTreeSet;

use placet_domain::command::{About, Command};
use placet_domain::decide::Loaded;
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, IdentityCommand, IdentityEvent, Lineage, Reach, Role};
use placet_domain::record::{Event, Record};
use uuid::Uuid;

use crate::scenario::{World, project_id};

macro_rules! people {
    ($($variant:ident = $name:literal, $roles:expr, $parent:expr;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Who { Runtime, $($variant),* }

        impl Who {
            pub(crate) const ALL: &[Self] = &[Self::Runtime, $(Self::$variant),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { Self::Runtime => "the clockwork", $(Self::$variant => $name,)* }
            }

            fn roles(self) -> &'static [Role] {
                match self { Self::Runtime => &[], $(Self::$variant => $roles,)* }
            }

            const fn parent(self) -> Option<Self> {
                match self { Self::Runtime => None, $(Self::$variant => $parent,)* }
            }
        }
    };
}

// Parents come before their children, because that is the order in which they are registered.
people! {
    Grandparent = "the agent's grandparent", &[Role::Reviewer], None;
    Parent = "the agent's parent", &[Role::Reviewer, Role::Operator], Some(Self::Grandparent);
    Agent = "its agent", &[Role::Agent], Some(Self::Parent);
    Child = "the agent's child", &[Role::Reviewer], Some(Self::Agent);
    ChildAgent = "the agent's child agent", &[Role::Agent], Some(Self::Agent);
    OtherAgent = "another agent", &[Role::Agent], None;
    Creator = "the run's creator", &[Role::Operator, Role::Reviewer], None;
    Worker = "a worker", &[Role::Worker], None;
    OtherWorker = "another worker", &[Role::Worker], None;
    Reviewer = "a reviewer", &[Role::Reviewer], None;
    SecondReviewer = "a second reviewer", &[Role::Reviewer], None;
    Operator = "an operator", &[Role::Operator], None;
    Admin = "an admin", &[Role::Admin], None;
    Auditor = "an auditor", &[Role::Auditor], None;
    Stranger = "all roles elsewhere", &[Role::Reviewer, Role::Operator, Role::Admin], None;
}

impl Who {
    pub(crate) fn id(self) -> Option<IdentityId> {
        let number = Self::ALL.iter().position(|who| *who == self).unwrap_or_default();
        let number = u128::try_from(number).expect("a small number");
        (self != Self::Runtime).then(|| IdentityId::from_uuid(Uuid::from_u128(number)))
    }

    pub(crate) fn from_id(id: IdentityId) -> Option<Self> {
        Self::ALL.iter().copied().find(|who| who.id() == Some(id))
    }

    pub(crate) fn reviews(self) -> bool {
        self.roles().contains(&Role::Reviewer)
    }

    fn reach(self) -> Reach {
        if self == Self::Stranger { Reach::Only([project_id(2)].into()) } else { Reach::Everywhere }
    }
}

pub(crate) fn register_all(world: &mut World) {
    for who in Who::ALL.iter().copied().filter(|who| *who != Who::Runtime) {
        let roles: BTreeSet<Role> = who.roles().iter().copied().collect();
        let parent = who.parent().and_then(Who::id).map(|id| world.identities[&id].clone());
        if who == Who::Child {
            from_an_older_ledger(world, who, roles, &parent.expect("the agent"));
            continue;
        }
        let token = Digest::of(who.name().as_bytes());
        let register = IdentityCommand::Register {
            name: who.name().to_owned(),
            roles,
            reach: who.reach(),
            parent: parent.map(Box::new),
            token,
        };
        let id = who.id().expect("not the clockwork");
        world.submit(Who::Runtime, Command::Identity { id, command: register }).expect("a new identity");
    }
}

fn from_an_older_ledger(world: &mut World, who: Who, roles: BTreeSet<Role>, parent: &Identity) {
    let (name, token) = (who.name().to_owned(), Digest::of(who.name().as_bytes()));
    let registered =
        IdentityEvent::Registered { name, roles, reach: who.reach(), lineage: Lineage::below(parent), token };
    let event = Event::Identity(who.id().expect("not the clockwork"), registered);
    let mut loaded = Loaded::default();
    loaded.apply(&Record { about: About::default(), event }, world.now);
    world.keep(loaded);
}
