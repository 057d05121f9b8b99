//! The domain as its users see it.

mod expect;
mod matrix;
mod people;
mod policy;
mod reached;
mod scenario;
mod trials;
