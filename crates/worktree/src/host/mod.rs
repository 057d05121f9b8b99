//! Access of a repository to the host.
//!
//! - [`person`]: the person's settings, which no repository can contain: cache roots and variables.
//! - [`secret_places`]: files and directories that hold secrets.
//! - [`directory`]: decides if one directory may be shown, by its resolved path and not by its spelling.
//! - [`request`]: everything a repository requests, with its digest.
//! - [`trust`]: requests that the person has trusted, by repository and digest.

pub mod directory;
pub mod person;
pub mod request;
pub(crate) mod secret_places;
pub mod trust;
