//! How each route does, as far as this process knows: when somebody last took a message, who does not take any since when and why, and
//! what the last test of it came to. For the eyes of administrators; nothing is decided by it, and a restart forgets it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_domain::time::Timestamp;

use super::{Told, Trial};
use crate::webhook::HookName;

/// A test of a route rests for so long: whoever reads the channel is not to be flooded by whoever tries it.
const TEST_RESTS_MS: u64 = 60_000;

/// By route. As many as the settings name, each with its recipients.
#[derive(Debug, Default)]
pub struct Health(Mutex<BTreeMap<HookName, Standing>>);

/// How one route does.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    pub last_taken: Option<Timestamp>,
    failing: BTreeMap<String, Failing>,
    pub test: Option<Test>,
}

/// Since when somebody took nothing, and why not at last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    pub since: Timestamp,
    pub why: String,
}

/// The last test of a route.
#[derive(Debug, Clone)]
pub struct Test {
    pub begun: Timestamp,
    /// Nothing while it is under way.
    pub trials: Option<Vec<Trial>>,
}

impl Standing {
    /// How many take nothing, and whoever did so first.
    pub fn failing(&self) -> Option<(usize, &Failing)> {
        let first = self.failing.values().min_by_key(|failing| failing.since)?;
        Some((self.failing.len(), first))
    }
}

impl Health {
    fn all(&self) -> MutexGuard<'_, BTreeMap<HookName, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn of(&self, route: &HookName) -> Standing {
        self.all().get(route).cloned().unwrap_or_default()
    }

    /// How a message to somebody ended.
    pub(crate) fn told(&self, route: &HookName, to: &str, told: &Told, now: Timestamp) {
        let mut all = self.all();
        let standing = all.entry(route.clone()).or_default();
        match told {
            Told::Yes => {
                standing.last_taken = Some(now);
                standing.failing.remove(to);
            }
            Told::NotYet(why) | Told::Unsure(why) | Told::Refused(why) => {
                let since = standing.failing.get(to).map_or(now, |failing| failing.since);
                standing.failing.insert(to.to_owned(), Failing { since, why: why.clone() });
            }
        }
    }

    /// Whether a test may begin now; then it has.
    pub fn begins_test(&self, route: &HookName, now: Timestamp) -> bool {
        let mut all = self.all();
        let standing = all.entry(route.clone()).or_default();
        if standing.test.as_ref().is_some_and(|test| now < test.begun.plus_ms(TEST_RESTS_MS)) {
            return false;
        }
        standing.test = Some(Test { begun: now, trials: None });
        true
    }

    pub fn tested(&self, route: &HookName, trials: Vec<Trial>) {
        if let Some(test) = self.all().entry(route.clone()).or_default().test.as_mut() {
            test.trials = Some(trials);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_ms(seconds * 1_000)
    }

    #[test]
    fn b12_one_who_takes_nothing_is_told_since_when_until_they_take_something() {
        let (health, route) = (Health::default(), "team".parse().unwrap());
        let not_yet = |why: &str| Told::NotYet(why.to_owned());
        health.told(&route, "a", &Told::Yes, at(1));
        health.told(&route, "b", &not_yet("away"), at(2));
        health.told(&route, "b", &Told::Unsure("silent".to_owned()), at(3));
        health.told(&route, "c", &Told::Refused("no such mailbox".to_owned()), at(4));
        let standing = health.of(&route);
        let first = Failing { since: at(2), why: "silent".to_owned() };
        assert_eq!((standing.last_taken, standing.failing()), (Some(at(1)), Some((2, &first))));
        health.told(&route, "b", &Told::Yes, at(5));
        health.told(&route, "c", &Told::Yes, at(6));
        assert!(health.of(&route).failing().is_none());
        assert!(health.of(&"other".parse().unwrap()).last_taken.is_none());
    }

    #[test]
    fn b12_a_test_of_a_route_rests_for_a_minute_whoever_asks_for_it() {
        let (health, route) = (Health::default(), "team".parse().unwrap());
        assert!(health.begins_test(&route, at(0)) && !health.begins_test(&route, at(59)));
        assert!(health.begins_test(&"other".parse().unwrap(), at(1)) && health.begins_test(&route, at(60)));
    }
}
