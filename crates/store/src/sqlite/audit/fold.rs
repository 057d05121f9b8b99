//! The projections, computed again from the ledger alone and compared with what is stored.

use std::collections::BTreeMap;
use std::fmt::Debug;

use placet_domain::action::{ActionEvent, ActionState};
use placet_domain::decide::Loaded;
use placet_domain::deciding::decision;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::Identity;
use placet_domain::organisation::{self, Organisation};
use placet_domain::project::{Project, ProjectEvent};
use placet_domain::record::{Event, Record};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use rusqlite::{Connection, Row};

use crate::error::StoreError;
use crate::report::Difference;
use crate::sqlite::place::Place;
use crate::sqlite::rows::{
    ActionRow, DecisionRow, EvidenceRow, Home, IdentityRow, OrganisationRow, ProjectRow, RunRow, ScopeRow, WorktreeRow,
    evidence_name,
};
use crate::unit::{Span, Stamp, read_record};

/// States with the entries that made and changed them.
type States<K, T> = BTreeMap<K, (Span, T)>;

#[derive(Default)]
struct Fold {
    organisation: Option<(u64, Organisation)>,
    projects: States<ProjectId, Project>,
    identities: States<IdentityId, Identity>,
    runs: States<RunId, Run>,
    actions: States<ActionId, ActionState>,
    worktrees: States<WorktreeId, Worktree>,
    scopes: BTreeMap<String, ScopeRow>,
    evidence: BTreeMap<u64, EvidenceRow>,
    decisions: BTreeMap<u64, DecisionRow>,
}

/// Everything that is stored otherwise than the ledger says. Empty, unless somebody changed the database by hand.
pub(crate) fn differences(conn: &Connection) -> Result<Vec<Difference>, StoreError> {
    Fold::of(conn)?.compare(conn)
}

/// Writes the projections as the ledger says. What they were about was there before; so only their contents change.
pub(crate) fn rebuild(conn: &Connection) -> Result<(), StoreError> {
    Ok(Fold::of(conn)?.write(conn)?)
}

impl Fold {
    fn of(conn: &Connection) -> Result<Self, StoreError> {
        let mut fold = Self::default();
        let mut statement = conn.prepare_cached("SELECT seq, at_ms, bytes FROM ledger ORDER BY seq")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let stamp = Stamp { seq: row.get(0)?, at: Timestamp::from_unix_ms(row.get(1)?) };
            let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            fold.take(&read_record(stamp.seq, bytes)?, stamp);
        }
        Ok(fold)
    }

    fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        if let Some((seq, organisation)) = &self.organisation {
            OrganisationRow::of(organisation, *seq).save(conn)?;
        }
        for (id, (span, project)) in &self.projects {
            ProjectRow::of(project, span.created).save(conn, *id)?;
        }
        for (id, (span, identity)) in &self.identities {
            IdentityRow::of(identity, span.created.seq).save(conn, *id)?;
        }
        for (id, (span, run)) in &self.runs {
            RunRow::of(run, place(&self.projects, &run.project), *span).save(conn, *id)?;
        }
        for (span, action) in self.actions.values() {
            let (project, run) = (place(&self.projects, &action.project), place(&self.runs, &action.run));
            ActionRow::of(action, Home { project, run }, *span).update(conn, span.created.seq)?;
        }
        for (id, (span, worktree)) in &self.worktrees {
            WorktreeRow::of(worktree, place(&self.projects, &worktree.project), *span).save(conn, *id)?;
        }
        self.evidence.iter().try_for_each(|(seq, row)| row.insert(conn, *seq))?;
        self.write_decisions(conn)
    }

    /// All of them anew: by another reading an entry may be no decision any more, or another one.
    fn write_decisions(&self, conn: &Connection) -> rusqlite::Result<()> {
        conn.execute("DELETE FROM decision", [])?;
        self.decisions.values().try_for_each(|row| row.insert(conn))
    }

    fn take(&mut self, record: &Record, stamp: Stamp) {
        match &record.event {
            Event::Organisation(event) => {
                let before = self.organisation.take().map(|(_, state)| state).unwrap_or_default();
                self.organisation = Some((stamp.seq, organisation::evolve(before, event)));
            }
            Event::Project(id, event) => {
                if let ProjectEvent::ScopeLocked { name, scope } = event {
                    let row = ScopeRow::of(place(&self.projects, id), name, scope, stamp);
                    self.scopes.insert(format!("{name} of entry {}", stamp.seq), row);
                }
                evolve(&mut self.projects, *id, stamp, record, |loaded| &mut loaded.project);
            }
            Event::Identity(id, _) => evolve(&mut self.identities, *id, stamp, record, |loaded| &mut loaded.identity),
            Event::Run(id, _) => evolve(&mut self.runs, *id, stamp, record, |loaded| &mut loaded.run),
            Event::Action(id, event) => {
                self.take_decision(*id, event, stamp);
                evolve(&mut self.actions, *id, stamp, record, |loaded| &mut loaded.action);
            }
            Event::Worktree(news) => {
                evolve(&mut self.worktrees, news.worktree, stamp, record, |loaded| &mut loaded.worktree);
            }
            Event::BlobKept(_) | Event::BlobRemoved(_) => {
                let project = record.about.project.map_or(NOWHERE, |id| place(&self.projects, &id));
                let row = EvidenceRow::of(&record.event, project);
                self.evidence.extend(row.map(|row| (stamp.seq, row)));
            }
            Event::Refused(_) | Event::PlannerAsked(_) | Event::PlannerAnswered(_) | Event::Started(_) => {}
        }
    }

    fn take_decision(&mut self, id: ActionId, event: &ActionEvent, stamp: Stamp) {
        let Some((span, before)) = self.actions.get(&id) else { return };
        let Some(decision) = decision(before, event, stamp.at) else { return };
        let project = place(&self.projects, &decision.project);
        self.decisions.insert(stamp.seq, DecisionRow::of(&decision, project, span.created.seq, stamp.seq));
    }

    fn compare(self, conn: &Connection) -> Result<Vec<Difference>, StoreError> {
        let organisation = self.organisation.iter();
        let organisation =
            organisation.map(|(seq, state)| (String::from("organisation"), OrganisationRow::of(state, *seq)));
        let projects = rows_of(&self.projects, |project, span| ProjectRow::of(project, span.created));
        let identities = rows_of(&self.identities, |identity, span| IdentityRow::of(identity, span.created.seq));
        let runs = rows_of(&self.runs, |run, span| RunRow::of(run, place(&self.projects, &run.project), span));
        let actions = rows_of(&self.actions, |action, span| {
            let (project, run) = (place(&self.projects, &action.project), place(&self.runs, &action.run));
            ActionRow::of(action, Home { project, run }, span)
        });
        let worktrees = rows_of(&self.worktrees, |worktree, span| {
            WorktreeRow::of(worktree, place(&self.projects, &worktree.project), span)
        });
        let decisions = self.decisions.into_iter().map(|(seq, row)| (evidence_name(seq), row));
        let evidence = self.evidence.into_iter().map(|(seq, row)| (evidence_name(seq), row));
        Ok([
            compare(
                "organisation",
                organisation.collect(),
                stored(conn, OrganisationRow::SELECT, OrganisationRow::read)?,
            ),
            compare("project", projects, stored(conn, ProjectRow::SELECT, ProjectRow::read)?),
            compare("scope", self.scopes, stored(conn, ScopeRow::SELECT, ScopeRow::read)?),
            compare("identity", identities, stored(conn, IdentityRow::SELECT, IdentityRow::read)?),
            compare("run", runs, stored(conn, RunRow::SELECT, RunRow::read)?),
            compare("action", actions, stored(conn, ActionRow::SELECT, ActionRow::read)?),
            compare("worktree", worktrees, stored(conn, WorktreeRow::SELECT, WorktreeRow::read)?),
            compare("evidence", evidence.collect(), stored(conn, EvidenceRow::SELECT, EvidenceRow::read)?),
            compare("decision", decisions.collect(), stored(conn, DecisionRow::SELECT, DecisionRow::read)?),
        ]
        .concat())
    }
}

/// No entry has this number, so what should be there is reported as different.
const NOWHERE: Place = Place::MAX;

fn place<K: Ord, T>(states: &States<K, T>, id: &K) -> Place {
    states.get(id).map_or(NOWHERE, |(span, _)| span.created.seq)
}

fn evolve<K: Ord, T>(
    states: &mut States<K, T>,
    id: K,
    stamp: Stamp,
    record: &Record,
    part: impl Fn(&mut Loaded) -> &mut Option<T>,
) {
    let (span, state) = states.remove(&id).unzip();
    let mut loaded = Loaded::default();
    *part(&mut loaded) = state;
    loaded.apply(record, stamp.at);
    if let Some(state) = part(&mut loaded).take() {
        let created = span.unwrap_or(Span::starting(stamp)).created;
        states.insert(id, (Span { created, changed: stamp }, state));
    }
}

fn rows_of<K: ToString, T, R>(states: &States<K, T>, row: impl Fn(&T, Span) -> R) -> BTreeMap<String, R> {
    states.iter().map(|(id, (span, state))| (id.to_string(), row(state, *span))).collect()
}

fn stored<R>(
    conn: &Connection,
    select: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<(String, R)>,
) -> Result<BTreeMap<String, R>, StoreError> {
    Ok(conn.prepare_cached(select)?.query_map([], read)?.collect::<Result<_, _>>()?)
}

fn compare<R: PartialEq + Debug>(
    what: &'static str,
    computed: BTreeMap<String, R>,
    mut stored: BTreeMap<String, R>,
) -> Vec<Difference> {
    let text = |row: &R| format!("{row:?}");
    let mut differences = Vec::new();
    for (id, computed) in computed {
        let found = stored.remove(&id);
        if found.as_ref() != Some(&computed) {
            let (stored, computed) = (found.as_ref().map(text), Some(text(&computed)));
            differences.push(Difference { what, id, stored, computed });
        }
    }
    let extra = |(id, row): (String, R)| Difference { what, id, stored: Some(text(&row)), computed: None };
    differences.into_iter().chain(stored.into_iter().map(extra)).collect()
}
