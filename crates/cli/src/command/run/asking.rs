//! Whoever decides sees what about first. At a terminal they are asked; elsewhere what they typed is their word, or `--yes` is.

use std::io::IsTerminal as _;

use crate::error::{CliError, Code};
use crate::out::{Out, harmless};
use crate::terminal::asked;

/// Whether a person wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// At a terminal.
    Usually,
    /// They have said yes already.
    Never,
}

impl Asks {
    pub(super) const fn unless(yes: bool) -> Self {
        if yes { Self::Never } else { Self::Usually }
    }
}

/// Whether somebody sits here who can be asked.
pub(super) fn is_attended(out: &Out) -> bool {
    !out.is_json() && std::io::stdin().is_terminal()
}

/// After what is decided on was shown: where somebody sits, only an explicit yes goes on.
pub(super) async fn agreed(question: &str, asks: Asks, out: &Out) -> Result<(), CliError> {
    if asks == Asks::Never || !is_attended(out) {
        return Ok(());
    }
    if is_yes(question).await? {
        return Ok(());
    }
    Err(CliError::new(Code::Waiting, "nothing was decided; everything is as it was"))
}

pub(super) async fn is_yes(question: &str) -> Result<bool, CliError> {
    Ok(asked::is_yes(&harmless(question)).await?)
}
