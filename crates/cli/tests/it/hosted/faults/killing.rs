//! Between a worker and its control plane: ends the worker, as a power cut would, right before one of its calls arrives, and the next time
//! right after it was answered, before it hears the answer. Then starts it again.
//!
//! Each call that changes something meets both once. The agent of a run comes this way too, and is let pass: it ends with its worker.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use placet_domain::digest::Digest;

use crate::support::Process;

pub(super) struct Killing {
    shared: Arc<Shared>,
}

struct Shared {
    to: String,
    token: String,
    start: Box<dyn Fn() -> Process + Send + Sync>,
    worker: Mutex<Option<Process>>,
    met: Mutex<BTreeSet<String>>,
}

/// One request or answer, whole.
struct Message {
    head: String,
    body: Vec<u8>,
}

impl Killing {
    /// `start` is told where the worker reaches its control plane, and starts it.
    pub(super) fn start(to: &str, token: String, start: impl Fn(&str) -> Process + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let to = to.trim_start_matches("http://").to_owned();
        let start = Box::new(move || start(&url));
        let shared = Arc::new(Shared { to, token, start, worker: Mutex::default(), met: Mutex::default() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                thread::spawn(move || shared.connect(client));
            }
        });
        *shared.worker.lock().unwrap() = Some((shared.start)());
        Self { shared }
    }

    /// What the worker was ended before and after.
    pub(super) fn met(&self) -> BTreeSet<String> {
        self.shared.met.lock().unwrap().clone()
    }

    pub(super) fn stop(&self) {
        drop(self.shared.worker.lock().unwrap().take());
    }
}

impl Shared {
    fn connect(&self, client: TcpStream) {
        let Ok(server) = TcpStream::connect(&self.to) else { return };
        // Whoever is ended hangs up, and so do we.
        let _ = self.pass_on(&client, &server);
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }

    fn pass_on(&self, client: &TcpStream, server: &TcpStream) -> io::Result<()> {
        let (mut asking, mut answering) = (BufReader::new(client), BufReader::new(server));
        loop {
            let request = Message::read(&mut asking)?;
            let call = request.head.contains(&self.token).then(|| request.call()).flatten();
            if self.meets(call.as_deref(), "before") {
                return Ok(());
            }
            request.write(server)?;
            let answer = Message::read(&mut answering)?;
            let changed =
                call.filter(|_| answer.head.starts_with("HTTP/1.1 20") && !answer.head.starts_with("HTTP/1.1 204"));
            if self.meets(changed.as_deref(), "after") {
                return Ok(());
            }
            answer.write(client)?;
        }
    }

    /// Ends the worker, if it was not ended here yet.
    fn meets(&self, call: Option<&str>, side: &str) -> bool {
        let Some(call) = call else { return false };
        if !self.met.lock().unwrap().insert(format!("{side} {call}")) {
            return false;
        }
        let mut worker = self.worker.lock().unwrap();
        if let Some(worker) = worker.take() {
            worker.kill();
        }
        *worker = Some((self.start)());
        true
    }
}

impl Message {
    fn read(from: &mut impl io::BufRead) -> io::Result<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        assert!(!lower.contains("transfer-encoding"), "a body of unknown length: {head}");
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Ok(Self { head, body })
    }

    fn write(&self, mut to: &TcpStream) -> io::Result<()> {
        to.write_all(self.head.as_bytes())?;
        to.write_all(&self.body)
    }

    /// What this request changes, told apart by what it is about; nothing, if it only asks or says that somebody is alive. Actions and runs are all one:
    /// what was interrupted comes again under another name.
    fn call(&self) -> Option<String> {
        let (method, rest) = self.head.split_once(' ')?;
        let path = rest.split_once(' ')?.0;
        let last = path.rsplit('/').next()?;
        match (method, last) {
            ("POST", "snapshots") => Some(format!("snapshots {}", &Digest::of(&self.body).to_hex()[..8])),
            ("POST", "hostings" | "heartbeat" | "previews" | "network") => None,
            ("POST" | "PUT", last) => Some(last.to_owned()),
            _ => None,
        }
    }
}
