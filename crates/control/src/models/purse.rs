//! The purse of every run. A part of its budget is held in the ledger before the first call and drawn from in memory, so that a
//! call waits for no disk; before it is used up, another part is held. Parts that nobody uses go back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use placet_domain::budget::{Amounts, Budget, Resource};
use placet_domain::command::Command;
use placet_domain::id::RunId;
use placet_domain::identity::Actor;
use placet_domain::refusal::Refusal;
use placet_domain::run::{BudgetCommand, ModelCall, RunCommand};
use placet_llm::purse::{Draw, NotDrawn, Purse, Unclaimed};
use placet_llm::words::Words;
use tokio::sync::{Notify, mpsc};

use super::account::{Account, Rest, new_purpose};
use super::counts::Counts;
use crate::app::App;
use crate::flow::No;
use crate::names::fresh_uuid;

/// For how many calls like the present one a part is held at least: enough that few calls ask, little enough that what a crash costs
/// is little.
const CALLS_IN_A_PART: u64 = 4;
/// Who calls often has parts that last for a second, or for four times as long as the ledger takes: disks that others use too stall
/// for a tenth of a second now and then.
const PART_MS: u64 = 1_000;
/// The next part is asked for when what is held lasts for a quarter of that, or for two calls.
const AHEAD: u64 = 2;
/// A disk that takes longer than this is not waited for by holding ever more.
const SLOWEST_MS: u64 = 2_000;
/// Of what is left of a budget, so much is held in one part at most where more than one call is held for.
const PARTS_IN_A_BUDGET: u64 = 8;
/// A store that is away for a moment is waited for.
const RETRY: Duration = Duration::from_millis(200);
/// Words that wait to be kept, of all runs together. Beyond, calls are recorded without theirs: a store that is away for long, or an agent
/// that says much, must not take the memory of everybody else.
const MOST_WAITING_BYTES: usize = 256 << 20;
/// How long a call waits for others to be recorded, where only what they left over would suffice for it.
const MOST_HURRY: Duration = Duration::from_secs(2);
/// Calls of one run that wait to be recorded. Beyond, it is told to come again: some calls cost nothing, so no budget bounds them.
const MOST_BEHIND: u64 = 4_096;
/// An agent thinks for a while between two calls.
const IDLE: Duration = Duration::from_secs(5);

/// A call that is over, and what it was drawn from.
#[derive(Debug)]
pub(super) struct Charged {
    pub(super) run: RunId,
    pub(super) purpose: String,
    pub(super) call: ModelCall,
    /// What was said, where the project keeps it.
    pub(super) words: Option<Words>,
}

#[derive(Debug)]
pub(super) struct RunPurse {
    app: App,
    accounts: Mutex<HashMap<RunId, Arc<Account>>>,
    calls: mpsc::UnboundedSender<Charged>,
    closing: AtomicBool,
    /// Somebody waits for calls to be recorded.
    hurry: Notify,
    /// What was said in calls that are about to be settled.
    words: Mutex<HashMap<String, Words>>,
    waiting_bytes: AtomicUsize,
    counts: Counts,
    /// Itself, for what must go on when nobody waits for it any more.
    this: Weak<Self>,
}

impl RunPurse {
    pub(super) fn open(app: App) -> (Arc<Self>, mpsc::UnboundedReceiver<Charged>) {
        // Not bounded by itself: a run that is too far behind draws nothing more.
        let (calls, recorded) = mpsc::unbounded_channel();
        let (accounts, words, counts) = (Mutex::default(), Mutex::default(), Counts::default());
        let (closing, hurry, waiting_bytes) = (AtomicBool::new(false), Notify::new(), AtomicUsize::new(0));
        let purse = Arc::new_cyclic(|this| Self {
            app,
            accounts,
            calls,
            closing,
            hurry,
            words,
            waiting_bytes,
            counts,
            this: Weak::clone(this),
        });
        (purse, recorded)
    }

    /// These words wait no longer.
    pub(super) fn took_words(&self, words: &Words) {
        self.waiting_bytes.fetch_sub(size_of_words(words), Ordering::Relaxed);
    }

    pub(super) const fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) const fn app(&self) -> &App {
        &self.app
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Account>>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn account(&self, run: RunId) -> Arc<Account> {
        Arc::clone(self.accounts().entry(run).or_insert_with(|| Arc::new(Account::new(run))))
    }

    /// Holds another part of the run's budget. What other calls let go of meanwhile may suffice, so that is tried first.
    async fn hold_more(&self, account: &Account, run: RunId, worst: Amounts) -> Result<Draw, NotDrawn> {
        let _asking = account.asking.lock().await;
        if let Some(draw) = account.draw(worst) {
            return Ok(draw);
        }
        // Counted first: what is recorded from here on has not gone back yet when that is looked at.
        let over = account.over();
        let is_behind = account.behind(over) > 0;
        let mut budget = self.gathered_budget(account, run).await?;
        if is_behind && !covers(left(&budget), worst) {
            self.have_recorded(account, over).await?;
            budget = self.gathered_budget(account, run).await?;
        }
        let left = left(&budget);
        if !covers(left, worst) {
            return Err(NotDrawn::Exhausted { left: larger(account.left(), left, &budget) });
        }
        let amounts = part(worst, left, calls_in_a_part(account));
        self.hold(run, account, amounts).await?;
        account.draw(worst).ok_or(NotDrawn::Exhausted { left: amounts })
    }

    /// The budget after what nobody uses went back: what is too little for a call is more together with the rest.
    async fn gathered_budget(&self, account: &Account, run: RunId) -> Result<Budget, NotDrawn> {
        self.give_back(run, account.take_idle(Duration::ZERO)).await;
        self.budget(run).await
    }

    /// Has calls recorded that are over: what they did not take can go back only then. That it takes long is no sign of an empty purse.
    async fn have_recorded(&self, account: &Account, over: u64) -> Result<(), NotDrawn> {
        self.hurry.notify_one();
        let recorded = tokio::time::timeout(MOST_HURRY, account.recorded(over)).await;
        recorded.map_err(|_| NotDrawn::Fault("calls that are over are not recorded yet".to_owned()))
    }

    /// Returns when a batch of calls should be recorded: after this time, or at once if somebody waits for it.
    pub(super) async fn gathered(&self, at_most: Duration) {
        let _ = tokio::time::timeout(at_most, self.hurry.notified()).await;
    }

    /// Holds the next part before it is needed, for a run that calls often and has enough: then no call waits for a disk.
    fn look_ahead(&self, account: &Arc<Account>, run: RunId, worst: Amounts) {
        let calls = calls_in_a_part(account);
        if account.covers(worst) >= AHEAD.max(calls / 4) {
            return;
        }
        // Somebody else may be at it already.
        let Ok(asking) = Arc::clone(&account.asking).try_lock_owned() else { return };
        let (Some(purse), account) = (self.this.upgrade(), Arc::clone(account)) else { return };
        tokio::spawn(async move {
            let _asking = asking;
            let Ok(budget) = purse.budget(run).await else { return };
            let left = left(&budget);
            let amounts = part(worst, left, calls);
            let is_little = |part: u64, left: u64| part <= left / PARTS_IN_A_BUDGET;
            if is_little(amounts.tokens, left.tokens) && is_little(amounts.usd_micros, left.usd_micros) {
                // If it is refused, the next call learns why.
                let _ = purse.hold(run, &account, amounts).await;
            }
        });
    }

    async fn budget(&self, run: RunId) -> Result<Budget, NotDrawn> {
        let run = self.app.store().run(run).await.map_err(|error| NotDrawn::Fault(error.to_string()))?;
        let budget = run.and_then(|run| run.budget);
        let limited = budget.filter(|budget| budget.ceiling.usd_micros.is_some() || budget.ceiling.tokens.is_some());
        let none = "it has no budget for models; a reviewer can give it one in money or tokens";
        limited.ok_or_else(|| NotDrawn::Closed(none.to_owned()))
    }

    async fn hold(&self, run: RunId, account: &Account, amounts: Amounts) -> Result<(), NotDrawn> {
        let purpose = new_purpose(&fresh_uuid().simple().to_string());
        let hold = RunCommand::Budget(BudgetCommand::Hold { purpose: purpose.clone(), amounts });
        let started = Instant::now();
        match self.app.submit(Actor::Runtime, Command::Run { id: run, command: hold }, None).await {
            Ok(_) => {
                account.add(purpose, amounts, started.elapsed());
                Ok(())
            }
            Err(No::Refused(Refusal::Budget { .. })) => {
                Err(NotDrawn::Exhausted { left: self.budget(run).await.map(|budget| left(&budget))? })
            }
            Err(No::Refused(refusal)) => Err(NotDrawn::Closed(refusal.to_string())),
            Err(no) => Err(NotDrawn::Fault(no.to_string())),
        }
    }

    /// Lets go of what is left of these parts.
    async fn give_back(&self, run: RunId, rests: Vec<Rest>) {
        for Rest { purpose, spent } in rests {
            let settle = RunCommand::Budget(BudgetCommand::Settle { purpose, spent });
            let settle = Command::Run { id: run, command: settle };
            while let Err(no) = self.app.submit(Actor::Runtime, settle.clone(), None).await {
                tracing::warn!(%run, error = %no, "what was held for calls of models could not be let go of");
                if matches!(no, No::Refused(_)) {
                    break;
                }
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Lets go of everything that nobody has used for a while, and at once of what was held for runs that are over.
    pub(super) async fn tidy(&self) {
        for (run, account) in self.all_accounts() {
            let found = self.app.store().run(run).await.ok().flatten();
            let is_over = found.is_some_and(|run| run.status.is_final());
            self.let_go_of(run, &account, if is_over { Duration::ZERO } else { IDLE }).await;
        }
        self.forget_empty();
    }

    /// Takes no more calls, and lets go of everything that nobody uses. Gives whether something is still used.
    pub(super) async fn close(&self) -> bool {
        self.closing.store(true, Ordering::Relaxed);
        for (run, account) in self.all_accounts() {
            self.let_go_of(run, &account, Duration::ZERO).await;
        }
        self.forget_empty();
        !self.accounts().is_empty()
    }

    /// So many calls that were drawn from this part are in the ledger.
    pub(super) fn recorded(&self, run: RunId, purpose: &str, calls: usize, spent: Amounts) {
        self.account(run).record(purpose, calls, spent);
    }

    fn all_accounts(&self) -> Vec<(RunId, Arc<Account>)> {
        self.accounts().iter().map(|(run, account)| (*run, Arc::clone(account))).collect()
    }

    async fn let_go_of(&self, run: RunId, account: &Account, idle_for: Duration) {
        // Not waited for: whoever asks may wait for calls to be recorded, and this is called by whoever records them.
        let Ok(_asking) = account.asking.try_lock() else { return };
        self.give_back(run, account.take_idle(idle_for)).await;
    }

    /// Whoever has just been given an account keeps it alive.
    fn forget_empty(&self) {
        self.accounts().retain(|_, account| !account.is_empty() || Arc::strong_count(account) > 1);
    }
}

/// What may still be held of tokens and money; without end where that is not limited.
fn left(budget: &Budget) -> Amounts {
    let of = |resource| budget.left(resource).unwrap_or(u64::MAX);
    Amounts { tokens: of(Resource::Tokens), usd_micros: of(Resource::UsdMicros), ..Amounts::NONE }
}

const fn covers(left: Amounts, worst: Amounts) -> bool {
    worst.tokens <= left.tokens && worst.usd_micros <= left.usd_micros
}

/// What one call can have at most: from a part that is held, or from what is left of the budget. Compared by what is limited.
fn larger(held: Amounts, left: Amounts, budget: &Budget) -> Amounts {
    let measure = |amounts: Amounts| match budget.ceiling.usd_micros {
        Some(_) => amounts.usd_micros,
        None => amounts.tokens,
    };
    if measure(held) > measure(left) { held } else { left }
}

/// Counts a call, and tells for how many like it the next part should be.
fn calls_in_a_part(account: &Account) -> u64 {
    let lasts_ms = PART_MS.max(account.took_ms().min(SLOWEST_MS) * 4);
    CALLS_IN_A_PART.max(account.pace().saturating_mul(lasts_ms) / 1_000)
}

/// For so many calls like this one where that is little of what is left; else for some, or for what there is.
fn part(worst: Amounts, left: Amounts, calls: u64) -> Amounts {
    let of = |worst: u64, left: u64| {
        let some = worst.saturating_mul(CALLS_IN_A_PART);
        let many = worst.saturating_mul(calls).min(left / PARTS_IN_A_BUDGET);
        some.max(many).min(left)
    };
    Amounts {
        tokens: of(worst.tokens, left.tokens),
        usd_micros: of(worst.usd_micros, left.usd_micros),
        ..Amounts::NONE
    }
}

/// What they take, which may be more than there is in them.
const fn size_of_words(words: &Words) -> usize {
    words.request.bytes.capacity() + words.response.bytes.capacity()
}

impl Purse for RunPurse {
    async fn draw(&self, run: RunId, worst: Amounts) -> Result<Draw, NotDrawn> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(NotDrawn::Closed("the control plane is stopping; try again in a moment".to_owned()));
        }
        let account = self.account(run);
        if account.behind(account.over()) > MOST_BEHIND {
            return Err(NotDrawn::Fault("too many calls of this run wait to be recorded".to_owned()));
        }
        if let Some(draw) = account.draw(worst) {
            self.look_ahead(&account, run, worst);
            return Ok(draw);
        }
        // In a task of its own: an agent that hangs up meanwhile must not leave something held that nobody knows of.
        let purse = self.this.upgrade().ok_or_else(|| NotDrawn::Fault("the purse is gone".to_owned()))?;
        let holding = tokio::spawn(async move { purse.hold_more(&account, run, worst).await.map(Unclaimed::new) });
        holding.await.unwrap_or_else(|lost| Err(NotDrawn::Fault(lost.to_string()))).map(Unclaimed::claim)
    }

    fn settle(&self, draw: Draw, spent: Amounts, call: ModelCall) {
        let (run, purpose) = (draw.run(), draw.origin().to_owned());
        // In this order: a part counts as idle as soon as nothing is drawn from it and nothing queued.
        self.account(run).queue(&purpose);
        draw.spend(spent);
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner).remove(&call.id);
        let _ = self.calls.send(Charged { run, purpose, call, words });
    }

    fn keep_words(&self, call: &str, words: Words) {
        let size = size_of_words(&words);
        let waiting = self.waiting_bytes.fetch_add(size, Ordering::Relaxed);
        if waiting + size > MOST_WAITING_BYTES {
            self.took_words(&words);
            tracing::error!(call, waiting, "too many words wait to be kept; those of this call are not");
            return;
        }
        self.words.lock().unwrap_or_else(PoisonError::into_inner).insert(call.to_owned(), words);
    }

    fn refused(&self, run: RunId, reason: &'static str, said: &str) {
        self.counts.refused(run, reason, said);
    }

    fn ran_dry(&self, run: RunId, short: Resource) {
        let app = self.app.clone();
        tokio::spawn(async move {
            let dry = Command::Run { id: run, command: RunCommand::RunDry { resource: short } };
            if let Err(no) = app.submit(Actor::Runtime, dry, None).await {
                tracing::debug!(%run, error = %no, "it does not work any more");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(tokens: u64, usd_micros: u64) -> Amounts {
        Amounts { tokens, usd_micros, ..Amounts::NONE }
    }

    #[test]
    fn c12_a_part_is_for_four_calls_or_for_more_where_that_is_little_of_what_is_left() {
        let (worst, much) = (amounts(100, 10), amounts(1_000_000, u64::MAX));
        assert_eq!(part(worst, much, 4), amounts(400, 40));
        assert_eq!(part(worst, much, 100), amounts(10_000, 1_000));
        assert_eq!(part(worst, much, 250_000), amounts(125_000, 2_500_000), "an eighth of what is left at most");
        assert_eq!(part(worst, amounts(250, u64::MAX), 100), amounts(250, 1_000), "and never more than there is");
    }

    #[test]
    fn c12_who_calls_often_has_parts_that_last_longer_than_the_ledger_takes() {
        let account = Account::new(RunId::from_bytes([1; 16]));
        assert_eq!(calls_in_a_part(&account), CALLS_IN_A_PART);
        let often = (0..399).map(|_| calls_in_a_part(&account)).last();
        assert_eq!(often, Some(400), "a second of them");
        account.add(new_purpose("a"), amounts(1, 1), Duration::from_millis(500));
        assert!(calls_in_a_part(&account) >= 800, "two seconds of them where the disk takes half a second");
    }
}
