//! In the cage: makes one attempt and says what came of it. Anywhere else it does nothing.
#![expect(clippy::print_stdout, reason = "an attempt answers on standard output")]

use std::process::ExitCode;

use crate::attempt;
use crate::scene::{self, MARKER, NAMESPACES, Scene};

pub(crate) const FLAG: &str = "--inside";

/// Exit code when this is not a cage.
pub(crate) const NOT_A_CAGE: u8 = 77;

/// Starts every line that is an answer, so that what an attempt writes itself is not taken for one.
pub(crate) const ANSWER: &str = "observed ";

pub(crate) fn run(name: &str) -> ExitCode {
    let scene = match caged() {
        Ok(scene) => scene,
        Err(why) => {
            println!("no attempt is made here: {why}");
            return ExitCode::from(NOT_A_CAGE);
        }
    };
    let Some(case) = attempt::named(name) else {
        println!("there is no attempt `{name}`");
        return ExitCode::FAILURE;
    };
    println!("{ANSWER}{}", (case.attempt.make)(&scene));
    ExitCode::SUCCESS
}

/// The launcher says so, process 1 is the parent, and every namespace is another than the launcher's. Each of these
/// alone could be true by accident outside; attempts are not to be made by accident.
fn caged() -> Result<Scene, String> {
    let marker = std::env::var(MARKER).map_err(|_| format!("the variable {MARKER} is not set"))?;
    let scene: Scene = serde_json::from_str(&marker).map_err(|error| format!("{MARKER} is no scene: {error}"))?;
    if rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get()) != Some(1) {
        return Err("the parent is not process 1 of a cage".into());
    }
    let own = scene::own_namespaces();
    let shared = |kind: &str| own.get(kind).is_none_or(|name| scene.namespaces.get(kind).is_none_or(|of| of == name));
    match NAMESPACES.into_iter().find(|kind| shared(kind)) {
        Some(kind) => Err(format!("the {kind} namespace is the launcher's")),
        None => Ok(scene),
    }
}
