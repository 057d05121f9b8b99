//! What one recipient is owed: what they are to be told of, the message that they may have got already, and when they were told last. Pure.
//!
//! It is written down before anything is sent and after it was, so that a restart neither repeats nor forgets. It is bounded: whoever takes
//! nothing for long is told of the newest one by one, and of how many older ones there were; between which entries those stand is kept, so
//! that they can be looked for when of the newest nothing is left to tell.

use std::collections::BTreeSet;

use placet_domain::digest::Digest;
use placet_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// More than anybody reads in one message.
const MOST_OWED: usize = 100;
/// A message that may have been taken, though nobody said so, is sent so often and no more.
const MOST_UNSURE: u32 = 2;

/// What one recipient is owed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Debt {
    /// Entries that no message is about yet.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    waiting: BTreeSet<u64>,
    /// Older ones, which are only counted.
    #[serde(default, skip_serializing_if = "Folded::is_none")]
    folded: Folded,
    /// The message that was begun, until it is known what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<Begun>,
    /// Entries that messages were about which are over, the newest of them: they are not owed again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    had: BTreeSet<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told_at: Option<Timestamp>,
}

/// A message on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Begun {
    pub(crate) id: Digest,
    seqs: BTreeSet<u64>,
    /// Older ones, which it only counts.
    #[serde(default, skip_serializing_if = "Folded::is_none")]
    pub(crate) folded: Folded,
    /// How often it was sent whole and not answered.
    #[serde(default, skip_serializing_if = "was_answered")]
    pub(crate) unsure: u32,
}

/// Entries that are only counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Folded {
    pub(crate) count: u64,
    /// Between these they stand, both included, among others.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Folded {
    const fn one(seq: u64) -> Self {
        Self { count: 1, first: seq, last: seq }
    }

    const fn is_none(&self) -> bool {
        self.count == 0
    }

    fn join(&mut self, other: Self) {
        *self = match (self.is_none(), other.is_none()) {
            (_, true) => *self,
            (true, false) => other,
            (false, false) => Self {
                count: self.count + other.count,
                first: self.first.min(other.first),
                last: self.last.max(other.last),
            },
        };
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn was_answered(unsure: &u32) -> bool {
    *unsure == 0
}

/// What becomes of a message that nobody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    SentAgain,
    GivenUp,
}

impl Debt {
    pub(crate) const fn told_at(&self) -> Option<Timestamp> {
        self.told_at
    }

    pub(crate) fn is_owed(&self) -> bool {
        self.begun.is_some() || !self.waiting.is_empty()
    }

    /// What the next message is about: of one that may have arrived just what it was about before.
    pub(crate) fn next(&self) -> &BTreeSet<u64> {
        self.begun.as_ref().map_or(&self.waiting, |begun| &begun.seqs)
    }

    /// Unless they had it, or it is on its way.
    pub(crate) fn owe(&mut self, seq: u64) {
        let is_on_its_way = self.begun.as_ref().is_some_and(|begun| begun.seqs.contains(&seq));
        if !is_on_its_way && !self.had.contains(&seq) {
            self.waiting.insert(seq);
            self.fold();
        }
    }

    fn fold(&mut self) {
        while self.waiting.len() > MOST_OWED
            && let Some(oldest) = self.waiting.pop_first()
        {
            self.folded.join(Folded::one(oldest));
        }
    }

    /// Of what the next message is about, keeps what is still worth telling; if that is nothing, there is no message.
    pub(crate) fn keep(&mut self, is_worth_telling: impl Fn(u64) -> bool) {
        let Some(begun) = &mut self.begun else {
            return self.waiting.retain(|seq| is_worth_telling(*seq));
        };
        begun.seqs.retain(|seq| is_worth_telling(*seq));
        if begun.seqs.is_empty() {
            self.folded.join(begun.folded);
            self.begun = None;
        }
    }

    /// What is only counted, where there is nothing else: how many of those still wait has to be looked up, since a number alone is no news.
    pub(crate) fn only_counted(&self) -> Option<Folded> {
        (!self.is_owed() && !self.folded.is_none()).then_some(self.folded)
    }

    /// Owes again these of what was only counted.
    pub(crate) fn unfold(&mut self, seqs: impl IntoIterator<Item = u64>) {
        self.folded = Folded::default();
        seqs.into_iter().for_each(|seq| self.owe(seq));
    }

    /// Begins a message of everything that waits, or the one again that may have arrived.
    pub(crate) fn begin(&mut self, id: impl FnOnce(&BTreeSet<u64>) -> Digest) -> &Begun {
        let (waiting, folded) = (&mut self.waiting, &mut self.folded);
        self.begun.get_or_insert_with(|| {
            let seqs = std::mem::take(waiting);
            Begun { id: id(&seqs), seqs, folded: std::mem::take(folded), unsure: 0 }
        })
    }

    pub(crate) fn taken(&mut self, now: Timestamp) {
        self.told_at = Some(now);
        self.give_up();
    }

    /// The message is over, and what it was about with it.
    pub(crate) fn give_up(&mut self) {
        self.had.extend(self.begun.take().into_iter().flat_map(|begun| begun.seqs));
        while self.had.len() > MOST_OWED {
            self.had.pop_first();
        }
    }

    /// It did not arrive: the next message is about this and what came meanwhile.
    pub(crate) fn not_taken(&mut self) {
        let Some(begun) = self.begun.take() else { return };
        self.waiting.extend(begun.seqs);
        self.folded.join(begun.folded);
        self.fold();
    }

    /// It may have arrived.
    pub(crate) fn unanswered(&mut self) -> Unanswered {
        let Some(begun) = &mut self.begun else { return Unanswered::GivenUp };
        begun.unsure += 1;
        if begun.unsure < MOST_UNSURE {
            return Unanswered::SentAgain;
        }
        self.give_up();
        Unanswered::GivenUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_769_851_800_000);

    fn owing(seqs: impl IntoIterator<Item = u64>) -> Debt {
        let mut debt = Debt::default();
        seqs.into_iter().for_each(|seq| debt.owe(seq));
        debt
    }

    fn id(seqs: &BTreeSet<u64>) -> Digest {
        Digest::of(format!("{seqs:?}").as_bytes())
    }

    fn next(debt: &Debt) -> Vec<u64> {
        debt.next().iter().copied().collect()
    }

    #[test]
    fn b12_ten_thousand_that_nobody_takes_are_the_newest_hundred_and_a_number() {
        let mut debt = owing(0..10_000);
        assert_eq!(next(&debt), (9_900..10_000).collect::<Vec<_>>());
        assert_eq!(debt.begin(id).folded, Folded { count: 9_900, first: 0, last: 9_899 });
        // It comes back again and again while more comes: the state stays as small.
        for seq in 10_000..20_000 {
            debt.owe(seq);
            debt.not_taken();
            debt.begin(id);
        }
        assert_eq!((debt.next().len(), debt.begin(id).folded.count), (100, 19_900));
        assert!(spelled_length(&debt) < 1_000);
    }

    #[test]
    fn b12_what_came_back_is_told_with_what_came_meanwhile_and_what_may_have_arrived_alone_and_under_its_id() {
        let mut debt = owing([1, 2]);
        let first = debt.begin(id).id;
        debt.owe(3);
        debt.not_taken();
        assert_eq!(next(&debt), [1, 2, 3]);
        assert_ne!(debt.begin(id).id, first, "another message");
        let mut debt = owing([1, 2]);
        debt.begin(id);
        debt.owe(3);
        assert_eq!(debt.unanswered(), Unanswered::SentAgain);
        debt.keep(|seq| seq != 2);
        assert_eq!((next(&debt), debt.begin(id).id), (vec![1], first), "the same, without what was decided");
        debt.taken(NOW);
        assert_eq!((next(&debt), debt.told_at()), (vec![3], Some(NOW)));
    }

    #[test]
    fn b12_what_may_have_arrived_is_not_sent_thrice() {
        let mut debt = owing([1]);
        debt.begin(id);
        assert_eq!(debt.unanswered(), Unanswered::SentAgain);
        debt.owe(1);
        assert_eq!(debt.unanswered(), Unanswered::GivenUp);
        assert!(!debt.is_owed());
    }

    #[test]
    fn b12_where_only_a_number_is_left_it_is_looked_up_what_of_it_still_waits() {
        let counted = Folded { count: 50, first: 0, last: 49 };
        // Decided before a message was begun, and after one was that did not arrive.
        let mut begun = owing(0..150);
        begun.begin(id);
        for mut debt in [owing(0..150), begun] {
            assert_eq!(debt.only_counted(), None, "there is a message that says it");
            debt.keep(|_| false);
            assert_eq!((debt.is_owed(), debt.only_counted()), (false, Some(counted)));
            debt.unfold([3, 7]);
            assert_eq!((next(&debt), debt.only_counted()), (vec![3, 7], None));
            debt.keep(|_| false);
            assert_eq!(debt, Debt::default(), "what is over is not owed");
        }
        let mut many = owing(0..1_000);
        many.keep(|_| false);
        many.unfold(0..900);
        assert_eq!((next(&many).len(), many.begin(id).folded.count), (100, 800));
    }

    #[test]
    fn b12_what_somebody_had_is_not_owed_again() {
        let mut debt = owing([1, 2]);
        debt.begin(id);
        debt.taken(NOW);
        debt.owe(2);
        debt.owe(3);
        assert_eq!(next(&debt), [3]);
        debt.begin(id);
        debt.give_up();
        debt.owe(3);
        assert!(!debt.is_owed(), "nor what was given up");
        for seq in 10..1_000 {
            debt.owe(seq);
            debt.begin(id);
            debt.taken(NOW);
        }
        assert!(spelled_length(&debt) < 1_000, "the newest of it");
    }

    fn spelled_length(debt: &Debt) -> usize {
        serde_json::to_string(debt).unwrap().len()
    }

    #[test]
    fn b12_what_is_written_down_is_what_is_read_and_a_crash_counts_as_nothing() {
        let mut debt = owing(0..150);
        debt.begin(id);
        debt.owe(200);
        let mut read: Debt = serde_json::from_str(&serde_json::to_string(&debt).unwrap()).unwrap();
        assert_eq!(read, debt);
        assert_eq!(read.begin(id), debt.begin(id), "the same message, and it may be sent twice more");
    }
}
