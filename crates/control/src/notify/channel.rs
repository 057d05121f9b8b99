//! Where a route leads: a chat, or mailboxes.

use std::collections::BTreeMap;

use super::{Chat, Mail, MailAddress, Message};

/// How sending one message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Yes,
    /// Not this time; what still waits then is told later.
    NotYet(String),
    /// The receiver does not want this one, and would not want it later either.
    Refused(String),
}

/// A chat, or mailboxes.
#[derive(Debug, Clone)]
pub enum Channel {
    Chat(Chat),
    Mail(Mail),
}

/// Who is told: everybody who reads a channel, or one person and only what is theirs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Recipient {
    /// The chat itself.
    Room,
    /// A mailbox of many.
    List(MailAddress),
    /// Somebody by the name of their identity.
    Person { name: String, address: MailAddress },
}

impl Recipient {
    /// What it is called in ids of messages and in logs: no address, which is personal.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Room => "room".to_owned(),
            Self::List(address) => format!("list {}", placet_domain::digest::Digest::of(address.as_str().as_bytes())),
            Self::Person { name, .. } => name.clone(),
        }
    }
}

impl Channel {
    /// As `placet notify check` shows it.
    pub fn shown(&self) -> String {
        match self {
            Self::Chat(chat) => format!("chat {}", chat.address()),
            Self::Mail(mail) => {
                format!("mail by {} to {} lists and {} people", mail.server(), mail.to.len(), mail.people.len())
            }
        }
    }

    /// Those who are told everything that the route is told.
    pub(crate) fn rooms(&self) -> Vec<Recipient> {
        match self {
            Self::Chat(_) => vec![Recipient::Room],
            Self::Mail(mail) => mail.to.iter().cloned().map(Recipient::List).collect(),
        }
    }

    /// Those who are told what is theirs.
    pub(crate) fn people(&self) -> BTreeMap<String, MailAddress> {
        match self {
            Self::Chat(_) => BTreeMap::new(),
            Self::Mail(mail) => mail.people.clone(),
        }
    }

    pub(crate) async fn send(&self, to: &Recipient, message: &Message, unix_ms: i64) -> Told {
        match (self, to) {
            (Self::Chat(chat), _) => chat.send(message).await,
            (Self::Mail(mail), Recipient::List(address) | Recipient::Person { address, .. }) => {
                mail.send(address, message, unix_ms).await
            }
            (Self::Mail(_), Recipient::Room) => Told::Refused("mail has no room".to_owned()),
        }
    }
}
