//! Carrying out one request after the other within one transaction.
//!
//! Everything that can be refused is refused before the first write of a request, so a refusal leaves nothing to undo.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::{ActionCommand, ActionState, Workers};
use placet_domain::approval::Asking;
use placet_domain::command::{About, Command, Submission};
use placet_domain::decide::{Loaded, Others, Reads, decide, recorded};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::identity::{Actor, DoorCommand, Identity, IdentityCommand};
use placet_domain::organisation::Organisation;
use placet_domain::project::ProjectCommand;
use placet_domain::record::Record;
use placet_domain::refusal::Refusal;
use placet_domain::retention::depended_on;
use placet_domain::run::{Beside, Questions, Run, RunCommand};
use placet_domain::time::Timestamp;
use placet_ledger::Tree;
use rusqlite::{Connection, params};

use super::Task;
use super::cache::Cache;
use super::save::Standing;
use crate::error::{StoreError, SubmitError};
use crate::receipt::{Extras, Noting, Receipt};
use crate::sqlite::history::Line;
use crate::sqlite::place::{self, Place, Thing};
use crate::sqlite::read;
use crate::sqlite::rows::ended_by;

pub(super) struct Session<'a> {
    pub(super) conn: &'a Connection,
    pub(super) tree: &'a mut Tree,
    pub(super) cache: &'a mut Cache,
    pub(super) now: Timestamp,
    /// Whether an entry was added that changes more than amounts.
    pub(super) is_moved: bool,
    /// The same moment, as entries write it.
    at: &'a str,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        tree: &'a mut Tree,
        cache: &'a mut Cache,
        now: Timestamp,
        at: &'a str,
    ) -> Self {
        Self { conn, tree, cache, now, is_moved: false, at }
    }

    pub(super) fn carry_out(&mut self, task: &Task) -> Result<Option<Receipt>, SubmitError> {
        match task {
            Task::Submit(submission, extras) => self.submit(submission, extras).map(Some),
            Task::Lease(lease) => self.lease_next(lease),
            Task::Recall(actor, key) => self.remembered(actor, Some(key)),
            Task::KeepHead(head) => Ok(self.keep_head(head).map(|()| None)?),
            Task::SetCursor(name, seq) => Ok(self.set_cursor(name, *seq).map(|()| None)?),
            Task::KeepDebts(debts) => Ok(self.keep_debts(debts).map(|()| None)?),
            Task::MarkSeen(file, is_seen) => Ok(self.mark_seen(file, *is_seen).map(|()| None)?),
            Task::ForgetLooks => Ok(self.forget_looks().map(|()| None)?),
        }
    }

    fn submit(&mut self, submission: &Submission, extras: &Extras) -> Result<Receipt, SubmitError> {
        // That somebody was refused is recorded of everybody.
        if !matches!(submission.command, Command::NoteRefusal { .. }) {
            self.check_credential(&submission.actor)?;
        }
        match self.remembered(&submission.actor, submission.idempotency.as_ref())? {
            Some(receipt) => Ok(receipt),
            None => self.decide_and_write(submission, extras),
        }
    }

    pub(super) fn decide_and_write(
        &mut self,
        submission: &Submission,
        extras: &Extras,
    ) -> Result<Receipt, SubmitError> {
        let mut loaded = self.load(submission)?;
        let nameless = self.nameless(submission)?;
        let records = match decide(&loaded, nameless.as_ref().unwrap_or(submission), self.now) {
            Ok(records) => records,
            Err(refusal) => {
                if extras.refusal == Noting::Recorded {
                    self.note_refusal(&loaded, submission, &refusal)?;
                }
                return Err(refusal.into());
            }
        };
        self.check_surroundings(&submission.command)?;
        self.check_bytes(&submission.command, &records)?;
        check_content(&submission.command, extras)?;
        let first = self.tree.size();
        let lines = self.lines(&records, submission)?;
        let stood = loaded.action.iter().chain(&loaded.actions);
        let stood = stood.map(|action| (action.id, Standing::of(action))).collect();
        let mut ended = Vec::new();
        for (seq, record) in (first..).zip(&records) {
            ended.extend(ended_by(&record.event, &loaded, self.now).map(|ended| (seq, ended)));
            loaded.apply(record, self.now);
        }
        self.append(&lines)?;
        self.save(first, &records, &loaded, &stood)?;
        self.save_decisions(&ended, extras.look)?;
        self.save_content(&submission.command, extras)?;
        self.follow_uploads(submission, first, &records, &lines)?;
        let seqs = first..self.tree.size();
        // A question that was not taken may be asked again under the same name.
        let is_untaken = submission.command.proposes() && loaded.action.is_none();
        if !is_untaken {
            self.remember(submission, &seqs)?;
        }
        let ended = ended.into_iter().map(|(_, (_, decision))| decision).collect();
        // Who asked is no part of the answer, which is the same when it is asked for again.
        loaded.actor = None;
        Ok(Receipt { seqs, records, at: self.now, loaded, ended, replayed: false })
    }

    /// Whoever asks was let in at the door, and may have been revoked, or given another token, while they waited here.
    pub(super) fn check_credential(&mut self, actor: &Actor) -> Result<(), SubmitError> {
        let Actor::Identity(identity) = actor else { return Ok(()) };
        let valid = match self.cache.token(identity.id) {
            Some(token) => token,
            None => {
                let stored = read::identity(self.conn, identity.id)?;
                let token = stored.filter(|stored| !stored.revoked).map(|stored| stored.token);
                self.cache.keep_token(identity.id, token);
                token
            }
        };
        if valid == Some(identity.token) { Ok(()) } else { Err(Refusal::Revoked.into()) }
    }

    fn load(&mut self, submission: &Submission) -> Result<Loaded, StoreError> {
        let reads = submission.command.reads();
        let run = self.load_run(reads.run)?;
        let is_over = reads.payers_when_over && run.as_ref().is_some_and(|run| run.status.is_final());
        let payer = run.as_ref().filter(|_| reads.payer || is_over);
        let (project, parent) = (payer.map(|run| run.project), payer.and_then(|run| run.parent));
        let parent = self.load_run(reads.parent.or(parent))?;
        let organisation = self.load_organisation()?;
        let (action, successor) = (self.load_action(reads.action)?, self.load_action(reads.successor)?);
        let project = reads.project.or(project).map(|id| read::project(self.conn, id)).transpose()?.flatten();
        let identity = reads.identity.map(|id| read::identity(self.conn, id)).transpose()?.flatten();
        let asks = submission.actor.identity().filter(|_| reads.actor);
        let actor = asks.map(|asks| read::identity(self.conn, asks.id)).transpose()?.flatten();
        let worktree = reads.worktree.map(|id| read::worktree(self.conn, id)).transpose()?.flatten();
        let above = if is_over { self.load_above(parent.as_ref())? } else { Vec::new() };
        let others = self.load_others(reads.others, [&run, &parent])?;
        let runs: Vec<Run> = above.into_iter().chain(others).collect();
        let projects = if reads.others == Others::All { read::projects(self.conn)? } else { Vec::new() };
        let givers = run.as_ref().filter(|_| reads.givers).map(|run| self.load_givers(run)).transpose()?;
        let touched = reads.touched_from.map(|from| read::touched(self.conn, from)).transpose()?.unwrap_or_default();
        let workers = self.load_workers(reads.workers, run.as_ref(), action.as_ref())?;
        let actions = reads.rests_on.map(|id| read::resting_actions(self.conn, id)).transpose()?.unwrap_or_default();
        let resting = self.load_resting_runs(reads.rests_on, &actions)?;
        let worktrees = reads.rests_on.map(|id| read::exempted_worktrees(self.conn, id)).transpose()?;
        let beside = self.load_beside(&reads, run.as_ref().into_iter().chain(&resting), &actions)?;
        let runs = resting.into_iter().chain(runs).collect();
        let questions = self.load_questions(run.as_ref().filter(|_| reads.questions), &submission.terms.asking)?;
        Ok(Loaded {
            project,
            identity,
            actor,
            run,
            action,
            successor,
            worktree,
            parent,
            organisation,
            runs,
            projects,
            givers: givers.unwrap_or_default(),
            touched,
            questions,
            workers,
            beside,
            actions,
            worktrees: worktrees.unwrap_or_default(),
        })
    }

    /// Determines whether a worker could have leased a waiting action: an eligible one that asked and got nothing could have. If no worker
    /// is executing an action, the result is `Free` too, because then no flood blocks the action.
    fn load_workers(
        &mut self,
        is_needed: bool,
        run: Option<&Run>,
        action: Option<&ActionState>,
    ) -> Result<Workers, StoreError> {
        let (true, Some(run), Some(action)) = (is_needed, run, action) else { return Ok(Workers::Free) };
        let Some(since) = action.approved_at else { return Ok(Workers::Free) };
        if self.cache.turns().was_idle(run, since) {
            return Ok(Workers::Free);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM action WHERE is_live AND status IN ('LEASED', 'EXECUTING'))";
        let at_work: bool = self.conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        Ok(if at_work { Workers::Busy } else { Workers::Free })
    }

    /// Loads the unfinished runs whose state names an identity, and the runs of the given actions, including finished ones.
    fn load_resting_runs(&mut self, id: Option<IdentityId>, actions: &[ActionState]) -> Result<Vec<Run>, StoreError> {
        let Some(id) = id else { return Ok(Vec::new()) };
        let mut runs = read::runs_naming(self.conn, id)?;
        for action in actions {
            if !runs.iter().any(|run| run.id == action.run) {
                runs.extend(self.load_run(Some(action.run))?);
            }
        }
        Ok(runs)
    }

    /// Counts the other open actions of these runs, if the command can start or end a wait for people.
    fn load_beside<'r>(
        &self,
        reads: &Reads,
        runs: impl Iterator<Item = &'r Run>,
        actions: &[ActionState],
    ) -> Result<BTreeMap<RunId, Beside>, StoreError> {
        if !reads.beside && actions.is_empty() {
            return Ok(BTreeMap::new());
        }
        let loaded = reads.action.into_iter().chain(reads.successor).chain(actions.iter().map(|action| action.id));
        let loaded: Vec<ActionId> = loaded.collect();
        // Waits for people matter only in runs whose working time is bounded.
        let timed = runs.filter(|run| run.bounds_time());
        timed.map(|run| Ok((run.id, read::beside(self.conn, run, &loaded)?))).collect()
    }

    /// How much the family of a run has asked of people. Nothing is counted where nothing is bounded.
    fn load_questions(&mut self, run: Option<&Run>, terms: &Asking) -> Result<Questions, StoreError> {
        let Some(run) = run.filter(|_| terms.most_undecided > 0 || terms.most_asked > 0 || terms.most_waiting > 0)
        else {
            return Ok(Questions::default());
        };
        let mut first = run.id;
        let mut above = run.parent;
        while let Some(parent) = self.load_run(above)? {
            (first, above) = (parent.id, parent.parent);
        }
        read::questions(self.conn, run, first, terms, self.now)
    }

    /// Those who gave orders that may still be used: as they are now, in this transaction.
    fn load_givers(&self, run: &Run) -> Result<Vec<Identity>, StoreError> {
        let standing = run.orders.iter().filter(|order| order.revoked.is_none() && self.now < order.until);
        let givers: BTreeSet<IdentityId> = standing.map(|order| order.giver).collect();
        givers.into_iter().filter_map(|id| read::identity(self.conn, id).transpose()).collect()
    }

    /// Runs that are not over, without those that are loaded already.
    fn load_others(&self, others: Others, loaded: [&Option<Run>; 2]) -> Result<Vec<Run>, StoreError> {
        let runs = match others {
            Others::None => return Ok(Vec::new()),
            Others::Children => match loaded[0] {
                Some(run) => read::children(self.conn, run.project)?,
                None => Vec::new(),
            },
            Others::OfProject(project) => read::unfinished(self.conn, Some(project))?,
            Others::All => read::unfinished(self.conn, None)?,
        };
        let is_loaded = |id: RunId| loaded.iter().any(|known| known.as_ref().is_some_and(|run| run.id == id));
        Ok(runs.into_iter().filter(|run| !is_loaded(run.id)).collect())
    }

    /// Whoever made a run, and whoever made that one, up to the first.
    fn load_above(&mut self, run: Option<&Run>) -> Result<Vec<Run>, StoreError> {
        let mut above: Vec<Run> = Vec::new();
        let mut next = run.and_then(|run| run.parent);
        while let Some(run) = self.load_run(next)? {
            next = run.parent;
            above.push(run);
        }
        Ok(above)
    }

    fn load_run(&mut self, id: Option<RunId>) -> Result<Option<Run>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        match self.cache.run(id) {
            Some(run) => Ok(Some(run.clone())),
            None => Ok(read::run(self.conn, id)?.inspect(|run| self.cache.keep_run(run))),
        }
    }

    fn load_organisation(&mut self) -> Result<Organisation, StoreError> {
        if let Some(organisation) = self.cache.organisation() {
            return Ok(organisation.clone());
        }
        read::organisation(self.conn).inspect(|organisation| self.cache.keep_organisation(organisation))
    }

    fn load_action(&mut self, id: Option<ActionId>) -> Result<Option<ActionState>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        match self.cache.action(id) {
            Some(action) => Ok(Some(action.clone())),
            None => Ok(read::action(self.conn, id)?.inspect(|action| self.cache.keep_action(action))),
        }
    }

    /// An attempt at what its author must not do is an entry of its own.
    fn note_refusal(&mut self, loaded: &Loaded, submission: &Submission, refusal: &Refusal) -> Result<(), SubmitError> {
        if let Some(record) = recorded(loaded, &submission.command, refusal) {
            let lines = self.lines(&[record], submission)?;
            self.append(&lines)?;
        }
        Ok(())
    }

    /// The same without the name of whoever asks, if somebody else has it or had it: a duty that names it is neither's, and nobody comes by
    /// another's by being called the same.
    fn nameless(&self, submission: &Submission) -> Result<Option<Submission>, StoreError> {
        let (Command::Worktree { .. }, Actor::Identity(asking)) = (&submission.command, &submission.actor) else {
            return Ok(None);
        };
        let namesakes = read::identities(self.conn)?.iter().filter(|other| other.name == asking.name).count();
        let nobody = Identity { name: String::new(), ..asking.clone() };
        Ok((namesakes > 1).then(|| Submission { actor: Actor::Identity(nobody), ..submission.clone() }))
    }

    /// What the domain cannot see from the one thing that a command is about: names and credentials that are taken, and
    /// a run's project.
    fn check_surroundings(&self, command: &Command) -> Result<(), SubmitError> {
        match command {
            Command::Project { command: ProjectCommand::Create { name, .. }, .. } => {
                let taken = read::project_by_name(self.conn, name)?.is_some();
                if taken { Err(Refusal::Exists { what: "project" }.into()) } else { Ok(()) }
            }
            Command::Identity {
                command: IdentityCommand::Register { token, .. } | IdentityCommand::ReplaceToken { token, .. },
                ..
            } => {
                let taken = read::is_token_taken(self.conn, *token)?;
                if taken { Err(Refusal::Exists { what: "token" }.into()) } else { Ok(()) }
            }
            // One key is one person's: else one person signs for two.
            Command::Identity { id, command: IdentityCommand::Door(DoorCommand::AddPasskey { attested, .. }) } => {
                let others = read::identities(self.conn)?.into_iter().filter(|other| other.id != *id);
                let has_it = |other: &Identity| attested.is_among(other.doors.passkeys());
                if others.into_iter().any(|other| has_it(&other)) {
                    return Err(Refusal::Exists { what: "passkey" }.into());
                }
                Ok(())
            }
            Command::Run { command: RunCommand::Create(founding), .. } => {
                let token = founding.agent_token.map(|token| read::is_token_taken(self.conn, token)).transpose()?;
                if token == Some(true) {
                    return Err(Refusal::Exists { what: "token" }.into());
                }
                let known = read::project(self.conn, founding.project)?.is_some();
                if known { Ok(()) } else { Err(Refusal::Unknown { what: "project" }.into()) }
            }
            Command::Project { id, command: ProjectCommand::Preserve { run: Some(run), .. } } => {
                let known = read::run(self.conn, *run)?.is_some_and(|run| run.project == *id);
                if known { Ok(()) } else { Err(Refusal::Unknown { what: "run" }.into()) }
            }
            Command::Organisation(_)
            | Command::Project { .. }
            | Command::Identity { .. }
            | Command::Run { .. }
            | Command::Action { .. }
            | Command::Worktree { .. }
            | Command::KeepBlob { .. }
            | Command::RemoveBlobs { .. }
            | Command::NoteRefusal { .. }
            | Command::AskPlanner { .. }
            | Command::NotePlanner { .. }
            | Command::NoteStart { .. } => Ok(()),
        }
    }

    /// What something depends on from now on was there when it was asked for, and may have been removed since.
    fn check_bytes(&mut self, command: &Command, records: &[Record]) -> Result<(), SubmitError> {
        let project = records.first().and_then(|record| record.about.project);
        for digest in depended_on(command) {
            let Some(place) = project.map(|id| self.place(Thing::Project(id))).transpose()?.flatten() else { continue };
            if read::is_removed(self.conn, place, digest)? {
                let why = format!("{digest} was removed, because nothing needed it any more; upload it again");
                return Err(Refusal::invalid(why).into());
            }
        }
        Ok(())
    }

    fn lines(&self, records: &[Record], submission: &Submission) -> Result<Vec<Line>, Refusal> {
        let actor = submission.actor.to_string();
        let numbered = (self.tree.size()..).zip(records);
        numbered.map(|(seq, record)| Line::new(record, seq, self.at, &actor)).collect()
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), StoreError> {
        let sql = "INSERT INTO ledger (seq, at_ms, kind, subject, project, run, action, leaf, bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        for line in lines {
            let (seq, at_ms) = (self.tree.size(), self.now.unix_ms());
            let [subject, project, run, action] = self.places(line, seq)?;
            let Line { kind, leaf, bytes, .. } = line;
            let values = params![seq, at_ms, kind, subject, project, run, action, leaf.as_bytes(), bytes];
            self.conn.prepare_cached(sql)?.execute(values)?;
            self.is_moved |= !line.moves_amounts_only;
            for tile in self.tree.append(*leaf) {
                self.save_tile(&tile)?;
            }
        }
        Ok(())
    }
}

impl Session<'_> {
    /// Where the things are that an entry names: whose state it changes, unless that is an action's, and its project, run
    /// and action.
    fn places(&mut self, line: &Line, seq: u64) -> Result<[Option<Place>; 4], StoreError> {
        let About { project, run, action } = line.about;
        let subject = line.changes.filter(|thing| !matches!(thing, Thing::Action(_)));
        let named = [subject, project.map(Thing::Project), run.map(Thing::Run), action.map(Thing::Action)];
        let mut places = [None; 4];
        for (place, thing) in places.iter_mut().zip(named) {
            let Some(thing) = thing else { continue };
            *place = self.place(thing)?;
            // What has no place yet and is changed by this entry is made by it.
            if place.is_none() && line.changes == Some(thing) {
                self.cache.keep_place(thing, seq);
                *place = Some(seq);
            }
        }
        Ok(places)
    }

    pub(super) fn place(&mut self, thing: Thing) -> Result<Option<Place>, StoreError> {
        if let Some(place) = self.cache.place(thing) {
            return Ok(Some(place));
        }
        Ok(place::place(self.conn, thing)?.inspect(|place| self.cache.keep_place(thing, *place)))
    }
}

/// What is stored under a digest must have that digest: the agent's words and what a password is compared with, neither other ones nor
/// none. Sealed actions and evidence cannot be anything else.
fn check_content(command: &Command, extras: &Extras) -> Result<(), Refusal> {
    let digest = |text: &Option<String>| text.as_ref().map(|text| Digest::of(text.as_bytes()));
    if named_advice(command) != digest(&extras.advice) {
        return Err(Refusal::invalid("the justification is not the one that the proposal names"));
    }
    if named_verifier(command) != digest(&extras.verifier) {
        return Err(Refusal::invalid("the password is not the one that was named"));
    }
    Ok(())
}

fn named_advice(command: &Command) -> Option<Digest> {
    let Command::Action { command: ActionCommand::Propose { advice, .. }, .. } = command else { return None };
    *advice
}

fn named_verifier(command: &Command) -> Option<Digest> {
    let Command::Identity { command: IdentityCommand::Door(DoorCommand::SetPassword { verifier, .. }), .. } = command
    else {
        return None;
    };
    Some(*verifier)
}
