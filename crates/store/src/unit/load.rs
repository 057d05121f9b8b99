//! Loads what a command reads.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::{ActionState, Workers};
use placet_domain::approval::Asking;
use placet_domain::command::Submission;
use placet_domain::decide::{Loaded, Others, Reads};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::Identity;
use placet_domain::passkey::Passkey;
use placet_domain::retention::depended_on;
use placet_domain::run::{Beside, Questions, Run};

use super::UnitOfWork;
use super::submit::CommandFlow;
use crate::error::StoreResult;

impl<U: UnitOfWork> CommandFlow<'_, U> {
    pub(super) fn load(&mut self, submission: &Submission) -> StoreResult<Loaded> {
        let reads = submission.command.reads();
        let run = self.load_run(reads.run)?;
        let is_over = reads.payers_when_over && run.as_ref().is_some_and(|run| run.status.is_final());
        let payer = run.as_ref().filter(|_| reads.payer || is_over);
        let (payer_project, payer_run) = (payer.map(|run| run.project), payer.and_then(|run| run.parent));
        let parent = self.load_run(reads.parent.or(payer_run))?;
        let above = if is_over { self.load_above(parent.as_ref())? } else { Vec::new() };
        let others = self.load_others(reads.others, [&run, &parent])?;
        let unit = &mut *self.unit;
        let caller = submission.actor.identity();
        let mut loaded = Loaded {
            organisation: unit.organisation()?,
            project: find(reads.project.or(payer_project), |id| unit.project(id))?,
            identity: find(reads.identity, |id| unit.identity(id))?,
            actor: find(caller.filter(|_| reads.actor).map(|caller| caller.id), |id| unit.identity(id))?,
            action: find(reads.action, |id| unit.action(id))?,
            successor: find(reads.successor, |id| unit.action(id))?,
            worktree: find(reads.worktree, |id| unit.worktree(id))?,
            projects: if reads.others == Others::All { unit.projects()? } else { Vec::new() },
            touched: reads.touched_from.map(|from| unit.touched_contents(from)).transpose()?.unwrap_or_default(),
            run,
            parent,
            ..Loaded::default()
        };
        self.load_taken(&mut loaded, &reads, caller)?;
        if let Some(id) = reads.rests_on {
            loaded.actions = self.unit.unstarted_actions_naming(id)?;
            loaded.actions.retain(|action| action.rests_on(id));
            loaded.worktrees = self.unit.worktrees_naming(id)?;
        }
        loaded.workers = self.load_workers(&reads, loaded.run.as_ref(), loaded.action.as_ref())?;
        let resting = self.load_resting_runs(reads.rests_on, &loaded.actions)?;
        loaded.beside = self.load_beside(&reads, loaded.run.iter().chain(&resting), &loaded.actions)?;
        loaded.runs = resting.into_iter().chain(above).chain(others).collect();
        if let Some(run) = &loaded.run {
            if reads.givers {
                loaded.givers = self.load_givers(run)?;
            }
            if reads.questions {
                loaded.questions = self.load_questions(run, &submission.terms.asking)?;
            }
        }
        let project = loaded.run.as_ref().map(|run| run.project).or(reads.project);
        loaded.removed = self.load_removed(project, depended_on(&submission.command))?;
        Ok(loaded)
    }

    fn load_run(&mut self, id: Option<RunId>) -> StoreResult<Option<Run>> {
        find(id, |id| self.unit.run(id))
    }

    /// Loads the run that made a run, and the run that made that one, up to the first.
    fn load_above(&mut self, run: Option<&Run>) -> StoreResult<Vec<Run>> {
        let mut above: Vec<Run> = Vec::new();
        let mut next = run.and_then(|run| run.parent);
        while let Some(run) = self.load_run(next)? {
            next = run.parent;
            above.push(run);
        }
        Ok(above)
    }

    /// Loads unfinished runs, without those that are loaded already.
    fn load_others(&mut self, others: Others, loaded: [&Option<Run>; 2]) -> StoreResult<Vec<Run>> {
        let runs = match others {
            Others::None => return Ok(Vec::new()),
            Others::Children => match loaded[0] {
                Some(run) => self.unit.child_runs(run.project)?,
                None => Vec::new(),
            },
            Others::OfProject(project) => self.unit.unfinished_runs(Some(project))?,
            Others::All => self.unit.unfinished_runs(None)?,
        };
        let is_loaded = |id: RunId| loaded.iter().any(|known| known.as_ref().is_some_and(|run| run.id == id));
        Ok(runs.into_iter().filter(|run| !is_loaded(run.id)).collect())
    }

    /// Loads what a command wants to give out for the first time, as far as others have it.
    fn load_taken(&mut self, loaded: &mut Loaded, reads: &Reads<'_>, caller: Option<&Identity>) -> StoreResult<()> {
        if let Some(name) = reads.project_name {
            loaded.is_project_name_taken = self.unit.is_project_name_taken(name)?;
        }
        if let Some(token) = reads.token {
            loaded.is_token_taken = self.unit.is_token_taken(token)?;
        }
        if let Some(id) = reads.identity.filter(|_| reads.passkeys) {
            loaded.passkeys = self.load_passkeys(id)?;
        }
        if let Some(caller) = caller.filter(|_| reads.namesakes) {
            loaded.has_namesake = self.unit.count_named(&caller.name)? > 1;
        }
        Ok(())
    }

    fn load_passkeys(&mut self, except: IdentityId) -> StoreResult<Vec<Passkey>> {
        let others = self.unit.identities()?.into_iter().filter(|other| other.id != except);
        Ok(others.flat_map(|other| other.doors.passkeys().to_vec()).collect())
    }

    /// Determines whether a worker could have leased a waiting action: an eligible one that asked and got nothing could have. If no worker
    /// is executing an action, the result is `Free` too, because then no flood blocks the action.
    fn load_workers(
        &mut self,
        reads: &Reads<'_>,
        run: Option<&Run>,
        action: Option<&ActionState>,
    ) -> StoreResult<Workers> {
        let (true, Some(run), Some(action)) = (reads.workers, run, action) else { return Ok(Workers::Free) };
        let Some(since) = action.approved_at else { return Ok(Workers::Free) };
        if self.turns.was_idle(run, since) {
            return Ok(Workers::Free);
        }
        Ok(if self.unit.is_action_at_work()? { Workers::Busy } else { Workers::Free })
    }

    /// Loads the unfinished runs whose state names an identity, and the runs of the given actions, including finished ones.
    fn load_resting_runs(&mut self, id: Option<IdentityId>, actions: &[ActionState]) -> StoreResult<Vec<Run>> {
        let Some(id) = id else { return Ok(Vec::new()) };
        let mut runs = self.unit.runs_naming(id)?;
        for action in actions {
            if !runs.iter().any(|run| run.id == action.run) {
                runs.extend(self.unit.run(action.run)?);
            }
        }
        Ok(runs)
    }

    /// Counts the other open actions of these runs, if the command can start or end a wait for people.
    fn load_beside<'r>(
        &mut self,
        reads: &Reads<'_>,
        runs: impl Iterator<Item = &'r Run>,
        actions: &[ActionState],
    ) -> StoreResult<BTreeMap<RunId, Beside>> {
        if !reads.beside && actions.is_empty() {
            return Ok(BTreeMap::new());
        }
        let loaded = reads.action.into_iter().chain(reads.successor).chain(actions.iter().map(|action| action.id));
        let loaded: Vec<ActionId> = loaded.collect();
        // Waits for people matter only in runs whose working time is bounded.
        let timed = runs.filter(|run| run.bounds_time());
        timed.map(|run| Ok((run.id, self.unit.count_beside(run, &loaded)?))).collect()
    }

    /// Counts what the family of a run has asked of people. Nothing is counted where nothing is bounded.
    fn load_questions(&mut self, run: &Run, terms: &Asking) -> StoreResult<Questions> {
        if terms.most_undecided == 0 && terms.most_asked == 0 && terms.most_waiting == 0 {
            return Ok(Questions::default());
        }
        let first = self.load_above(Some(run))?.last().map_or(run.id, |first| first.id);
        self.unit.count_questions(run, first, terms)
    }

    /// Loads the givers of orders that may still be used, as they are now.
    fn load_givers(&mut self, run: &Run) -> StoreResult<Vec<Identity>> {
        let standing = run.orders.iter().filter(|order| order.revoked.is_none() && self.now < order.until);
        let givers: BTreeSet<IdentityId> = standing.map(|order| order.giver).collect();
        givers.into_iter().filter_map(|id| self.unit.identity(id).transpose()).collect()
    }

    /// Finds the contents that the project has removed.
    fn load_removed(&mut self, project: Option<ProjectId>, needed: Vec<Digest>) -> StoreResult<BTreeSet<Digest>> {
        let Some(project) = project else { return Ok(BTreeSet::new()) };
        let mut removed = BTreeSet::new();
        for digest in needed {
            if self.unit.is_content_removed(project, digest)? {
                removed.insert(digest);
            }
        }
        Ok(removed)
    }
}

fn find<K, T>(id: Option<K>, load: impl FnOnce(K) -> StoreResult<Option<T>>) -> StoreResult<Option<T>> {
    id.map_or(Ok(None), load)
}
