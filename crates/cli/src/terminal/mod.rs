//! The terminal of a person, and one in a cage behind it.
//!
//! While a command has a terminal of its own, this process only carries: keys in, what is shown out, and the size of the
//! window whenever it changes. The person's terminal is put back as it was, however the command ends.
//!
//! Below are also the parts of what fills a whole window: screens, text that fits panes, strokes and lines (all pure), and the stage.

pub(crate) mod asked;
mod keys;
pub(crate) mod line;
#[cfg(test)]
pub(crate) mod model;
mod plain;
mod raw;
pub(crate) mod rich;
pub(crate) mod screen;
pub(crate) mod signals;
pub(crate) mod stage;
pub(crate) mod stroke;
#[cfg(test)]
mod window;

use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Write as _};

use placet_sandbox::{Exit, Killer, LimitKind, Outcome, Request, Running};
use rustix::termios::{tcgetwinsize, tcsetwinsize};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use plain::Plain;

use self::keys::Keys;
use self::raw::Raw;
use crate::command::serve::told_to_stop;
use crate::error::{CliError, chain};

/// Whether a person sits here: keys come from a terminal, and what is shown goes to one.
pub(crate) fn is_ours() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Tells a command what kind of terminal it has, if ours has a plain name.
pub(crate) fn named(request: Request) -> Request {
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte));
    match std::env::var("TERM").ok().filter(plain) {
        Some(name) => request.env("TERM", name),
        None => request,
    }
}

/// Carries between the person's terminal and the command's until the command ends.
pub(crate) async fn attend(mut running: Running) -> Result<Outcome, CliError> {
    let terminal = running.take_terminal().ok_or_else(|| CliError::failed("the command has no terminal"))?;
    let (killer, limit) = (running.killer(), running.limits().output_bytes);
    let stop = killer.clone();
    tokio::spawn(async move {
        told_to_stop().await;
        stop.kill();
    });
    let raw = Raw::begin(std::io::stdin())?;
    let fitting = tokio::spawn(keep_fitting(terminal.try_clone()?));
    let keys = Keys::carry(terminal.try_clone()?)?;
    let showing = std::thread::spawn(move || show(terminal, limit, &killer));
    let ended = tokio::task::spawn_blocking(move || running.wait()).await;
    fitting.abort();
    keys.stop();
    let shown = showing.join().unwrap_or_default();
    drop(raw);
    let mut outcome =
        ended.map_err(|error| CliError::failed(error.to_string()))?.map_err(|error| CliError::failed(chain(&error)))?;
    if shown > limit {
        outcome.exit = Exit::Limit { which: LimitKind::Output, limit, seen: shown };
    }
    Ok(outcome)
}

/// Passes on what is shown, as it is, up to the limit; tells how much it was. Ends when nobody has the terminal any more.
fn show(mut terminal: File, limit: u64, killer: &Killer) -> u64 {
    let (mut buffer, mut shown) = (vec![0; 64 << 10], 0);
    let mut screen = std::io::stdout();
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        shown += read as u64;
        if shown > limit {
            killer.kill_over_output(shown);
        } else if screen.write_all(&buffer[..read]).and_then(|()| screen.flush()).is_err() {
            // The window is closed: so is the one in the cage.
            killer.kill();
        }
    }
    shown
}

/// Gives the command's terminal the size of ours, now and whenever it changes.
async fn keep_fitting(terminal: File) {
    let Ok(mut changes) = signal(SignalKind::window_change()) else { return };
    loop {
        if let Ok(size) = tcgetwinsize(std::io::stdout()) {
            let _ = tcsetwinsize(&terminal, size);
        }
        if changes.recv().await.is_none() {
            return;
        }
    }
}
