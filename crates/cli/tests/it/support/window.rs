//! A window of a terminal with a person before it: a real pseudo-terminal, and a model of what is seen in it that understands only the
//! escapes that this program writes. Any other ends the test.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::{clean, eventually};

const PATIENCE: Duration = Duration::from_secs(60);

/// What is written that only changes how something looks, or how the terminal behaves.
const LOOKS: &[&str] = &[
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[7m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[?25l",
    "\u{1b}[?25h",
    "\u{1b}[?2004h",
    "\u{1b}[?2004l",
];

/// What is seen.
#[derive(Debug, Default)]
struct Seen {
    /// On the whole screen, row by row.
    cells: Vec<Vec<char>>,
    at: (usize, usize),
    is_whole: bool,
    has_cursor: bool,
    /// What was written outside the whole screen.
    lines: String,
    copied: Option<String>,
    unread: Vec<u8>,
}

impl Seen {
    fn takes(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        let text = match std::str::from_utf8(&self.unread) {
            Ok(text) => text.to_owned(),
            Err(error) => String::from_utf8_lossy(&self.unread[..error.valid_up_to()]).into_owned(),
        };
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            match first {
                '\u{1b}' => match self.obeys(rest) {
                    Some(after) => rest = after,
                    None => break,
                },
                _ => {
                    self.shows(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        let taken = text.len() - rest.len();
        self.unread.drain(..taken);
    }

    /// What follows an escape that is known; nothing while it is not whole.
    fn obeys<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        if let Some(look) = LOOKS.iter().find(|look| text.starts_with(**look)) {
            match *look {
                "\u{1b}[?25l" => self.has_cursor = false,
                "\u{1b}[?25h" => self.has_cursor = true,
                _ => {}
            }
            return Some(&text[look.len()..]);
        }
        for (escape, is_whole) in [("\u{1b}[?1049h", true), ("\u{1b}[?1049l", false)] {
            if let Some(after) = text.strip_prefix(escape) {
                self.is_whole = is_whole;
                return Some(after);
            }
        }
        if let Some(after) = text.strip_prefix("\u{1b}[2J") {
            self.cells.clear();
            return Some(after);
        }
        if let Some(copied) = text.strip_prefix("\u{1b}]52;c;") {
            let (copied, after) = copied.split_once('\u{7}')?;
            self.copied = Some(copied.to_owned());
            return Some(after);
        }
        let body = text.strip_prefix("\u{1b}[").or_else(|| ("\u{1b}" == text).then_some(""))?;
        let end = body.find(|c: char| !c.is_ascii_digit() && !matches!(c, ';' | '?'))?;
        let (place, last) = (&body[..end], &body[end..=end]);
        let numbers = place.split_once(';').filter(|_| last == "H");
        let (row, column) = numbers.unwrap_or_else(|| panic!("an escape that is none of ours: {text:?}"));
        self.at = (row.parse::<usize>().unwrap() - 1, column.parse::<usize>().unwrap() - 1);
        Some(&body[end + 1..])
    }

    fn shows(&mut self, c: char) {
        if !self.is_whole {
            self.lines.push(c);
            return;
        }
        assert!(!c.is_control(), "{c:?} acts on the terminal");
        let (row, column) = self.at;
        self.cells.resize(self.cells.len().max(row + 1), Vec::new());
        let line = &mut self.cells[row];
        line.resize(line.len().max(column + 1), ' ');
        line[column] = c;
        self.at.1 += 1;
    }

    fn text(&self) -> String {
        let rows = self.cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// The window, the program in it, and whoever types.
pub(crate) struct Window {
    keys: File,
    terminal: File,
    child: Child,
    /// How the terminal treated keys before the program began.
    pub(crate) before: String,
    seen: Arc<Mutex<Seen>>,
}

impl Window {
    /// Runs a command in a window of its own, as the session that the window belongs to.
    pub(crate) fn open(command: &Command, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let window = openpt(flags).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        let terminal = File::from(ioctl_tiocgptpeer(&window, flags).unwrap());
        let keys = File::from(window);
        tcsetwinsize(&keys, size(columns, rows)).unwrap();
        let before = settings(&terminal);
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut session = clean(Command::new("setsid"));
        session.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        session.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(dir) = command.get_current_dir() {
            session.current_dir(dir);
        }
        let child = session.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let seen = Arc::new(Mutex::new(Seen { has_cursor: true, ..Seen::default() }));
        let (kept, mut from) = (Arc::clone(&seen), keys.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                kept.lock().unwrap().takes(&buffer[..read]);
            }
        });
        Self { keys, terminal, child, before, seen }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn type_in(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        tcsetwinsize(&self.keys, size(columns, rows)).unwrap();
    }

    /// What is seen now.
    pub(crate) fn text(&self) -> String {
        self.seen.lock().unwrap().text()
    }

    /// What was written outside the whole screen.
    pub(crate) fn lines(&self) -> String {
        self.seen.lock().unwrap().lines.clone()
    }

    pub(crate) fn copied(&self) -> Option<String> {
        self.seen.lock().unwrap().copied.clone()
    }

    /// Whether the screen is the one that was there before, with a cursor.
    pub(crate) fn is_given_back(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        !seen.is_whole && seen.has_cursor
    }

    /// How the terminal treats keys.
    pub(crate) fn settings(&self) -> String {
        settings(&self.terminal)
    }

    #[track_caller]
    pub(crate) fn shows(&self, wanted: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.text().contains(wanted) {
            let text = self.text();
            assert!(Instant::now() < until, "`{wanted}` is not seen:\n{text}\n{}", self.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub(crate) fn says(&self, wanted: &str) {
        eventually(&format!("`{wanted}` is said"), PATIENCE, || self.lines().contains(wanted));
    }

    pub(crate) fn send(&self, signal: &str) {
        let sent = Command::new("/bin/kill").args(["-s", signal, &self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The state of the process, as the system names it.
    pub(crate) fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(terminal: &File) -> String {
    let set = tcgetattr(terminal).unwrap();
    format!("{:?} {:?} {:?} {:?}", set.input_modes, set.output_modes, set.control_modes, set.local_modes)
}

const fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }
}
