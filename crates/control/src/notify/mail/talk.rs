//! A conversation with a server of mail: what is asked, and what its answers mean. Answers are bounded in size and in time.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_dial::Connection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use zeroize::Zeroizing;

use super::smtp::Login;

/// For each answer but the last.
const PATIENCE: Duration = Duration::from_secs(60);
/// An answer is a few lines. Whoever sends more is no server of mail.
const MOST_ANSWER_BYTES: usize = 16 << 10;

/// Why a letter was not handed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Something that may be otherwise later.
    Passing(String),
    /// The whole letter was sent, and nothing was said to it.
    Unanswered(String),
    /// This letter, for good.
    Refused(String),
}

impl Trouble {
    pub(super) fn passing(error: impl fmt::Display) -> Self {
        Self::Passing(error.to_string())
    }

    /// The same after the end of a letter: whatever went wrong, it may have been taken.
    fn after_letter(self) -> Self {
        match self {
            Self::Passing(why) | Self::Unanswered(why) => Self::Unanswered(why),
            Self::Refused(why) => Self::Refused(why),
        }
    }
}

/// What a server says to one thing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: u16,
    lines: Vec<String>,
}

impl Answer {
    pub(super) const fn is_yes(&self) -> bool {
        matches!(self.code, 200..300)
    }

    /// A no to something that has nothing to do with this letter: it may be otherwise later.
    pub(super) fn trouble(&self, what: &str) -> Trouble {
        Trouble::Passing(format!("the server answered {} when it was asked {what}", self.code))
    }

    /// A no to a part of this letter: for good if it begins with a five.
    pub(super) fn refusal(&self, what: &str) -> Trouble {
        let why = format!("the server answered {} to {what}", self.code);
        if matches!(self.code, 500..600) { Trouble::Refused(why) } else { Trouble::Passing(why) }
    }
}

/// One conversation.
pub(super) struct Talk {
    line: Connection,
    unread: Vec<u8>,
    offered: Vec<String>,
}

impl Talk {
    pub(super) fn over(line: Connection) -> Self {
        Self { line, unread: Vec::new(), offered: Vec::new() }
    }

    /// Whether it said more than it was asked.
    pub(super) const fn has_more(&self) -> bool {
        !self.unread.is_empty()
    }

    pub(super) fn into_line(self) -> Connection {
        self.line
    }

    /// Says who calls, and remembers what is offered. The name is not checked by anybody and tells nothing of this machine.
    pub(super) async fn hello(&mut self) -> Result<(), Trouble> {
        let answer = self.ask("EHLO placet.invalid").await?;
        if !answer.is_yes() {
            return Err(answer.trouble("what it can"));
        }
        self.offered = answer.lines.iter().skip(1).map(|line| line.to_ascii_uppercase()).collect();
        Ok(())
    }

    pub(super) fn offers(&self, what: &str) -> bool {
        self.offered.iter().any(|line| line.split([' ', '=']).next() == Some(what))
    }

    fn offers_login(&self, way: &str) -> bool {
        let mut logins = self.offered.iter().filter(|line| line.split([' ', '=']).next() == Some("AUTH"));
        logins.any(|line| line.split([' ', '=']).skip(1).any(|known| known == way))
    }

    pub(super) async fn log_in(&mut self, login: Option<&Login>) -> Result<(), Trouble> {
        let Some(login) = login else { return Ok(()) };
        let answer = if self.offers_login("PLAIN") {
            let both = Zeroizing::new(format!("\0{}\0{}", login.user, login.password.as_str()));
            let line = Zeroizing::new(format!("AUTH PLAIN {}", STANDARD.encode(both.as_bytes())));
            self.ask(&line).await?
        } else if self.offers_login("LOGIN") {
            self.asked_for_more("AUTH LOGIN").await?;
            self.asked_for_more(&STANDARD.encode(login.user.as_bytes())).await?;
            let password = Zeroizing::new(STANDARD.encode(login.password.as_bytes()));
            self.ask(&password).await?
        } else {
            return Err(Trouble::Passing(
                "the server offers no way to log in that is known here (PLAIN, LOGIN)".to_owned(),
            ));
        };
        if answer.is_yes() { Ok(()) } else { Err(answer.trouble("to let us in")) }
    }

    /// Says a part of a login. Whoever does not ask for the next part does not get it: the last one is the password.
    async fn asked_for_more(&mut self, line: &str) -> Result<(), Trouble> {
        let answer = self.ask(line).await?;
        if answer.code == 334 { Ok(()) } else { Err(answer.trouble("to let us in")) }
    }

    /// Asks something that belongs to a letter.
    pub(super) async fn asked(&mut self, line: &str, what: &str) -> Result<(), Trouble> {
        let answer = self.ask(line).await?;
        if answer.is_yes() { Ok(()) } else { Err(answer.refusal(what)) }
    }

    pub(super) async fn ask(&mut self, line: &str) -> Result<Answer, Trouble> {
        self.write(Zeroizing::new(format!("{line}\r\n")).as_bytes()).await?;
        self.answer().await
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let written = async {
            self.line.write_all(bytes).await?;
            self.line.flush().await
        };
        let written = tokio::time::timeout(PATIENCE, written).await.map_err(|_| too_slow(PATIENCE))?;
        written.map_err(Trouble::passing)
    }

    pub(super) async fn answer(&mut self) -> Result<Answer, Trouble> {
        self.answer_within(PATIENCE).await
    }

    pub(super) async fn answer_to_letter(&mut self, patience: Duration) -> Result<Answer, Trouble> {
        self.answer_within(patience).await.map_err(Trouble::after_letter)
    }

    async fn answer_within(&mut self, patience: Duration) -> Result<Answer, Trouble> {
        tokio::time::timeout(patience, self.read_answer()).await.map_err(|_| too_slow(patience))?
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

fn too_slow(patience: Duration) -> Trouble {
    Trouble::Passing(format!("the server did not answer in {} s", patience.as_secs()))
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
pub(super) fn stuffed(letter: &[u8]) -> Vec<u8> {
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
pub(super) mod tests {
    use tokio::task::JoinHandle;

    use super::*;

    /// A server that answers whatever it is told with one line after the other, and then what it was told.
    pub(in super::super) fn server(answers: &[&str]) -> (Talk, JoinHandle<String>) {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let answers: Vec<String> = answers.iter().map(|answer| format!("{answer}\r\n")).collect();
        let heard = tokio::spawn(async move {
            let (mut heard, mut chunk) = (Vec::new(), [0; 1 << 10]);
            for answer in answers {
                let read = theirs.read(&mut chunk).await.unwrap();
                if read == 0 {
                    break;
                }
                heard.extend_from_slice(&chunk[..read]);
                theirs.write_all(answer.as_bytes()).await.unwrap();
            }
            theirs.read_to_end(&mut heard).await.unwrap();
            String::from_utf8(heard).unwrap()
        });
        (Talk::over(Box::new(ours)), heard)
    }

    #[tokio::test]
    async fn b12_a_password_is_said_only_to_whoever_asks_for_it() {
        let login = Login::new("ada".to_owned(), Zeroizing::new("canary".to_owned()));
        for (answers, is_in, said) in [
            (&["535 no"][..], false, 1),
            (&["235 welcome", "235 welcome", "235 welcome"], false, 1),
            (&["334 VXNlcm5hbWU6", "535 no"], false, 2),
            (&["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6", "235 welcome"], true, 3),
        ] {
            let (mut talk, heard) = server(answers);
            talk.offered = vec!["AUTH LOGIN".to_owned()];
            let outcome = talk.log_in(Some(&login)).await;
            drop(talk);
            let heard = heard.await.unwrap();
            assert_eq!(outcome.is_ok(), is_in, "{answers:?}: {outcome:?}");
            assert_eq!(heard.lines().count(), said, "{answers:?}: {heard}");
            assert_eq!(heard.contains(&STANDARD.encode("canary")), is_in, "{answers:?}: {heard}");
        }
    }

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
}
