//! Routes: what of which tier and project is told where, when, and in which language.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use super::{Channel, Effort, Framing, Message, Notice, NoticeKind, Pace, Recipient, Schedule, Told};
use crate::webhook::{Backoff, HookName};

/// One way by which people are told.
#[derive(Debug)]
pub struct Route(RouteParts);

/// What a route is made of.
#[derive(Debug)]
pub struct RouteParts {
    pub name: HookName,
    pub what: BTreeSet<NoticeKind>,
    /// Only actions that ask for so many people; all of them, if nothing is said.
    pub tiers: BTreeSet<Tier>,
    /// Only of these projects, by name; of all of them, if nothing is said.
    pub projects: BTreeSet<String>,
    pub schedule: Schedule,
    pub lang: Lang,
    pub channel: Channel,
}

/// A route that nobody can mean.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRoute {
    #[error("two routes are called `{0}`; give each a name of its own")]
    NameTwice(HookName),
    #[error("the route `{0}` would tell nothing; list something in `what`")]
    Nothing(HookName),
    #[error("the route `{0}` would tell nobody; name somebody in `to` or `people`")]
    Nobody(HookName),
    #[error("tier {0} is never waited for; `tiers` holds `B`, `C` or both")]
    Tier(Tier),
    #[error(
        "`{0}` waits for nobody, so it is not escalated; take it out of `what`, or `after_minutes` out of the route"
    )]
    NotWaitedFor(NoticeKind),
    #[error("`{0}` is no number of minutes for this; write one from 1 to 1440")]
    Minutes(u32),
}

const DAY_MINUTES: u32 = 24 * 60;

impl Route {
    pub fn new(parts: RouteParts) -> Result<Self, BadRoute> {
        if parts.what.is_empty() {
            return Err(BadRoute::Nothing(parts.name));
        }
        if parts.channel.rooms().is_empty() && parts.channel.people().is_empty() {
            return Err(BadRoute::Nobody(parts.name));
        }
        if let Some(tier) = parts.tiers.iter().find(|tier| !matches!(tier, Tier::B | Tier::C)) {
            return Err(BadRoute::Tier(*tier));
        }
        match parts.schedule.pace {
            Pace::Soon { .. } => {}
            Pace::Digest { every_minutes: minutes } => within_a_day(minutes)?,
            Pace::Escalation { after_minutes: minutes } => {
                within_a_day(minutes)?;
                if let Some(news) = parts.what.iter().find(|what| !what.waits()) {
                    return Err(BadRoute::NotWaitedFor(*news));
                }
            }
        }
        Ok(Self(parts))
    }

    pub const fn name(&self) -> &HookName {
        &self.0.name
    }

    pub const fn parts(&self) -> &RouteParts {
        &self.0
    }

    pub(crate) const fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }

    pub(crate) const fn channel(&self) -> &Channel {
        &self.0.channel
    }

    /// Whether it tells of this, as far as the entry says. A tier that the entry does not name is looked at later.
    pub(crate) fn wants(&self, notice: &Notice) -> bool {
        self.0.what.contains(&notice.what) && notice.tier.is_none_or(|tier| self.wants_tier(tier))
    }

    fn wants_tier(&self, tier: Tier) -> bool {
        self.0.tiers.is_empty() || self.0.tiers.contains(&tier)
    }

    pub(crate) fn wants_project(&self, name: &str) -> bool {
        self.0.projects.is_empty() || self.0.projects.contains(name)
    }

    pub(crate) fn framing<'a>(&'a self, base: &'a str, recipient: &'a str) -> Framing<'a> {
        Framing { lang: self.0.lang, base, route: self.name().as_str(), recipient, left_out: 0 }
    }

    /// Sends everybody a message that tells nothing, to see whether it arrives.
    pub async fn test(&self, base: &str, now: Timestamp) -> Vec<Trial> {
        let people = self.channel().people().into_iter();
        let people = people.map(|(name, address)| Recipient::Person { key: name.clone(), name, address });
        let mut trials = Vec::new();
        for to in self.channel().rooms().into_iter().chain(people) {
            let label = to.label();
            let message = Message::test(self.framing(base, &label), now);
            let problem = match self.channel().send(&to, &message, now.unix_ms(), Effort::First).await {
                Told::Yes => None,
                Told::NotYet(why) | Told::Unsure(why) | Told::Refused(why) => Some(why),
            };
            trials.push(Trial { recipient: label, problem });
        }
        trials
    }
}

/// Whether a test message arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub recipient: String,
    pub problem: Option<String>,
}

fn within_a_day(minutes: u32) -> Result<(), BadRoute> {
    if (1..=DAY_MINUTES).contains(&minutes) { Ok(()) } else { Err(BadRoute::Minutes(minutes)) }
}

/// All routes of a control plane. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    all: Vec<Arc<Route>>,
    retry: Backoff,
}

impl Routes {
    pub fn new(all: Vec<Route>) -> Result<Self, BadRoute> {
        let mut seen = BTreeSet::new();
        for route in &all {
            if !seen.insert(route.name()) {
                return Err(BadRoute::NameTwice(route.name().clone()));
            }
        }
        Ok(Self { all: all.into_iter().map(Arc::new).collect(), retry: Backoff::default() })
    }

    /// The same routes, tried again at another pace.
    #[must_use]
    pub fn retried(self, retry: Backoff) -> Self {
        Self { retry, ..self }
    }

    pub fn all(&self) -> &[Arc<Route>] {
        &self.all
    }

    pub(crate) const fn retry(&self) -> Backoff {
        self.retry
    }
}

#[cfg(test)]
mod tests {
    use placet_dial::Dialer;
    use placet_domain::id::RunId;

    use super::super::{Chat, Subject};
    use super::*;

    fn parts() -> RouteParts {
        let chat = Chat::new("https://hooks.example/x".parse().unwrap(), Dialer::new(None, vec![]).unwrap());
        RouteParts {
            name: "team".parse().unwrap(),
            what: [NoticeKind::Action, NoticeKind::Plan].into(),
            tiers: BTreeSet::new(),
            projects: BTreeSet::new(),
            schedule: Schedule { pace: Pace::SOON, quiet: None },
            lang: Lang::En,
            channel: Channel::Chat(chat),
        }
    }

    fn notice(what: NoticeKind, tier: Option<Tier>) -> Notice {
        let subject = Subject::Run(RunId::from_uuid(uuid::Uuid::nil()));
        Notice { seq: 1, at: Timestamp::from_unix_ms(0), what, project: None, subject, tier, deadline: None }
    }

    #[test]
    fn b4_a_route_tells_of_what_it_lists_by_kind_tier_and_project() {
        let all = Route::new(parts()).unwrap();
        let two = Route::new(RouteParts { tiers: [Tier::C].into(), projects: ["alpha".to_owned()].into(), ..parts() })
            .unwrap();
        for (what, tier, by_all, by_two) in [
            (NoticeKind::Action, Some(Tier::B), true, false),
            (NoticeKind::Action, Some(Tier::C), true, true),
            (NoticeKind::Plan, None, true, true),
            (NoticeKind::Failed, None, false, false),
        ] {
            let notice = notice(what, tier);
            assert_eq!((all.wants(&notice), two.wants(&notice)), (by_all, by_two), "{what} {tier:?}");
        }
        assert!(all.wants_project("beta") && two.wants_project("alpha") && !two.wants_project("beta"));
    }

    #[test]
    fn b4_a_route_that_nobody_can_mean_is_refused_with_what_to_do() {
        let digest = |every_minutes| Schedule { pace: Pace::Digest { every_minutes }, quiet: None };
        let escalation = Schedule { pace: Pace::Escalation { after_minutes: 30 }, quiet: None };
        for (wrong, said) in [
            (RouteParts { what: BTreeSet::new(), ..parts() }, "`what`"),
            (RouteParts { tiers: [Tier::A].into(), ..parts() }, "`B`, `C`"),
            (RouteParts { schedule: digest(0), ..parts() }, "1 to 1440"),
            (RouteParts { schedule: digest(1_441), ..parts() }, "1 to 1440"),
            (RouteParts { what: [NoticeKind::Failed].into(), schedule: escalation, ..parts() }, "`after_minutes`"),
        ] {
            let error = Route::new(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
        let twice = Routes::new(vec![Route::new(parts()).unwrap(), Route::new(parts()).unwrap()]);
        assert!(matches!(twice, Err(BadRoute::NameTwice(_))));
    }
}
