//! How far an action is, and what a card says of it there: of what is over nobody is told what it will do, and of what never ran nobody is
//! told what it did. The states themselves are the same everywhere.

use placet_domain::action::ActionStatus;
use placet_domain::evidence::{Exit, Manifest};
use placet_lang::Lang;

/// How far an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A person is asked.
    Asked,
    /// Nobody is asked any more, and it has not begun.
    Ahead,
    Running,
    /// It began, and nobody knows how far it got.
    BrokenOff,
    Over,
    /// It never ran and never will.
    Never,
}

impl Stage {
    /// By its state; what was executed in vain, before its program began, says so in its evidence.
    pub(crate) const fn of(status: ActionStatus, evidence: Option<&Manifest>) -> Self {
        match status {
            ActionStatus::PendingApproval => Self::Asked,
            ActionStatus::Approved | ActionStatus::Leased | ActionStatus::Rehearsed => Self::Ahead,
            ActionStatus::Executing => Self::Running,
            ActionStatus::Interrupted | ActionStatus::Abandoned => Self::BrokenOff,
            ActionStatus::Succeeded | ActionStatus::Failed => match evidence {
                Some(Manifest { exit: Exit::NotStarted { .. }, .. }) => Self::Never,
                Some(_) | None => Self::Over,
            },
            ActionStatus::Denied
            | ActionStatus::Rejected
            | ActionStatus::Expired
            | ActionStatus::Superseded
            | ActionStatus::Withdrawn => Self::Never,
        }
    }

    /// Above the reasons of the policy.
    pub(crate) const fn why(self, lang: Lang, tier: &str) -> &'static str {
        match (tier.as_bytes(), self) {
            (b"A", Self::Asked | Self::Ahead) => lang.why_passed(),
            (b"A", _) => lang.why_passed_then(),
            (b"D", _) => lang.why_refused(),
            (_, Self::Asked) => lang.why_asked(),
            (_, _) => lang.why_asked_then(),
        }
    }

    /// Above what it can touch.
    pub(crate) const fn touches(self, lang: Lang) -> &'static str {
        match self {
            Self::Asked | Self::Ahead | Self::Running => lang.blast_radius(),
            Self::BrokenOff | Self::Over => lang.could_touch(),
            Self::Never => lang.would_touch(),
        }
    }

    /// Above its words.
    pub(crate) const fn exactly(self, lang: Lang) -> &'static str {
        match self {
            Self::Asked | Self::Ahead => lang.exactly_what(),
            Self::Running => lang.what_runs(),
            Self::BrokenOff => lang.what_began(),
            Self::Over => lang.what_ran(),
            Self::Never => lang.what_would(),
        }
    }

    /// Whether there is, or will be, anything to take back.
    pub(crate) const fn leaves_traces(self) -> bool {
        match self {
            Self::Asked | Self::Ahead | Self::Running | Self::BrokenOff | Self::Over => true,
            Self::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_card_speaks_of_what_is_over_as_over_and_of_what_never_ran_as_such() {
        let said = |status| {
            let stage = Stage::of(status, None);
            (stage.why(Lang::En, "B"), stage.touches(Lang::En), stage.exactly(Lang::En))
        };
        let (asked, now, ahead) = ("Why you are asked", "What it can touch", "Exactly what will run");
        assert_eq!(said(ActionStatus::PendingApproval), (asked, now, ahead));
        let were = "Why people were asked";
        assert_eq!(said(ActionStatus::Leased), (were, now, ahead));
        assert_eq!(said(ActionStatus::Executing), (were, now, "Exactly what runs now"));
        assert_eq!(said(ActionStatus::Abandoned), (were, "What it could touch", "Exactly what began to run"));
        assert_eq!(said(ActionStatus::Failed), (were, "What it could touch", "Exactly what ran"));
        assert_eq!(said(ActionStatus::Rejected), (were, "What it would have touched", "What would have run"));
    }
}
