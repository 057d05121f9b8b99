//! The person's terminal without its own idea of keys, for as long as somebody else has one.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Every key arrives as it is typed and nothing is echoed, until this is dropped.
pub(super) struct Raw {
    before: Termios,
}

impl Raw {
    pub(super) fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // What was typed and not read was meant for whoever had the keys until now: the person's shell never gets it. A
        // window that is closed needs nothing put back.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.before);
    }
}
