//! Carrying: bytes counted in both directions, and every way in which a connection ends.

mod meter;
mod tunnel;
mod watch;

pub(super) use meter::{Carriage, Direction};
pub use meter::{Meter, Used};
pub(super) use tunnel::{Side, pump};
pub(super) use watch::guarded;
