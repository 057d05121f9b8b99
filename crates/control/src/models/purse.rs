//! The purse of every run. A part of its budget is held in the ledger before the first call and drawn from in memory, so that a
//! call waits for no disk; when it does not suffice, another part is held. Parts that nobody uses go back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use placet_domain::budget::{Amounts, Budget, Purpose, Resource};
use placet_domain::command::Command;
use placet_domain::id::RunId;
use placet_domain::identity::Actor;
use placet_domain::refusal::Refusal;
use placet_domain::run::{ModelCall, RunCommand};
use placet_gateway::llm::purse::{Draw, NotDrawn, Purse};
use placet_gateway::llm::words::Words;
use tokio::sync::mpsc;

use super::account::{Account, Rest, new_purpose};
use crate::app::App;
use crate::flow::No;
use crate::names::fresh_uuid;

/// For how many calls like the present one a part is held: enough that few calls ask, little enough that what a crash costs is little.
const CALLS_IN_A_PART: u64 = 4;
/// A store that is away for a moment is waited for.
const RETRY: Duration = Duration::from_millis(200);
/// Words that wait to be kept, of all runs together. Beyond, calls are recorded without theirs: a store that is away for long, or an agent
/// that says much, must not take the memory of everybody else.
const MOST_WAITING_BYTES: usize = 256 << 20;
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
    /// What was said in calls that are about to be settled.
    words: Mutex<HashMap<String, Words>>,
    waiting_bytes: AtomicUsize,
    /// Itself, for what must go on when nobody waits for it any more.
    this: Weak<Self>,
}

impl RunPurse {
    pub(super) fn open(app: App) -> (Arc<Self>, mpsc::UnboundedReceiver<Charged>) {
        // Not bounded by itself: there are no more calls than were drawn for, and what can be drawn is bounded.
        let (calls, recorded) = mpsc::unbounded_channel();
        let (accounts, words) = (Mutex::default(), Mutex::default());
        let (closing, waiting_bytes) = (AtomicBool::new(false), AtomicUsize::new(0));
        let purse = Arc::new_cyclic(|this| Self {
            app,
            accounts,
            calls,
            closing,
            words,
            waiting_bytes,
            this: Weak::clone(this),
        });
        (purse, recorded)
    }

    /// These words wait no longer.
    pub(super) fn let_go_of(&self, words: &Words) {
        self.waiting_bytes.fetch_sub(size_of_words(words), Ordering::Relaxed);
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
        // What is too little for this call is more together with the rest.
        self.give_back(run, account.take_idle(Duration::ZERO)).await;
        let budget = self.budget(run).await?;
        let left = left(&budget);
        if worst.tokens > left.tokens || worst.usd_micros > left.usd_micros {
            return Err(NotDrawn::Exhausted { left: larger(account.left(), left, &budget) });
        }
        let (purpose, amounts) = (new_purpose(&fresh_uuid().simple().to_string()), part(worst, left));
        self.hold(run, purpose.clone(), amounts).await?;
        account.add(purpose, amounts);
        account.draw(worst).ok_or(NotDrawn::Exhausted { left: amounts })
    }

    async fn budget(&self, run: RunId) -> Result<Budget, NotDrawn> {
        let run = self.app.store().run(run).await.map_err(|error| NotDrawn::Fault(error.to_string()))?;
        let budget = run.and_then(|run| run.budget);
        let limited = budget.filter(|budget| budget.ceiling.usd_micros.is_some() || budget.ceiling.tokens.is_some());
        let none = "it has no budget for models; a reviewer can give it one in money or tokens";
        limited.ok_or_else(|| NotDrawn::Closed(none.to_owned()))
    }

    async fn hold(&self, run: RunId, purpose: Purpose, amounts: Amounts) -> Result<(), NotDrawn> {
        let hold = Command::Run { id: run, command: RunCommand::Hold { purpose, amounts } };
        match self.app.submit(Actor::Runtime, hold, None).await {
            Ok(_) => Ok(()),
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
            let settle = RunCommand::Settle { purpose, spent };
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

    /// Lets go of everything that nobody has used for a while.
    pub(super) async fn tidy(&self) {
        self.let_go(IDLE).await;
    }

    /// Takes no more calls, and lets go of everything that nobody uses. Gives whether something is still used.
    pub(super) async fn close(&self) -> bool {
        self.closing.store(true, Ordering::Relaxed);
        self.let_go(Duration::ZERO).await;
        !self.accounts().is_empty()
    }

    /// So many calls that were drawn from this part are in the ledger.
    pub(super) fn recorded(&self, run: RunId, purpose: &str, calls: usize, spent: Amounts) {
        self.account(run).record(purpose, calls, spent);
    }

    async fn let_go(&self, idle_for: Duration) {
        let accounts: Vec<(RunId, Arc<Account>)> =
            self.accounts().iter().map(|(run, account)| (*run, Arc::clone(account))).collect();
        for (run, account) in accounts {
            let _asking = account.asking.lock().await;
            self.give_back(run, account.take_idle(idle_for)).await;
        }
        // Whoever has just been given an account keeps it alive.
        self.accounts().retain(|_, account| !account.is_empty() || Arc::strong_count(account) > 1);
    }
}

/// What may still be held of tokens and money; without end where that is not limited.
fn left(budget: &Budget) -> Amounts {
    let of = |resource| budget.left(resource).unwrap_or(u64::MAX);
    Amounts { tokens: of(Resource::Tokens), usd_micros: of(Resource::UsdMicros), ..Amounts::NONE }
}

/// What one call can have at most: from a part that is held, or from what is left of the budget. Compared by what is limited.
fn larger(held: Amounts, left: Amounts, budget: &Budget) -> Amounts {
    let measure = |amounts: Amounts| match budget.ceiling.usd_micros {
        Some(_) => amounts.usd_micros,
        None => amounts.tokens,
    };
    if measure(held) > measure(left) { held } else { left }
}

fn part(worst: Amounts, left: Amounts) -> Amounts {
    Amounts {
        tokens: worst.tokens.saturating_mul(CALLS_IN_A_PART).min(left.tokens),
        usd_micros: worst.usd_micros.saturating_mul(CALLS_IN_A_PART).min(left.usd_micros),
        ..Amounts::NONE
    }
}

const fn size_of_words(words: &Words) -> usize {
    words.request.bytes.len() + words.response.bytes.len()
}

impl Purse for RunPurse {
    async fn draw(&self, run: RunId, worst: Amounts) -> Result<Draw, NotDrawn> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(NotDrawn::Closed("the control plane is stopping; try again in a moment".to_owned()));
        }
        let account = self.account(run);
        if let Some(draw) = account.draw(worst) {
            return Ok(draw);
        }
        // In a task of its own: an agent that hangs up meanwhile must not leave something held that nobody knows of.
        let purse = self.this.upgrade().ok_or_else(|| NotDrawn::Fault("the purse is gone".to_owned()))?;
        let holding = tokio::spawn(async move { purse.hold_more(&account, run, worst).await });
        holding.await.unwrap_or_else(|lost| Err(NotDrawn::Fault(lost.to_string())))
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
            self.let_go_of(&words);
            tracing::error!(call, waiting, "too many words wait to be kept; those of this call are not");
            return;
        }
        self.words.lock().unwrap_or_else(PoisonError::into_inner).insert(call.to_owned(), words);
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
