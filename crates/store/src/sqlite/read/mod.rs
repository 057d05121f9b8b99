//! Reading. Each function works within the snapshot of the connection it is given, the writer's or a reader's.

mod actions;
mod content;
mod entities;
mod entries;
mod select;

use placet_domain::identity::Reach;

use crate::error::StoreError;
pub(crate) use actions::{action, actions, counts, lapsing, outdated, queue};
pub(crate) use content::{advice, kept, sealed};
pub(crate) use entities::{
    identities, identity, identity_by_token, is_token_taken, project, project_by_name, projects, run, runs, scope,
    scopes,
};
pub(crate) use entries::{bytes_before, cursor, entries, entry};

/// The projects within reach as a JSON list, which is how a list goes into one statement; nothing means all.
pub(crate) fn reach_as_json(reach: &Reach) -> Option<String> {
    match reach {
        Reach::Everywhere => None,
        Reach::Only(projects) => Some(serde_json::to_string(projects).expect("ids are plain JSON")),
    }
}

pub(crate) fn parse_id<T>(text: &str) -> Result<T, StoreError>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    text.parse().map_err(|error| StoreError::unreadable("id", error))
}
