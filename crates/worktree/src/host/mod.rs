//! What of the host a repository may ask for.
//!
//! - [`person`]: the person's own settings, which no repository can ship: cache roots and variables.
//! - [`secret_places`]: files and directories that hold secrets.
//! - [`directory`]: whether one directory may be shown, decided by what the path is and not by how it is spelled.
//! - [`request`]: everything a repository asks for, with its digest.
//! - [`trust`]: which requests the person has trusted, by repository and digest.

pub mod directory;
pub mod person;
pub mod request;
pub(crate) mod secret_places;
pub mod trust;
