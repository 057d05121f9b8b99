//! Hands one letter to a server (RFC 5321): greeting, TLS, login, sender, recipient, letter.
//!
//! Without TLS nothing leaves this machine. A server that should speak TLS and does not offer it gets nothing, neither the password nor the
//! letter; whatever it said before TLS is forgotten, and if it says more than it was asked the conversation is over (an attacker who is in
//! between could have put it there). What it does deliberately not do: deliver by itself, keep a connection, or translate addresses.

use std::fmt;
use std::time::Duration;

use placet_dial::{Connection, Dialer};
use placet_domain::scope::{Authority, Place};
use zeroize::Zeroizing;

use super::super::channel::{Effort, Told};
use super::MailAddress;
use super::talk::{Talk, Trouble, stuffed};

/// For the answer to a whole letter. Most servers need a second; whoever needs more is asked again.
const PATIENCE_AT_FIRST: Duration = Duration::from_secs(60);
/// For the last time (RFC 5321, 4.5.3.2.6): servers that check for spam take their time. Only this mailbox waits for it.
const PATIENCE_AT_LAST: Duration = Duration::from_secs(10 * 60);

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
    pub(super) user: String,
    pub(super) password: Zeroizing<String>,
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
    patience_at_first: Duration,
    patience_at_last: Duration,
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
        let (patience_at_first, patience_at_last) = (PATIENCE_AT_FIRST, PATIENCE_AT_LAST);
        Ok(Self { to, security, login, dialer, patience_at_first, patience_at_last })
    }

    /// The same server, waited for that long after the whole of a letter, at first and at last.
    #[must_use]
    pub fn waited_for(self, at_first: Duration, at_last: Duration) -> Self {
        Self { patience_at_first: at_first, patience_at_last: at_last, ..self }
    }

    pub(super) async fn deliver(&self, from: &MailAddress, to: &MailAddress, letter: &[u8], effort: Effort) -> Told {
        let patience = match effort {
            Effort::First => self.patience_at_first,
            Effort::Last => self.patience_at_last,
        };
        match self.handed_over(from, to, letter, patience).await {
            Ok(()) => Told::Yes,
            Err(Trouble::Passing(why)) => Told::NotYet(why),
            Err(Trouble::Unanswered(why)) => Told::Unsure(why),
            Err(Trouble::Refused(why)) => Told::Refused(why),
        }
    }

    async fn handed_over(
        &self,
        from: &MailAddress,
        to: &MailAddress,
        letter: &[u8],
        patience: Duration,
    ) -> Result<(), Trouble> {
        let mut talk = self.greeted().await?;
        talk.log_in(self.login.as_ref()).await?;
        hand_over(&mut talk, from, to, letter, patience).await?;
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
        if !ready.is_yes() || talk.has_more() {
            return Err(ready.trouble("to begin TLS"));
        }
        let mut talk = Talk::over(self.secured(talk.into_line()).await?);
        talk.hello().await?;
        Ok(talk)
    }

    async fn secured(&self, line: Connection) -> Result<Connection, Trouble> {
        self.dialer.secure(line, self.to.place()).await.map_err(Trouble::passing)
    }
}

async fn hand_over(
    talk: &mut Talk,
    from: &MailAddress,
    to: &MailAddress,
    letter: &[u8],
    patience: Duration,
) -> Result<(), Trouble> {
    let sender = talk.ask(&format!("MAIL FROM:<{from}>")).await?;
    if !sender.is_yes() {
        // The sender is ours and the same for everybody: a no to it says nothing of this letter, and somebody can mend it.
        return Err(sender.trouble("to take letters from our sender"));
    }
    talk.asked(&format!("RCPT TO:<{to}>"), "the recipient").await?;
    let begin = talk.ask("DATA").await?;
    if begin.code != 354 {
        return Err(begin.refusal("the letter"));
    }
    talk.write(&stuffed(letter)).await?;
    let end = talk.answer_to_letter(patience).await?;
    if end.is_yes() { Ok(()) } else { Err(end.refusal("the letter")) }
}

#[cfg(test)]
mod tests {
    use super::super::talk::tests::server as played;
    use super::*;

    #[tokio::test]
    async fn b12_a_no_to_the_sender_is_trouble_of_ours_and_one_to_the_recipient_or_the_letter_is_for_good() {
        let (from, to) = ("placet@example.org".parse().unwrap(), "ada@example.org".parse().unwrap());
        for (answers, is_for_good) in [
            (&["550 not you"][..], Some(false)),
            (&["530 log in first"], Some(false)),
            (&["250 ok", "550 no such mailbox"], Some(true)),
            (&["250 ok", "452 full"], Some(false)),
            (&["250 ok", "250 ok", "354 go on", "451 later"], Some(false)),
            (&["250 ok", "250 ok", "354 go on", "554 spam"], Some(true)),
            (&["250 ok", "250 ok", "354 go on", "250 taken"], None),
        ] {
            let (mut talk, _heard) = played(answers);
            let trouble = hand_over(&mut talk, &from, &to, b"letter\r\n", PATIENCE_AT_FIRST).await.err();
            assert!(!matches!(trouble, Some(Trouble::Unanswered(_))), "{answers:?}: {trouble:?}");
            let for_good = trouble.as_ref().map(|trouble| matches!(trouble, Trouble::Refused(_)));
            assert_eq!(for_good, is_for_good, "{answers:?}: {trouble:?}");
        }
    }

    #[tokio::test]
    async fn b12_only_a_whole_letter_that_nothing_was_said_to_may_have_been_taken() {
        let (from, to) = ("placet@example.org".parse().unwrap(), "ada@example.org".parse().unwrap());
        for said_last in [&[][..], &["what?"]] {
            let (mut talk, _heard) = played(&[&["250 ok", "250 ok", "354 go on"], said_last].concat());
            let handed = hand_over(&mut talk, &from, &to, b"letter\r\n", Duration::from_millis(50)).await;
            assert!(matches!(handed, Err(Trouble::Unanswered(_))), "{said_last:?}: {handed:?}");
        }
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
