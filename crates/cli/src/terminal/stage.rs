//! The person's terminal as a stage: the whole window, every key, and everything put back however it ends.
//!
//! The window that was there before comes back with its text: the alternate screen is used. Only what differs from what is seen is
//! written. Reading is done by whoever asks, on a file description of our own: what came in before something was shown can be told
//! from what comes after ([`Stage::typed_so_far`]).

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::net::unix::pipe::Receiver;

use super::screen::{Ink, Screen, Size};
use crate::error::CliError;

/// The other screen, and what is pasted is marked as such.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?2004h";
/// The usual look, a cursor, and the screen that was there before.
const LEAVE: &str = "\u{1b}[0m\u{1b}[?2004l\u{1b}[?25h\u{1b}[?1049l";
/// Where a terminal does not say.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// A terminal that is ours for a while.
pub(crate) struct Stage {
    keys: Receiver,
    before: Termios,
    shown: Option<Screen>,
    ink: Ink,
    is_entered: bool,
}

impl Stage {
    pub(crate) fn enter(ink: Ink) -> Result<Self, CliError> {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let flags = i32::try_from(flags).unwrap_or_default();
        // Opened anew: that reads return at once is ours alone, and not the shell's whose terminal it is.
        let keys = OpenOptions::new().read(true).custom_flags(flags).open("/proc/self/fd/0")?;
        // It is a terminal and no pipe; what is asked of it here is the same: to say when something can be read.
        let before = tcgetattr(&keys).map_err(std::io::Error::from)?;
        put_back_on_panic(before.clone());
        let mut stage =
            Self { keys: Receiver::from_file_unchecked(keys)?, before, shown: None, ink, is_entered: false };
        stage.resume()?;
        Ok(stage)
    }

    /// Takes the terminal, again.
    pub(crate) fn resume(&mut self) -> Result<(), CliError> {
        let mut raw = self.before.clone();
        raw.make_raw();
        // What was typed for somebody else is not for us.
        tcsetattr(&self.keys, OptionalActions::Flush, &raw).map_err(std::io::Error::from)?;
        self.is_entered = true;
        self.shown = None;
        write(ENTER)?;
        Ok(())
    }

    /// Gives the terminal back for a while: to an editor, or to the shell.
    pub(crate) fn leave(&mut self) {
        if self.is_entered {
            self.is_entered = false;
            put_back(&self.before);
        }
    }

    /// Stands still until the shell lets it go on, with the terminal as it was meanwhile.
    pub(crate) fn stand_still(&mut self) -> Result<(), CliError> {
        self.leave();
        kill_process(getpid(), Signal::STOP).map_err(std::io::Error::from)?;
        self.resume()
    }

    pub(crate) fn size(&self) -> Size {
        let size = tcgetwinsize(&self.keys).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(USUAL, |size| Size { columns: size.ws_col.into(), rows: size.ws_row.into() })
    }

    /// Shows a screen: writes what differs from what is seen.
    pub(crate) fn show(&mut self, screen: Screen) -> Result<(), CliError> {
        let change = screen.after(self.shown.as_ref(), self.ink);
        self.shown = Some(screen);
        Ok(write(&change)?)
    }

    /// Hands a text to the clipboard of whoever sits here (OSC 52), if their terminal lets it.
    pub(crate) fn copy(&self, base64: &str) -> Result<(), CliError> {
        let is_plain = base64.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        if is_plain {
            write(&format!("\u{1b}]52;c;{base64}\u{7}"))?;
        }
        Ok(())
    }

    /// Everything that came in and was not read yet.
    pub(crate) fn typed_so_far(&self) -> Vec<u8> {
        let (mut typed, mut buffer) = (Vec::new(), [0; 1 << 10]);
        // Ends when there is nothing more, which is an error here, or with the terminal.
        while let Ok(read @ 1..) = self.keys.try_read(&mut buffer) {
            typed.extend_from_slice(&buffer[..read]);
        }
        typed
    }

    /// The next bytes that somebody types; none when the terminal is gone.
    pub(crate) async fn typed(&self) -> std::io::Result<Vec<u8>> {
        loop {
            self.keys.readable().await?;
            let mut buffer = [0; 1 << 10];
            match self.keys.try_read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return Ok(buffer[..read?].to_vec()),
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.leave();
    }
}

fn write(text: &str) -> std::io::Result<()> {
    let mut window = std::io::stdout().lock();
    window.write_all(text.as_bytes())?;
    window.flush()
}

fn put_back(before: &Termios) {
    // A window that is closed needs nothing put back.
    let _ = write(LEAVE);
    let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, before);
}

/// A panic is read by somebody: on their own screen, with line ends.
fn put_back_on_panic(before: Termios) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        put_back(&before);
        usual(panic);
    }));
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::terminal::window::{shown_until, window};

    /// A machine that has much else to do.
    const LONGEST: std::time::Duration = std::time::Duration::from_secs(20);
    const CHILD: &str = "PLACET_TEST_PANICS_ON_STAGE";

    /// Does something only as the child of the test below.
    #[tokio::test]
    async fn somebody_panics_on_a_stage() {
        if std::env::var_os(CHILD).is_some() {
            let stage = Stage::enter(Ink::Plain);
            panic!("on a stage: {}", stage.is_ok());
        }
    }

    #[test]
    fn b4_a_panic_gives_the_terminal_back() {
        let (mut window, terminal) = window();
        let before = tcgetattr(&terminal).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--nocapture", "--exact", "terminal::stage::tests::somebody_panics_on_a_stage"]).env(CHILD, "1");
        let status = child.stdin(end()).stdout(end()).stderr(end()).env("RUST_BACKTRACE", "0").status().unwrap();
        assert!(!status.success());
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before.local_modes);
        let shown = shown_until(&mut window, "on a stage: true", LONGEST);
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text:?} is not in {shown:?}"));
        assert!(place(ENTER) < place(LEAVE) && place(LEAVE) < place("on a stage: true"), "{shown:?}");
    }
}
