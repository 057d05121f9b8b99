//! LANG: what Placet says to people, in every language it speaks. Pages and messages use it; the API and the command line speak English.
//!
//! Pure text: no markup, no store, no clock. What agents, people and policies wrote is never translated.

mod figures;
pub mod meaning;
mod words;

pub use words::Lang;
