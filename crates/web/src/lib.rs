//! WEB: the pages of the control plane for people with a browser.
//!
//! ```text
//! pages/  one page of routes and forms, who may use them, visits in place of tokens
//! markup/ what a person sees, as pure functions from plain data to HTML
//! ```
//!
//! A page reads and decides through the same functions as the API ([`placet_control::read`], [`placet_control::flow`]). [`mount`] puts the
//! pages beside the API on its listener; the control plane itself knows nothing of them.

mod markup;
mod pages;

pub use pages::{mount, page_table};
