//! When it is looked how things stand: when something happened, and now and then; never while an answer is still on its way. Pure.

/// Workers are heard without any event.
const LOOK_EVERY: u32 = 20;

#[derive(Debug, Default)]
pub(super) struct Pace {
    has_news: bool,
    /// An answer is on its way.
    is_looking: bool,
    ticks: u32,
}

impl Pace {
    pub(super) const fn happened(&mut self) {
        self.has_news = true;
    }

    /// The answer came, or will not come.
    pub(super) const fn looked(&mut self) {
        self.is_looking = false;
    }

    /// Time goes on: whether to look now.
    pub(super) const fn is_due(&mut self) -> bool {
        self.ticks = self.ticks.wrapping_add(1);
        let is_due = self.has_news || self.ticks.is_multiple_of(LOOK_EVERY);
        if !is_due || self.is_looking {
            return false;
        }
        (self.has_news, self.is_looking) = (false, true);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_it_is_looked_when_something_happened_and_now_and_then() {
        let mut pace = Pace::default();
        assert_eq!((1..LOOK_EVERY).filter(|_| pace.is_due()).count(), 0);
        assert!(pace.is_due(), "now and then");
        pace.looked();
        pace.happened();
        pace.happened();
        assert!(pace.is_due());
        pace.looked();
        assert!(!pace.is_due(), "once for all that happened");
    }

    #[test]
    fn c16_while_an_answer_is_on_its_way_nothing_else_is_asked() {
        let mut pace = Pace::default();
        pace.happened();
        assert!(pace.is_due());
        for _ in 0..LOOK_EVERY * 3 {
            pace.happened();
            assert!(!pace.is_due());
        }
        pace.looked();
        assert!(pace.is_due(), "what happened meanwhile is looked at then");
    }
}
