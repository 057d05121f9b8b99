//! The pages as browsers see them, with a browser that reads forms and holds one cookie. What a person sees with real eyes is looked at
//! in real Chromium (`crates/cli/tests/browser`); here is what must hold whatever is shown.

mod amending;
mod between;
pub(crate) mod browser;
mod cards;
mod deciding;
mod doors;
mod entering;
mod finding;
mod forging;
mod living;
mod marking;
mod measured;
mod ordering;
pub(crate) mod passkeys;
mod queue;
mod run_page;
mod showing;
mod signing_on;
mod slowed;

pub(crate) use browser::Browser;
