//! The only way out of a cage.
//!
//! Two ways lead through it: calls of language models ([`llm`]), with keys that the agent never sees and money that is held before it
//! is spent, and requests to hosts that are allowed ([`egress`]). It decides nothing that a person should decide: what it may carry
//! comes with the run, and what it carried is recorded by whoever runs it. It knows neither the store nor the cage.
//!
//! The host's own calls, to whom its settings name, go out by [`dial`], which checks addresses in the same way.

pub mod dial;
pub mod egress;
pub mod llm;
pub mod measure;
pub mod model_script;
mod patient;
mod scrub;
mod secret;

pub use patient::Patient;
pub use secret::{KeySource, Secret, SecretError};
