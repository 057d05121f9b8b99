//! Questions to hosts: what would a rollback change? Asked and answered in memory: a question changes nothing, so nothing of it is
//! recorded, and one that is lost is asked again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::RunId;
use placet_wire::api::PreviewReport;
use tokio::sync::watch;

type Answer = Option<Arc<PreviewReport>>;

/// Somebody waits for an answer.
#[derive(Debug)]
struct Question {
    /// The how-many-th: who asks the same again, after it was answered, asks something else.
    serial: u64,
    answer: watch::Sender<Answer>,
}

/// The questions that wait for an answer.
#[derive(Debug)]
pub(crate) struct Previews {
    asked: Mutex<BTreeMap<(RunId, u32), Question>>,
    /// How many questions there were. It changes with every answer too.
    news: watch::Sender<u64>,
}

impl Default for Previews {
    fn default() -> Self {
        Self { asked: Mutex::default(), news: watch::Sender::new(0) }
    }
}

impl Previews {
    fn asked(&self) -> MutexGuard<'_, BTreeMap<(RunId, u32), Question>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, or joins whoever asked the same. The question stands for as long as somebody holds what is returned.
    pub(crate) fn ask(&self, run: RunId, number: u32) -> watch::Receiver<Answer> {
        let mut asked = self.asked();
        asked.retain(|_, question| question.answer.receiver_count() > 0);
        let serial = self.news.borrow().wrapping_add(1);
        let question = || Question { serial, answer: watch::Sender::new(None) };
        let answer = asked.entry((run, number)).or_insert_with(question).answer.subscribe();
        // Before anybody else can ask: no two questions have one serial number.
        self.news.send_replace(serial);
        answer
    }

    /// The snapshot of this run that somebody asks about.
    pub(crate) fn wanted_of(&self, run: RunId) -> Option<u32> {
        self.question_of(run).map(|(number, _)| number)
    }

    /// The same, and which question about it that is.
    pub(crate) fn question_of(&self, run: RunId) -> Option<(u32, u64)> {
        let asked = self.asked();
        let waits = |question: &Question| question.answer.receiver_count() > 0;
        let mut of_run = asked.range((run, 0)..=(run, u32::MAX)).filter(|(_, question)| waits(question));
        of_run.next().map(|((_, number), question)| (*number, question.serial))
    }

    /// An answer that nobody waits for any more is nobody's. Hosts hear of it: another question of the run may wait behind this one.
    pub(crate) fn answer(&self, run: RunId, report: PreviewReport) {
        if let Some(question) = self.asked().remove(&(run, report.number)) {
            question.answer.send_replace(Some(Arc::new(report)));
            self.news.send_modify(|_| {});
        }
    }

    /// Tells hosts that wait for news that there is a question, or that one was answered.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::from_uuid(uuid::Uuid::from_u128(7))
    }

    fn report(number: u32) -> PreviewReport {
        PreviewReport { number, preview: None, failed: Some("no room".to_owned()) }
    }

    #[tokio::test]
    async fn everybody_who_asked_the_same_gets_the_one_answer() {
        let previews = Previews::default();
        let mut news = previews.subscribe();
        let (mut one, mut other) = (previews.ask(run(), 3), previews.ask(run(), 3));
        assert!(news.has_changed().unwrap());
        news.mark_unchanged();
        assert_eq!(previews.wanted_of(run()), Some(3));
        previews.answer(run(), report(3));
        for asked in [&mut one, &mut other] {
            assert_eq!(asked.wait_for(Option::is_some).await.unwrap().as_ref().unwrap().number, 3);
        }
        assert_eq!(previews.wanted_of(run()), None);
    }

    #[tokio::test]
    async fn who_asks_the_same_again_asks_something_new_and_every_answer_is_news() {
        let previews = Previews::default();
        let first = previews.ask(run(), 3);
        let one = previews.question_of(run()).unwrap();
        let mut news = previews.subscribe();
        previews.answer(run(), report(3));
        assert!(news.has_changed().unwrap(), "the next question may have waited behind it");
        news.mark_unchanged();
        let second = previews.ask(run(), 3);
        let other = previews.question_of(run()).unwrap();
        assert_eq!((one.0, other.0), (3, 3));
        assert_ne!(one.1, other.1, "a host that knows the first does not know the second");
        assert!(news.has_changed().unwrap());
        drop((first, second));
    }

    #[test]
    fn a_question_that_nobody_waits_for_is_none() {
        let previews = Previews::default();
        drop(previews.ask(run(), 3));
        assert_eq!(previews.wanted_of(run()), None);
        let held = previews.ask(run(), 4);
        assert_eq!(previews.wanted_of(run()), Some(4));
        previews.answer(run(), report(3));
        assert_eq!(previews.wanted_of(run()), Some(4), "an answer to something else is no answer");
        drop(held);
    }
}
