//! Steps for whichever helper takes them: a plan is made before its helper has a number, and a root caller's cage has the
//! user of that number. The helper puts itself in before it takes a step.

use super::{Detach, DetachUpper, Ownership, Step};
use crate::request::HostUser;

impl Step {
    /// The same step with the user of this helper wherever one is stood in for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others name no user of the host")]
    pub(crate) fn assigned_to(self, helper: HostUser) -> Self {
        match self {
            Self::OwnStdio { user } => Self::OwnStdio { user: user.or_of(helper) },
            Self::DropUser { user } => Self::DropUser { user: user.or_of(helper) },
            Self::MapUser { inside, outside } => Self::MapUser { inside, outside: outside.or_of(helper) },
            Self::Detach(detach) => Self::Detach(Detach { ownership: detach.ownership.assigned_to(helper), ..detach }),
            Self::DetachUpper(detach) => {
                Self::DetachUpper(DetachUpper { ownership: detach.ownership.assigned_to(helper), ..detach })
            }
            other => other,
        }
    }
}

impl Ownership {
    /// Files that are the helper's user's already stay as they are.
    fn assigned_to(self, helper: HostUser) -> Self {
        match self {
            Self::Mapped { disk, cage } | Self::MappedOnly { disk, cage } if disk == cage.or_of(helper) => Self::Kept,
            Self::Mapped { disk, cage } => Self::Mapped { disk, cage: cage.or_of(helper) },
            Self::MappedOnly { disk, cage } => Self::MappedOnly { disk, cage: cage.or_of(helper) },
            Self::Given { cage } => Self::Given { cage: cage.or_of(helper) },
            Self::Kept => Self::Kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Identity;

    const HELPER: HostUser = HostUser { uid: 7, gid: 7 };
    const OTHER: HostUser = HostUser { uid: 8, gid: 8 };

    fn detach(ownership: Ownership) -> Step {
        let identity = Identity { device: 1, inode: 2 };
        Step::Detach(Detach { host: "/srv".into(), identity, at: "/work".into(), flags: Vec::new(), ownership })
    }

    #[test]
    fn a_user_that_is_stood_in_for_is_the_helpers_and_any_other_stays() {
        for (planned, expected) in [(HostUser::OF_HELPER, HELPER), (OTHER, OTHER)] {
            let drop = Step::DropUser { user: planned }.assigned_to(HELPER);
            assert_eq!(drop, Step::DropUser { user: expected });
            let map = Step::MapUser { inside: OTHER, outside: planned }.assigned_to(HELPER);
            assert_eq!(map, Step::MapUser { inside: OTHER, outside: expected });
            let own = Step::OwnStdio { user: planned }.assigned_to(HELPER);
            assert_eq!(own, Step::OwnStdio { user: expected });
            let disk = HostUser { uid: 0, gid: 0 };
            let mapped = detach(Ownership::Mapped { disk, cage: planned }).assigned_to(HELPER);
            assert_eq!(mapped, detach(Ownership::Mapped { disk, cage: expected }));
            let given = detach(Ownership::Given { cage: planned }).assigned_to(HELPER);
            assert_eq!(given, detach(Ownership::Given { cage: expected }));
        }
    }

    #[test]
    fn files_of_the_helpers_user_are_mapped_to_nobody() {
        let cage = HostUser::OF_HELPER;
        for ownership in [Ownership::Mapped { disk: HELPER, cage }, Ownership::MappedOnly { disk: HELPER, cage }] {
            assert_eq!(detach(ownership).assigned_to(HELPER), detach(Ownership::Kept));
        }
    }
}
