//! The worktree runtime as a team uses it: real repositories, real git, real cages, the binary from outside.

mod adversity;
mod cage;
mod close;
mod host;
mod hostile;
mod interrupted;
mod kinds;
mod many;
mod merge;
mod odd_places;
mod ordinary_user;
mod people;
mod pushing;
mod ready;
pub(crate) mod repo;
mod room;
mod start;
mod terminal;
