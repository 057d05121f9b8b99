//! Hands one letter to a server (RFC 5321): greeting, TLS, login, sender, recipient, letter.
//!
//! Without TLS nothing leaves this machine. A server that should speak TLS and does not offer it gets nothing, neither the password nor the
//! letter; whatever it said before TLS is forgotten, and if it says more than it was asked the conversation is over (an attacker who is in
//! between could have put it there). What it does deliberately not do: deliver by itself, keep a connection, or translate addresses.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_domain::scope::{Authority, Place};
use placet_gateway::dial::{Dialer, Line};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use zeroize::Zeroizing;

use super::super::channel::Told;
use super::MailAddress;

/// For each answer; servers that check for spam take their time before the last one.
const PATIENCE: Duration = Duration::from_secs(60);
/// An answer is a few lines. Whoever sends more is no server of mail.
const MOST_ANSWER_BYTES: usize = 16 << 10;

/// How the connection is kept from being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte, as on port 465.
    Implicit,
    /// TLS after a plain greeting, as on port 587.
    StartTls,
    /// None: only to this machine.
    None,
}

/// Who sends, to servers that want to know.
#[derive(Clone)]
pub struct Login {
    user: String,
    password: Zeroizing<String>,
}

impl Login {
    pub const fn new(user: String, password: Zeroizing<String>) -> Self {
        Self { user, password }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({}, …)", self.user)
    }
}

/// A server that takes letters.
#[derive(Debug, Clone)]
pub struct Server {
    to: Authority,
    security: Security,
    login: Option<Login>,
    dialer: Dialer,
}

/// A server that is not spoken to like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not on this machine; without TLS letters are handed to a loopback address only: write `tls = \"starttls\"` or `tls = \"implicit\"`"
)]
pub struct InTheOpen(String);

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.security {
            Security::Implicit => "tls",
            Security::StartTls => "starttls",
            Security::None => "no tls",
        };
        write!(f, "{}:{} ({how})", self.to.place(), self.to.port())
    }
}

impl Server {
    pub fn new(to: Authority, security: Security, login: Option<Login>, dialer: Dialer) -> Result<Self, InTheOpen> {
        let is_local = matches!(to.place(), Place::At(address) if address.is_loopback());
        if security == Security::None && !is_local {
            return Err(InTheOpen(to.place().to_string()));
        }
        Ok(Self { to, security, login, dialer })
    }

    pub(super) async fn deliver(&self, from: &MailAddress, to: &MailAddress, letter: &[u8]) -> Told {
        match self.handed_over(from, to, letter).await {
            Ok(()) => Told::Yes,
            Err(Trouble::Passing(why)) => Told::NotYet(why),
            Err(Trouble::Refused(why)) => Told::Refused(why),
        }
    }

    async fn handed_over(&self, from: &MailAddress, to: &MailAddress, letter: &[u8]) -> Result<(), Trouble> {
        let mut talk = self.greeted().await?;
        talk.log_in(self.login.as_ref()).await?;
        talk.asked(&format!("MAIL FROM:<{from}>"), "the sender").await?;
        talk.asked(&format!("RCPT TO:<{to}>"), "the recipient").await?;
        let begin = talk.ask("DATA").await?;
        if begin.code != 354 {
            return Err(begin.refusal("the letter"));
        }
        talk.write(&stuffed(letter)).await?;
        let end = talk.answer().await?;
        if !end.is_yes() {
            return Err(end.refusal("the letter"));
        }
        // It is theirs now; how they say goodbye changes nothing.
        let _ = talk.write(b"QUIT\r\n").await;
        Ok(())
    }

    /// A conversation inside of whatever TLS there is to be, after the greeting.
    async fn greeted(&self) -> Result<Talk, Trouble> {
        let line = match self.security {
            Security::None => self.dialer.connect_here(&self.to).await,
            Security::Implicit | Security::StartTls => self.dialer.connect(&self.to).await,
        };
        let line = line.map_err(Trouble::passing)?;
        let mut talk = match self.security {
            Security::Implicit => Talk::over(self.secured(line).await?),
            Security::StartTls | Security::None => Talk::over(line),
        };
        let greeting = talk.answer().await?;
        if !greeting.is_yes() {
            return Err(greeting.trouble("to talk"));
        }
        talk.hello().await?;
        if self.security != Security::StartTls {
            return Ok(talk);
        }
        if !talk.offers("STARTTLS") {
            return Err(Trouble::Passing("the server offers no TLS; nothing was sent".to_owned()));
        }
        let ready = talk.ask("STARTTLS").await?;
        if !ready.is_yes() || !talk.unread.is_empty() {
            return Err(ready.trouble("to begin TLS"));
        }
        let mut talk = Talk::over(self.secured(talk.line).await?);
        talk.hello().await?;
        Ok(talk)
    }

    async fn secured(&self, line: Line) -> Result<Line, Trouble> {
        self.dialer.secure(line, self.to.place()).await.map_err(Trouble::passing)
    }
}

/// Why a letter was not handed over.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// Something that may be otherwise later.
    Passing(String),
    /// This letter, for good.
    Refused(String),
}

impl Trouble {
    fn passing(error: impl fmt::Display) -> Self {
        Self::Passing(error.to_string())
    }
}

/// What a server says to one thing.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    code: u16,
    lines: Vec<String>,
}

impl Answer {
    const fn is_yes(&self) -> bool {
        matches!(self.code, 200..300)
    }

    /// A no to something that has nothing to do with this letter: it may be otherwise later.
    fn trouble(&self, what: &str) -> Trouble {
        Trouble::Passing(format!("the server answered {} when it was asked {what}", self.code))
    }

    /// A no to a part of this letter: for good if it begins with a five.
    fn refusal(&self, what: &str) -> Trouble {
        let why = format!("the server answered {} to {what}", self.code);
        if matches!(self.code, 500..600) { Trouble::Refused(why) } else { Trouble::Passing(why) }
    }
}

struct Talk {
    line: Line,
    unread: Vec<u8>,
    offered: Vec<String>,
}

impl Talk {
    fn over(line: Line) -> Self {
        Self { line, unread: Vec::new(), offered: Vec::new() }
    }

    /// Says who calls, and remembers what is offered. The name is not checked by anybody and tells nothing of this machine.
    async fn hello(&mut self) -> Result<(), Trouble> {
        let answer = self.ask("EHLO placet.invalid").await?;
        if !answer.is_yes() {
            return Err(answer.trouble("what it can"));
        }
        self.offered = answer.lines.iter().skip(1).map(|line| line.to_ascii_uppercase()).collect();
        Ok(())
    }

    fn offers(&self, what: &str) -> bool {
        self.offered.iter().any(|line| line.split([' ', '=']).next() == Some(what))
    }

    fn offers_login(&self, way: &str) -> bool {
        let mut logins = self.offered.iter().filter(|line| line.split([' ', '=']).next() == Some("AUTH"));
        logins.any(|line| line.split([' ', '=']).skip(1).any(|known| known == way))
    }

    async fn log_in(&mut self, login: Option<&Login>) -> Result<(), Trouble> {
        let Some(login) = login else { return Ok(()) };
        let answer = if self.offers_login("PLAIN") {
            let both = Zeroizing::new(format!("\0{}\0{}", login.user, login.password.as_str()));
            let line = Zeroizing::new(format!("AUTH PLAIN {}", STANDARD.encode(both.as_bytes())));
            self.ask(&line).await?
        } else if self.offers_login("LOGIN") {
            self.ask("AUTH LOGIN").await?;
            self.ask(&STANDARD.encode(login.user.as_bytes())).await?;
            let password = Zeroizing::new(STANDARD.encode(login.password.as_bytes()));
            self.ask(&password).await?
        } else {
            return Err(Trouble::Passing(
                "the server offers no way to log in that is known here (PLAIN, LOGIN)".to_owned(),
            ));
        };
        if answer.is_yes() { Ok(()) } else { Err(answer.trouble("to let us in")) }
    }

    /// Asks something that belongs to a letter.
    async fn asked(&mut self, line: &str, what: &str) -> Result<(), Trouble> {
        let answer = self.ask(line).await?;
        if answer.is_yes() { Ok(()) } else { Err(answer.refusal(what)) }
    }

    async fn ask(&mut self, line: &str) -> Result<Answer, Trouble> {
        self.write(Zeroizing::new(format!("{line}\r\n")).as_bytes()).await?;
        self.answer().await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let written = async {
            self.line.write_all(bytes).await?;
            self.line.flush().await
        };
        let written = tokio::time::timeout(PATIENCE, written).await.map_err(|_| too_slow())?;
        written.map_err(Trouble::passing)
    }

    async fn answer(&mut self) -> Result<Answer, Trouble> {
        tokio::time::timeout(PATIENCE, self.read_answer()).await.map_err(|_| too_slow())?
    }

    async fn read_answer(&mut self) -> Result<Answer, Trouble> {
        loop {
            if let Some((answer, used)) = parse(&self.unread)? {
                self.unread.drain(..used);
                return Ok(answer);
            }
            if self.unread.len() > MOST_ANSWER_BYTES {
                return Err(Trouble::Passing("the server says too much".to_owned()));
            }
            let mut chunk = [0; 1_024];
            let read = self.line.read(&mut chunk).await.map_err(Trouble::passing)?;
            if read == 0 {
                return Err(Trouble::Passing("the server hung up".to_owned()));
            }
            self.unread.extend_from_slice(&chunk[..read]);
        }
    }
}

fn too_slow() -> Trouble {
    Trouble::Passing(format!("the server did not answer in {} s", PATIENCE.as_secs()))
}

/// A whole answer at the beginning of the bytes, and how many of them it is: `250-…` lines and a last `250 …`.
fn parse(bytes: &[u8]) -> Result<Option<(Answer, usize)>, Trouble> {
    let (mut lines, mut at) = (Vec::new(), 0);
    while let Some(end) = bytes[at..].windows(2).position(|pair| pair == b"\r\n") {
        let line = &bytes[at..at + end];
        at += end + 2;
        let no_answer = || Trouble::Passing("the server does not speak SMTP".to_owned());
        let (code, rest) = line.split_at_checked(3).ok_or_else(no_answer)?;
        let code: u16 = std::str::from_utf8(code).ok().and_then(|code| code.parse().ok()).ok_or_else(no_answer)?;
        lines.push(String::from_utf8_lossy(rest.get(1..).unwrap_or_default()).into_owned());
        match rest.first() {
            Some(b'-') => {}
            Some(b' ') | None => return Ok(Some((Answer { code, lines }, at))),
            Some(_) => return Err(no_answer()),
        }
    }
    Ok(None)
}

/// The letter with an end that nothing in it can be taken for (RFC 5321, 4.5.2).
fn stuffed(letter: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(letter.len() + 64);
    for line in letter.split_inclusive(|byte| *byte == b'\n') {
        if line.first() == Some(&b'.') {
            out.push(b'.');
        }
        out.extend_from_slice(line);
    }
    if !out.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_however_it_is_cut_and_what_is_none_is_not() {
        let whole = b"250-mail.example\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN\r\n220 more";
        for cut in 0..whole.len() - 8 {
            assert_eq!(parse(&whole[..cut]).unwrap(), None, "{cut}");
        }
        let (answer, used) = parse(whole).unwrap().unwrap();
        assert_eq!((answer.code, answer.lines.len(), used), (250, 3, whole.len() - 8));
        for bad in [&b"hello\r\n"[..], b"2\r\n", b"25x ok\r\n", b"250!ok\r\n", b"SSH-2.0-x\r\n"] {
            assert!(parse(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn r5_no_line_of_a_letter_ends_it() {
        let hidden = stuffed(b"a\r\n.\r\nMAIL FROM:<x@y>\r\n..b\r\n.");
        assert_eq!(hidden, b"a\r\n..\r\nMAIL FROM:<x@y>\r\n...b\r\n..\r\n.\r\n");
    }

    #[test]
    fn b12_without_tls_letters_are_handed_to_this_machine_only() {
        let server = |place: &str, security| {
            let to = Authority::with_default_port(place, 25).unwrap();
            Server::new(to, security, None, Dialer::new(None, vec![]).unwrap())
        };
        assert!(server("127.0.0.1", Security::None).is_ok() && server("[::1]", Security::None).is_ok());
        for elsewhere in ["localhost", "10.0.0.1", "mail.example"] {
            assert!(server(elsewhere, Security::None).is_err(), "{elsewhere}");
            assert!(server(elsewhere, Security::StartTls).is_ok());
        }
    }

    #[test]
    fn b12_a_password_is_never_shown() {
        let login = Login::new("ada".to_owned(), Zeroizing::new("canary".to_owned()));
        assert!(!format!("{login:?}").contains("canary"));
    }
}
