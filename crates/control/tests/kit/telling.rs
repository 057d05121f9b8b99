//! Routes by which people are told what waits for them, for scenarios.

use std::collections::BTreeSet;
use std::time::Duration;

use placet_control::{
    Backoff, Channel, Chat, Mail, MailAddress, Pace, QuietHours, Route, RouteParts, Routes, Schedule, Server,
};
use placet_dial::Dialer;
use placet_domain::notice::NoticeKind;
use placet_lang::Lang;
use serde_json::Value;

use crate::person::Person;
use crate::scenario::{PATIENCE, Scenario};

/// At once: scenarios move the clock themselves.
pub(crate) const AT_ONCE: Pace = Pace::Soon { gather_ms: 0, rest_ms: 0 };

pub(crate) fn parts(name: &str, channel: Channel) -> RouteParts {
    RouteParts {
        name: name.parse().unwrap(),
        what: NoticeKind::ALL.iter().copied().collect(),
        tiers: BTreeSet::new(),
        projects: BTreeSet::new(),
        schedule: Schedule { pace: AT_ONCE, quiet: None },
        lang: Lang::En,
        channel,
    }
}

/// A route to a room, of everything and at once unless a scenario says otherwise.
pub(crate) fn to_room(name: &str, room: &crate::room::Room) -> RouteParts {
    to_url(name, &room.url)
}

pub(crate) fn to_url(name: &str, url: &str) -> RouteParts {
    let chat = Chat::new(url.parse().unwrap(), Dialer::new(None, vec![]).unwrap());
    parts(name, Channel::Chat(chat))
}

/// A route by mail to these mailboxes, whoever reads them.
pub(crate) fn to_mailboxes(name: &str, server: Server, mailboxes: &[&str]) -> RouteParts {
    let all = mailboxes.iter().map(|address| address.parse().unwrap()).collect();
    let mail = Mail::new(server, "placet@example.org".parse().unwrap(), all, [].into());
    parts(name, Channel::Mail(mail))
}

/// A route by mail to these people, by the names of their identities.
pub(crate) fn to_people(name: &str, server: Server, people: &[&str]) -> RouteParts {
    let address = |name: &&str| ((*name).to_owned(), format!("{name}@example.org").parse::<MailAddress>().unwrap());
    let mail = Mail::new(server, "placet@example.org".parse().unwrap(), vec![], people.iter().map(address).collect());
    parts(name, Channel::Mail(mail))
}

pub(crate) fn quiet(from: &str, until: &str) -> Option<QuietHours> {
    Some(QuietHours::new(from, until, "UTC").unwrap())
}

pub(crate) fn routes(all: Vec<RouteParts>) -> Routes {
    let all = all.into_iter().map(|parts| Route::new(parts).unwrap()).collect();
    Routes::new(all).unwrap().retried(Backoff { first_ms: 5, most_ms: 20 })
}

/// A control plane that tells by these routes, with an agent at work and a reviewer.
pub(crate) async fn telling(all: Vec<RouteParts>) -> (Scenario, Person, Person) {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    app.restart_telling(routes(all)).await;
    (app, agent, reviewer)
}

/// Waits until everything that was is decided about, and somebody took all that they are owed and that is written down.
pub(crate) async fn settled(app: &Scenario, cursor: &str) {
    let size = app.size();
    let is_settled = |state: &str| {
        let debt: Value = serde_json::from_str(state).unwrap();
        debt.get("told_at").is_some() && debt.get("begun").is_none() && debt.get("waiting").is_none()
    };
    let written = async {
        loop {
            let is_read = app.store().cursor(cursor).await.unwrap() >= Some(size);
            let debts = app.store().debts(cursor).await.unwrap();
            if is_read && debts.iter().any(|(_, state)| is_settled(state)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.expect("what was told is written down");
}
