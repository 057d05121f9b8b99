//! One look around before something is told: which of it still is so, whose it is, and who is told instead of whom.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::id::IdentityId;
use placet_domain::identity::Identity;
use placet_store::{EntryFilter, MOST_ROWS, StoreError};

use crate::app::App;
use crate::notify::{Absent, Folded, Item, Looked, Looker, Notice, NoticeKind, People, Recipient, Route, Subject};

pub(super) struct Round<'a> {
    app: &'a App,
    route: &'a Route,
    looker: Looker<'a>,
    /// Nobody, where a route tells no single people.
    everybody: Vec<Identity>,
    /// Entries that were looked at, and what is so of them.
    notices: BTreeMap<u64, Option<Notice>>,
    looked: BTreeMap<u64, Option<Looked>>,
}

/// What one recipient is told at once.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) to: Recipient,
    pub(super) items: Vec<Item>,
    pub(super) absent: BTreeSet<Absent>,
    /// Those who are told of an entry themselves, should this recipient refuse to be.
    pub(super) behind: Vec<Behind>,
}

/// Somebody who is away, and would be told of an entry if their stand-in were not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    pub(super) away: IdentityId,
    pub(super) stand_in: IdentityId,
    pub(super) seq: u64,
}

impl<'a> Round<'a> {
    pub(super) async fn begin(app: &'a App, route: &'a Route) -> Result<Self, StoreError> {
        let tells_people = !route.channel().people().is_empty();
        let everybody = if tells_people { app.store().identities().await? } else { Vec::new() };
        let (notices, looked) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { app, route, looker: Looker::new(app), everybody, notices, looked })
    }

    fn people(&self) -> People<'_> {
        People::new(&self.everybody, self.route.channel().people(), self.looker.now())
    }

    /// Names in the settings that are nobody's, or not of one alone.
    pub(super) fn unclear(&self) -> Vec<String> {
        self.people().unclear().cloned().collect()
    }

    /// Whom each of these things is to be told to, by the keys of recipients.
    pub(super) async fn owed(&mut self, ripe: &[Notice]) -> Result<BTreeMap<String, BTreeSet<u64>>, StoreError> {
        let mut owed: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for notice in newest(ripe.iter()) {
            self.look(notice).await?;
            for key in self.recipients(notice.seq) {
                owed.entry(key).or_default().insert(notice.seq);
            }
        }
        Ok(owed)
    }

    /// Whom something that was looked at concerns now, by the keys of recipients; nobody, if it is over.
    pub(super) fn recipients(&self, seq: u64) -> BTreeSet<String> {
        let Some(Some(found)) = self.looked.get(&seq) else { return BTreeSet::new() };
        let mut keys: BTreeSet<String> = self.route.channel().rooms().iter().map(Recipient::key).collect();
        let people = self.people();
        for person in people.reached().filter(|person| self.concerns(found, person)) {
            keys.extend(self.told_for(&people, person, found).iter().map(|(to, _)| to.key()));
        }
        keys
    }

    fn told_for(&self, people: &People<'_>, person: &Identity, found: &Looked) -> Vec<(Recipient, Option<Absent>)> {
        people.told_for(person, found.asked(), |other| self.concerns(found, other))
    }

    fn concerns(&self, found: &Looked, person: &Identity) -> bool {
        self.looker.concerns(found, person, &self.everybody)
    }

    /// What is left to tell somebody of what they are owed; nobody, if there is no such recipient any more.
    pub(super) async fn bundle(&mut self, key: &str, owed: &BTreeSet<u64>) -> Result<Option<Bundle>, StoreError> {
        let mut notices = Vec::new();
        for seq in owed {
            notices.extend(self.notice(*seq).await?);
        }
        let mut seqs = Vec::new();
        for notice in newest(notices.iter()) {
            self.look(notice).await?;
            seqs.push(notice.seq);
        }
        let people = self.people();
        let person = people.reached().find(|person| person.id.to_string() == key);
        let to = match person {
            Some(person) => people.recipient(person),
            None => self.route.channel().rooms().into_iter().find(|room| room.key() == key),
        };
        let bundle = to.map(|to| Bundle { to, items: Vec::new(), absent: BTreeSet::new(), behind: Vec::new() });
        Ok(bundle.map(|bundle| self.filled(bundle, &people, person, &seqs)))
    }

    fn filled(&self, mut bundle: Bundle, people: &People<'_>, person: Option<&Identity>, seqs: &[u64]) -> Bundle {
        for seq in seqs {
            let Some(Some(found)) = self.looked.get(seq) else { continue };
            if person.is_some_and(|person| !self.concerns(found, person)) {
                continue;
            }
            bundle.items.push(found.item.clone());
            if let Some(person) = person {
                self.stands_in(people, person, found, &mut bundle);
            }
        }
        bundle
    }

    /// For whom somebody is told of it, beside themselves.
    fn stands_in(&self, people: &People<'_>, person: &Identity, found: &Looked, bundle: &mut Bundle) {
        let now = self.looker.now();
        let has_named = |other: &&Identity| other.away_at(now).is_some_and(|away| away.to == person.id);
        for away in people.reached().filter(has_named).filter(|away| self.concerns(found, away)) {
            let told = self.told_for(people, away, found);
            let Some((_, Some(absent))) = told.iter().find(|(to, absent)| *to == bundle.to && absent.is_some()) else {
                continue;
            };
            bundle.absent.insert(absent.clone());
            if told.len() == 1 {
                bundle.behind.push(Behind { away: away.id, stand_in: person.id, seq: found.item.seq });
            }
        }
    }

    /// What is still so of what was only counted.
    pub(super) async fn unfolded(&mut self, folded: Folded) -> Result<Vec<u64>, StoreError> {
        let mut notices: Vec<Notice> = Vec::new();
        let (mut after, mut is_read) = (folded.first.checked_sub(1), false);
        while !is_read {
            let page =
                self.app.store().entries(EntryFilter { after, limit: MOST_ROWS, ..EntryFilter::default() }).await?;
            after = page.last().map(|last| last.seq);
            is_read = after.is_none_or(|last| last >= folded.last);
            let within = page.iter().filter(|entry| entry.seq <= folded.last).filter_map(Notice::of);
            notices.extend(within.filter(|notice| self.route.wants(notice)));
        }
        let mut seqs = Vec::new();
        for notice in newest(notices.iter()) {
            self.look(notice).await?;
            seqs.push(notice.seq);
        }
        seqs.retain(|seq| self.looked.get(seq).is_some_and(Option::is_some));
        Ok(seqs)
    }

    async fn notice(&mut self, seq: u64) -> Result<Option<Notice>, StoreError> {
        if let Some(known) = self.notices.get(&seq) {
            return Ok(known.clone());
        }
        let found = self.app.store().entry(seq).await?.as_ref().and_then(Notice::of);
        self.notices.insert(seq, found.clone());
        Ok(found)
    }

    async fn look(&mut self, notice: &Notice) -> Result<(), StoreError> {
        if !self.looked.contains_key(&notice.seq) {
            let found = self.looker.look(notice).await?.filter(|found| self.is_wanted(found));
            self.looked.insert(notice.seq, found);
        }
        Ok(())
    }

    fn is_wanted(&self, found: &Looked) -> bool {
        let tiers = &self.route.parts().tiers;
        let of_tier = tiers.is_empty() || found.item.tier.is_none_or(|tier| tiers.contains(&tier));
        of_tier && self.route.wants_project(&found.item.project)
    }
}

/// Of several notices of one thing the newest: it stands where that one says.
fn newest<'n>(notices: impl Iterator<Item = &'n Notice>) -> Vec<&'n Notice> {
    let mut last: BTreeMap<String, &Notice> = BTreeMap::new();
    for notice in notices {
        last.insert(about(notice), notice);
    }
    let mut all: Vec<&Notice> = last.into_values().collect();
    all.sort_by_key(|notice| notice.seq);
    all
}

/// What a notice is about. Each thing that was done with a worktree is one of its own.
fn about(notice: &Notice) -> String {
    let what: NoticeKind = notice.what;
    match &notice.subject {
        Subject::Action(id) => format!("{what} {id}"),
        Subject::Run(id) => format!("{what} {id}"),
        Subject::Wish { run, number } => format!("{what} {run} {number}"),
        Subject::Worktree { id, .. } => format!("{what} {id} {}", notice.seq),
    }
}
