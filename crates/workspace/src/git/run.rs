//! Runs one program to its end: bounded in time and output, with everything it started ended too.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

/// Nobody reads more of what went wrong.
pub(super) const MAX_STDERR_BYTES: u64 = 16 << 10;

pub(super) enum Input {
    Bytes(Vec<u8>),
    File(File),
}

pub(super) enum Output {
    Kept,
    File(File),
}

pub(super) struct Bounds {
    pub(super) timeout_ms: u64,
    pub(super) output_bytes: u64,
}

pub(super) enum Ran {
    Ended { status: ExitStatus, stdout: Vec<u8>, stderr: String },
    TimedOut,
    TooMuch,
}

/// What came out of a pipe, and whether that was all.
struct Drained {
    kept: Vec<u8>,
    complete: bool,
}

pub(super) fn run(mut command: Command, input: Input, output: Output, bounds: &Bounds) -> io::Result<Ran> {
    let (stdin, bytes) = match input {
        Input::Bytes(bytes) => (Stdio::piped(), bytes),
        Input::File(file) => (Stdio::from(file), Vec::new()),
    };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let feeder = child.stdin.take().map(|stdin| feed(stdin, bytes));
    let stdout = drain(child.stdout.take(), output, bounds.output_bytes);
    let stderr = drain(child.stderr.take(), Output::Kept, MAX_STDERR_BYTES);
    let status = wait(&mut child, &stdout, Duration::from_millis(bounds.timeout_ms));
    // Whatever it started goes with it; then the pipes end, and so do those who wait for them.
    end_group(&child);
    let reaped = child.wait()?;
    feeder.map(JoinHandle::join);
    let (stdout, stderr) = (joined(stdout)?, joined(stderr)?);
    Ok(match status? {
        _ if !stdout.complete => Ran::TooMuch,
        Waited::Ended => Ran::Ended { status: reaped, stdout: stdout.kept, stderr: harmless(&stderr.kept) },
        Waited::TimedOut => Ran::TimedOut,
    })
}

/// Messages quote names and lines that a run chose; none of them acts on a terminal.
pub(super) fn harmless(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let shown = |each: char| if each.is_control() && each != '\n' { char::REPLACEMENT_CHARACTER } else { each };
    text.trim().chars().map(shown).collect()
}

/// A program that reads nothing of it is not held against it.
pub(super) fn feed(mut stdin: impl Write + Send + 'static, bytes: Vec<u8>) -> JoinHandle<()> {
    thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
    })
}

fn drain(pipe: Option<impl Read + Send + 'static>, output: Output, limit: u64) -> JoinHandle<io::Result<Drained>> {
    thread::spawn(move || {
        let Some(pipe) = pipe else { return Ok(Drained { kept: Vec::new(), complete: true }) };
        let (mut kept, mut bounded) = (Vec::new(), pipe.take(limit + 1));
        let read = match output {
            Output::Kept => io::copy(&mut bounded, &mut kept)?,
            Output::File(mut file) => io::copy(&mut bounded, &mut file)?,
        };
        Ok(Drained { kept, complete: read <= limit })
    })
}

fn joined(reader: JoinHandle<io::Result<Drained>>) -> io::Result<Drained> {
    reader.join().map_err(|_| io::Error::other("a reader of the program's output ended early"))?
}

enum Waited {
    Ended,
    TimedOut,
}

/// Until the program ends, its time is over, or nobody takes its output any more.
fn wait(child: &mut Child, stdout: &JoinHandle<io::Result<Drained>>, timeout: Duration) -> io::Result<Waited> {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    let handle = rustix::process::pidfd_open(pid(child)?, PidfdFlags::empty())?;
    let started = Instant::now();
    loop {
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(Waited::TimedOut);
        }
        // A full pipe without a reader ends no program: look at the reader, too.
        let slice = Timespec::try_from(left.min(LOOK_EVERY)).map_err(io::Error::other)?;
        match rustix::event::poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&slice)) {
            Ok(0) if stdout.is_finished() => return Ok(Waited::Ended),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(Waited::Ended),
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn pid(child: &Child) -> io::Result<Pid> {
    let number = i32::try_from(child.id()).ok();
    number.and_then(Pid::from_raw).ok_or_else(|| io::Error::other("a process without a number"))
}

pub(super) fn end_group(child: &Child) {
    if let Ok(pid) = pid(child) {
        // Gone already is as good.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}
