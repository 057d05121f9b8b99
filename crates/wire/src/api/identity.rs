//! Identities and their tokens.

use std::collections::BTreeSet;

use placet_domain::id::{IdentityId, ProjectId};
use placet_domain::identity::{Declaration, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewIdentity {
    pub name: String,
    /// `agent`, `worker`, `reviewer`, `operator`, `admin`, `auditor`; the first two stand alone.
    #[schema(value_type = Vec<String>)]
    pub roles: BTreeSet<Role>,
    /// The projects it sees; all of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub projects: Option<BTreeSet<ProjectId>>,
    /// Who stands behind it: a parent agent or the person who owns it. Neither can approve what it proposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent: Option<IdentityId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct IdentityView {
    #[schema(value_type = String)]
    pub id: IdentityId,
    pub name: String,
    #[schema(value_type = Vec<String>)]
    pub roles: BTreeSet<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub projects: Option<BTreeSet<ProjectId>>,
    pub revoked: bool,
    /// Who is told instead, while this person is away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<AwayView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct IdentityList {
    pub identities: Vec<IdentityView>,
}

/// A token, shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct TokenOnce {
    pub identity: IdentityView,
    pub token: String,
}

/// Asks for a link that lets a person in.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {}

/// A link that lets a person in once, by a browser. It is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct LinkOnce {
    pub identity: IdentityView,
    /// Below the address of the control plane.
    pub path: String,
    /// RFC 3339.
    pub expires_at: String,
}

/// A link is a secret until it is used.
impl std::fmt::Debug for LinkOnce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkOnce").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TokenOnce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenOnce").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {}

/// Names a stand-in, who is told what this person would be told and decides by their own rights.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AwayRequest {
    /// Who stands in, by name or id.
    pub to: String,
    /// Until when: RFC 3339, within 90 days.
    pub until: String,
}

/// Somebody is away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AwayView {
    /// Who stands in.
    #[schema(value_type = String)]
    pub to: IdentityId,
    /// RFC 3339.
    pub until: String,
}

/// Somebody who is away now, and who is told instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AbsenceView {
    #[schema(value_type = String)]
    pub id: IdentityId,
    pub name: String,
    /// Who stands in.
    #[schema(value_type = String)]
    pub to: IdentityId,
    pub to_name: String,
    /// RFC 3339.
    pub until: String,
    /// That could not be told, so that whoever is away is told themselves.
    pub unreached: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AbsenceList {
    pub absences: Vec<AbsenceView>,
}

/// What a worker says it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclarationReport {
    /// `version`, `host`, `kernel`, `actions_at_once`, `runs_at_once`, `cage` (`tier`, `missing`, `means`), `profiles` (names and digests).
    #[schema(value_type = Object)]
    pub declaration: Declaration,
}
