//! A process that never outlives its test, whatever happens in it.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Lines of stdout, as they come.
    lines: mpsc::Receiver<String>,
    stderr: Arc<Mutex<String>>,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stderr = Arc::new(Mutex::new(String::new()));
        let (kept, pipe) = (Arc::clone(&stderr), child.stderr.take().unwrap());
        std::thread::spawn(move || gather(pipe, &kept));
        Self { child, lines, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The first line of stdout that is wanted.
    pub(crate) fn line(&self, within: Duration, wanted: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + within;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if wanted(&line) => return line,
                Ok(_) => {}
                Err(error) => panic!("no such line on stdout: {error}; stderr: {}", self.stderr()),
            }
        }
    }

    /// What it has said on stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        use std::io::Write as _;
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whatever else it said on stdout. To be asked once it has ended.
    pub(crate) fn rest(&self) -> String {
        self.lines.iter().collect::<Vec<_>>().join("\n")
    }

    /// Sends a signal by name, e.g. `TERM`, and waits for the end.
    pub(crate) fn interrupt(&mut self, name: &str, within: Duration) -> ExitStatus {
        self.send(name);
        self.wait(within)
    }

    pub(crate) fn send(&self, signal: &str) {
        let sent = Command::new("/bin/kill").args(["-s", signal, &self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn wait(&mut self, within: Duration) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < within, "it did not end within {within:?}; stderr: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn gather(mut pipe: impl Read, kept: &Mutex<String>) {
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
