//! Passwords: hashed slowly (Argon2id), a few at a time, and tried not too often. None is ever kept, logged or told.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier};
use placet_domain::id::IdentityId;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

/// Each takes 19 MiB and a core for a moment: more at once would let strangers starve everybody.
const AT_ONCE: usize = 2;
/// How often a name may be tried within [`WINDOW`]; somebody who mistypes needs fewer.
const MOST_TRIES: u32 = 5;
/// How often all names together: a few people signing in, not a list being tried.
const MOST_TRIES_OF_ALL: u32 = 60;
const WINDOW: Duration = Duration::from_secs(60);
/// More names are not remembered; then everybody waits a moment.
const MOST_NAMES: usize = 1_000;
pub(super) const SHORTEST: usize = 12;
pub(super) const LONGEST: usize = 200;

#[derive(Debug)]
pub(super) struct Passwords {
    places: Semaphore,
    tries: Mutex<Tries>,
    /// Of people who are in, each at their own: strangers who use up the tries of all keep nobody from changing theirs.
    own: Mutex<HashMap<IdentityId, Count>>,
    /// Compared with where there is nobody, so that whether there is somebody cannot be told by the time it takes.
    nobody: tokio::sync::OnceCell<String>,
}

impl Default for Passwords {
    fn default() -> Self {
        let (tries, own) = (Mutex::default(), Mutex::default());
        Self { places: Semaphore::new(AT_ONCE), tries, own, nobody: tokio::sync::OnceCell::new() }
    }
}

#[derive(Debug, Default)]
struct Tries {
    of_all: Count,
    by_name: HashMap<String, Count>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    since: Option<Instant>,
    tries: u32,
}

impl Count {
    /// Counts one more, if there is room for it in this window.
    fn one_more(&mut self, most: u32, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            *self = Self { since: Some(now), tries: 0 };
        }
        self.tries = self.tries.saturating_add(1);
        self.tries <= most
    }
}

impl Passwords {
    /// Whether this name may be tried once more now.
    pub(super) fn may_try(&self, name: &str) -> bool {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if tries.by_name.len() >= MOST_NAMES {
            tries.by_name.retain(|_, count| count.since.is_some_and(|since| now.duration_since(since) < WINDOW));
        }
        if tries.by_name.len() >= MOST_NAMES {
            return false;
        }
        // The name first: whoever tries one name for ever must not use up what everybody has together.
        let may_name = tries.by_name.entry(name.to_owned()).or_default().one_more(MOST_TRIES, now);
        may_name && tries.of_all.one_more(MOST_TRIES_OF_ALL, now)
    }

    /// Whether somebody who is in may try their own password once more now. As many are remembered as there are people.
    pub(super) fn may_try_own(&self, who: IdentityId) -> bool {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.entry(who).or_default().one_more(MOST_TRIES, Instant::now())
    }

    /// Somebody who came in starts counting anew.
    pub(super) fn came_in(&self, name: &str) {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).by_name.remove(name);
    }

    /// What to compare a password with later.
    pub(super) async fn verifier(&self, password: Zeroizing<String>) -> String {
        let _place = self.places.acquire().await;
        let made = tokio::task::spawn_blocking(move || hash(&password)).await;
        made.expect("hashing does not panic")
    }

    /// Whether it is the password; without a verifier it takes as long and is not.
    pub(super) async fn is_right(&self, password: Zeroizing<String>, verifier: Option<String>) -> bool {
        let is_somebody = verifier.is_some();
        let verifier = match verifier {
            Some(verifier) => verifier,
            None => self.nobody.get_or_init(|| self.verifier(Zeroizing::new("nobody".to_owned()))).await.clone(),
        };
        let _place = self.places.acquire().await;
        let compared = tokio::task::spawn_blocking(move || {
            PasswordVerifier::<str>::verify_password(&Argon2::default(), password.as_bytes(), &verifier).is_ok()
        });
        compared.await.unwrap_or(false) && is_somebody
    }
}

/// Argon2id with the parameters that its authors and OWASP recommend: 19 MiB, two passes.
fn hash(password: &str) -> String {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).expect("the operating system gives randomness");
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
    hash.expect("a salt of 16 bytes and a short password are within every bound").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Zeroizing<String> {
        Zeroizing::new(text.to_owned())
    }

    #[tokio::test]
    async fn t8_only_the_password_is_right_and_nobody_has_none() {
        let passwords = Passwords::default();
        let verifier = passwords.verifier(secret("correct horse battery")).await;
        assert!(verifier.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{verifier}");
        assert!(passwords.is_right(secret("correct horse battery"), Some(verifier.clone())).await);
        assert!(!passwords.is_right(secret("correct horse batterz"), Some(verifier)).await);
        assert!(!passwords.is_right(secret("nobody"), None).await, "what nobody has lets nobody in");
    }

    #[test]
    fn t8_a_name_is_tried_a_few_times_a_minute_and_others_are_not_shut_out() {
        let passwords = Passwords::default();
        assert!((0..MOST_TRIES).all(|_| passwords.may_try("ada")));
        assert!(!passwords.may_try("ada"));
        assert!(passwords.may_try("bob"));
        passwords.came_in("ada");
        assert!(passwords.may_try("ada"));
        let allowed = (0..1_000).filter(|_| passwords.may_try("eve")).count();
        assert_eq!(allowed, MOST_TRIES as usize);
        assert!(passwords.may_try("carol"), "one name alone does not shut out the others");
        assert!((0..MOST_TRIES_OF_ALL).any(|number| !passwords.may_try(&number.to_string())));
    }

    #[test]
    fn t8_strangers_who_use_up_all_tries_keep_nobody_from_changing_their_own() {
        let passwords = Passwords::default();
        let [ada, bob] = [1, 2].map(|n| IdentityId::from_bytes([n; 16]));
        assert!((0..=MOST_TRIES_OF_ALL).any(|number| !passwords.may_try(&number.to_string())));
        assert!((0..MOST_TRIES).all(|_| passwords.may_try_own(ada)));
        assert!(!passwords.may_try_own(ada), "whoever found a screen open does not guess for ever");
        assert!(passwords.may_try_own(bob));
    }
}
