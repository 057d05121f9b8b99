//! Shows what a command waits for. Printed only on a terminal, and erased when the wait is over.

use std::io::{IsTerminal as _, Write as _};

use crate::out::Out;

/// Clears the line of the cursor.
const ERASE_LINE: &str = "\r\u{1b}[2K";

/// A line on stderr that names what a command waits for, until it is dropped.
#[derive(Debug)]
pub(crate) struct WaitLine {
    is_shown: bool,
}

impl WaitLine {
    pub(crate) fn start(out: &Out, text: &str) -> Self {
        let mut stderr = std::io::stderr();
        let is_shown = !out.is_json() && stderr.is_terminal() && write!(stderr, "{text} …").is_ok();
        Self { is_shown }
    }
}

impl Drop for WaitLine {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "{ERASE_LINE}");
        }
    }
}
