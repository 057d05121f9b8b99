//! Questions to authenticators: made here, recognised here, and each answered once.
//!
//! Nothing is kept of a question until it is answered: its nonce carries what shows that it is ours, made a moment ago, for this purpose
//! and this visit. So nobody can fill a memory by asking. What is kept is which were answered, until they are too old to count anyway. A
//! restart forgets the key, and with it every question that is open.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_domain::digest::Digest;
use placet_domain::passkey::{Encoded, Purpose, Question};
use placet_domain::refusal::PasskeyFlaw;
use placet_domain::time::Timestamp;
use sha2::Sha256;

const RANDOM: usize = 16;
/// More answers in a few minutes than people have hands; then everybody waits a moment.
const MOST_ANSWERED: usize = 10_000;

pub(super) struct Questions {
    key: [u8; 32],
    /// Until when the answer to a nonce could count once more.
    answered: Mutex<HashMap<Vec<u8>, Timestamp>>,
}

impl Default for Questions {
    fn default() -> Self {
        Self { key: random(), answered: Mutex::default() }
    }
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Questions").finish_non_exhaustive()
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

impl Questions {
    /// A new question, for this visit alone; for whoever comes first, where there is none yet.
    pub(super) fn ask(&self, purpose: Purpose, visit: Option<Digest>, now: Timestamp) -> Question {
        let random: [u8; RANDOM] = random();
        let nonce = [&random[..], &self.mark(&purpose, visit, now, &random)].concat();
        Question { purpose, asked_at: now, nonce: encoded(&nonce) }
    }

    /// The question that somebody says they were asked, if we asked it.
    pub(super) fn recall(
        &self,
        question: Question,
        visit: Option<Digest>,
        now: Timestamp,
    ) -> Result<Question, PasskeyFlaw> {
        let (random, mark) = question.nonce.as_bytes().split_at_checked(RANDOM).ok_or(PasskeyFlaw::OtherChallenge)?;
        let known = self.mark(&question.purpose, visit, question.asked_at, random);
        if !bool::from(subtle::ConstantTimeEq::ct_eq(&known[..], mark)) {
            return Err(PasskeyFlaw::OtherChallenge);
        }
        if question.is_open(now) { Ok(question) } else { Err(PasskeyFlaw::Late) }
    }

    /// Takes an answer that is one; a second time it is none.
    pub(super) fn answer(&self, question: &Question, now: Timestamp) -> Result<(), PasskeyFlaw> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, until| *until >= now);
        if answered.len() >= MOST_ANSWERED {
            return Err(PasskeyFlaw::Late);
        }
        let until = question.asked_at.plus_ms(placet_domain::passkey::LONGEST_QUESTION_MS);
        let before = answered.insert(question.nonce.as_bytes().to_vec(), until);
        if before.is_none() { Ok(()) } else { Err(PasskeyFlaw::Replayed) }
    }

    /// What only we can write beside a random number.
    fn mark(&self, purpose: &Purpose, visit: Option<Digest>, asked_at: Timestamp, random: &[u8]) -> [u8; 32] {
        let bare = Question { purpose: purpose.clone(), asked_at, nonce: encoded(random) };
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("keys of any length are taken");
        mac.update(bare.challenge().as_bytes());
        if let Some(visit) = visit {
            mac.update(visit.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

fn encoded(bytes: &[u8]) -> Encoded {
    Encoded::new(bytes.to_vec()).expect("a nonce is short")
}

#[cfg(test)]
mod tests {
    use placet_domain::id::IdentityId;
    use placet_domain::passkey::LONGEST_QUESTION_MS;

    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    #[test]
    fn t8_only_our_own_questions_are_known_each_for_its_visit_its_purpose_and_its_time() {
        let (ours, others) = (Questions::default(), Questions::default());
        let visit = Some(Digest::of(b"visit"));
        let asked = ours.ask(Purpose::Enter, visit, NOW);
        assert!(ours.recall(asked.clone(), visit, NOW).is_ok());
        let unknown = Err(PasskeyFlaw::OtherChallenge);
        assert_eq!(others.recall(asked.clone(), visit, NOW), unknown, "of another control plane");
        assert_eq!(ours.recall(asked.clone(), None, NOW), unknown, "of no visit");
        assert_eq!(ours.recall(asked.clone(), Some(Digest::of(b"other")), NOW), unknown, "of another visit");
        let person = IdentityId::from_bytes([1; 16]);
        let other = Question { purpose: Purpose::Register { person }, ..asked.clone() };
        assert_eq!(ours.recall(other, visit, NOW), unknown, "for something else");
        let younger = Question { asked_at: NOW.plus_ms(1), ..asked.clone() };
        assert_eq!(ours.recall(younger, visit, NOW.plus_ms(1)), unknown, "made younger");
        let late = NOW.plus_ms(LONGEST_QUESTION_MS + 1);
        assert_eq!(ours.recall(asked, visit, late), Err(PasskeyFlaw::Late));
    }

    #[test]
    fn t8_a_question_is_answered_once() {
        let questions = Questions::default();
        let asked = questions.ask(Purpose::Enter, None, NOW);
        assert_eq!(questions.answer(&asked, NOW), Ok(()));
        assert_eq!(questions.answer(&asked, NOW), Err(PasskeyFlaw::Replayed));
        assert_ne!(questions.ask(Purpose::Enter, None, NOW).nonce, asked.nonce);
    }
}
