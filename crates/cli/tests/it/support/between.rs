//! Between a client and a control plane: a wire on which answers get lost and questions are held up.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// What becomes of the first request whose head matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// It arrives, and is answered; nobody hears the answer.
    AnswerLost,
    /// It arrives when somebody says so.
    HeldUp,
}

/// The wire. Whatever matches no more, or not yet, passes as it is.
pub(crate) struct Between {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    to: String,
    mishap: Mishap,
    wanted: Box<dyn Fn(&str) -> bool + Send + Sync>,
    happened: AtomicUsize,
    let_go: (Mutex<bool>, Condvar),
}

impl Between {
    pub(crate) fn start(to: &str, mishap: Mishap, wanted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let to = to.trim_start_matches("http://").to_owned();
        let (wanted, happened, let_go) = (Box::new(wanted), AtomicUsize::new(0), Default::default());
        let shared = Arc::new(Shared { to, mishap, wanted, happened, let_go });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                thread::spawn(move || shared.connect(client));
            }
        });
        Self { url, shared }
    }

    pub(crate) fn has_happened(&self) -> bool {
        self.shared.happened.load(Ordering::SeqCst) > 0
    }

    /// What was held up goes on.
    pub(crate) fn let_go(&self) {
        *self.shared.let_go.0.lock().unwrap() = true;
        self.shared.let_go.1.notify_all();
    }
}

impl Shared {
    fn connect(self: Arc<Self>, mut client: TcpStream) {
        let Ok(mut server) = TcpStream::connect(&self.to) else { return };
        let (mut answers, mut heard) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let lost = Arc::new(Mutex::new(false));
        let is_lost = Arc::clone(&lost);
        let back = thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(read @ 1..) = answers.read(&mut buffer) {
                if *is_lost.lock().unwrap() || heard.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            let _ = heard.shutdown(Shutdown::Both);
        });
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = client.read(&mut buffer) {
            if self.meets_mishap(&buffer[..read]) {
                match self.mishap {
                    Mishap::AnswerLost => *lost.lock().unwrap() = true,
                    Mishap::HeldUp => drop(self.let_go.1.wait_while(self.let_go.0.lock().unwrap(), |gone| !*gone)),
                }
            }
            if server.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
        let _ = back.join();
    }

    /// Only the first of them.
    fn meets_mishap(&self, bytes: &[u8]) -> bool {
        let head = String::from_utf8_lossy(bytes);
        (self.wanted)(&head) && self.happened.fetch_add(1, Ordering::SeqCst) == 0
    }
}
