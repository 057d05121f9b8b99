//! What can go wrong with a container engine.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an engine did not do what a cage needs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Nobody listens, or not to us.
    #[error("no container engine answers at `{socket}`: start it, or name the socket of the one that runs")]
    Unreachable {
        /// Where it was expected.
        socket: PathBuf,
        /// Why it cannot be reached.
        #[source]
        source: io::Error,
    },
    /// The connection failed half way.
    #[error("the container engine was lost while it was asked to {doing}")]
    Lost {
        /// What was asked for.
        doing: &'static str,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// It said no.
    #[error("the container engine cannot {doing}: {message} (status {status})")]
    Refused {
        /// What was asked for.
        doing: &'static str,
        /// Its status code.
        status: u16,
        /// Its own words, shortened.
        message: String,
    },
    /// Its answer is not one.
    #[error("the container engine was asked to {doing} and gave an answer that cannot be used: {why}")]
    Answer {
        /// What was asked for.
        doing: &'static str,
        /// What is wrong with the answer.
        why: String,
    },
    /// The image cannot be the root of a cage.
    #[error("the image `{image}` cannot be used: {why}")]
    Image {
        /// The image.
        image: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// Something a request or profile asks for that this engine cannot do.
    #[error("a container of this engine cannot have {what}: {todo}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead.
        todo: String,
    },
    /// The container was removed by somebody else, and its outcome with it.
    #[error("the container was removed from outside before its end was known")]
    Gone,
}

impl EngineError {
    pub(super) fn lost(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Lost { doing, source }
    }

    pub(super) fn answer(doing: &'static str, why: impl ToString) -> Self {
        Self::Answer { doing, why: why.to_string() }
    }

    /// Whether the engine says that the thing does not exist.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}
