//! Where a route leads: a chat, a receiver of signed messages, or mailboxes.

use std::collections::BTreeMap;

use super::{Chat, Mail, MailAddress, Message, SignedHook};

/// How sending one message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Yes,
    /// Not this time; what still waits then is told later.
    NotYet(String),
    /// All of it was sent and nothing was answered: it may have arrived.
    Unsure(String),
    /// The receiver does not want this one, and would not want it later either.
    Refused(String),
}

/// How long a receiver is waited for. Whoever said nothing to the whole of a message is asked once more, and then for longer: it is not
/// sent a third time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    First,
    Last,
}

/// A chat, a receiver of signed messages, or mailboxes.
#[derive(Debug, Clone)]
pub enum Channel {
    Chat(Chat),
    Hook(SignedHook),
    Mail(Mail),
}

/// Who is told: everybody who reads a channel, or one person and only what is theirs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Recipient {
    /// The chat itself, or the receiver of signed messages.
    Room,
    /// A mailbox of many.
    List(MailAddress),
    /// Somebody; the key is the id of their identity.
    Person { key: String, name: String, address: MailAddress },
}

impl Recipient {
    /// What it is called in ids of messages and in what is written down: no address, which is personal, and no name, which others may have.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Room => "room".to_owned(),
            Self::List(address) => format!("list {}", placet_domain::digest::Digest::of(address.as_str().as_bytes())),
            Self::Person { key, .. } => key.clone(),
        }
    }

    /// What it is called where somebody looks whether messages arrive.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Room | Self::List(_) => self.key(),
            Self::Person { name, .. } => name.clone(),
        }
    }
}

impl Channel {
    /// As `placet notify check` shows it.
    pub fn shown(&self) -> String {
        match self {
            Self::Chat(chat) => format!("chat {}", chat.address()),
            Self::Hook(hook) => format!("webhook {}", hook.address()),
            Self::Mail(mail) => {
                format!("mail by {} to {} lists and {} people", mail.server(), mail.to.len(), mail.people.len())
            }
        }
    }

    /// Those who are told everything that the route is told.
    pub(crate) fn rooms(&self) -> Vec<Recipient> {
        match self {
            Self::Chat(_) | Self::Hook(_) => vec![Recipient::Room],
            Self::Mail(mail) => mail.to.iter().cloned().map(Recipient::List).collect(),
        }
    }

    /// Those who are told what is theirs.
    pub(crate) fn people(&self) -> BTreeMap<String, MailAddress> {
        match self {
            Self::Chat(_) | Self::Hook(_) => BTreeMap::new(),
            Self::Mail(mail) => mail.people.clone(),
        }
    }

    pub(crate) async fn send(&self, to: &Recipient, message: &Message, unix_ms: i64, effort: Effort) -> Told {
        match (self, to) {
            (Self::Chat(chat), _) => chat.send(message).await,
            (Self::Hook(hook), _) => hook.send(message, unix_ms).await,
            (Self::Mail(mail), Recipient::List(address) | Recipient::Person { address, .. }) => {
                mail.send(address, message, unix_ms, effort).await
            }
            (Self::Mail(_), Recipient::Room) => Told::Refused("mail has no room".to_owned()),
        }
    }
}
