//! The thin part: a terminal, a connection and a clock around a [`Sitting`]. Draws what it says, carries out what it intends.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::tz::TimeZone;
use placet_domain::id::ProjectId;
use placet_wire::api::{InboxView, OrderOffer, StreamQuery};
use placet_wire::{Client, ClientError};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

use super::card::Card;
use super::decision::{Attend, Decision, Intent, Refused};
use super::office;
use super::row::Subject;
use super::sitting::{Sitting, Wire};
use crate::command::amend::{self, Source, Wanted};
use crate::command::approve::{Looked, pause_for_enter};
use crate::command::word::Asks;
use crate::error::{CliError, Code, chain};
use crate::following::{BETWEEN_TRIES, LONGEST_SILENCE, News, follow};
use crate::out::Out;
use crate::terminal::rich::Letters;
use crate::terminal::screen::Ink;
use crate::terminal::signals::{Heard, Signals};
use crate::terminal::stage::Stage;
use crate::terminal::stroke::{Stroke, Strokes};

/// News come in bursts; what waits is fetched once for each.
const TICK: Duration = Duration::from_millis(50);
/// Whoever tells more than is heard waits.
const MOST_UNHEARD: usize = 64;

/// What comes from the control plane.
enum Told {
    Heard(News),
    Listed(Result<(InboxView, Option<String>), ClientError>),
    Looked(Subject, Result<Card, CliError>),
    Foreseen(Subject, u32, Result<String, CliError>),
    Offered(Subject, Result<OrderOffer, CliError>),
    Attended(Subject, Result<String, CliError>),
    Decided(Decision, Result<String, Refused>),
}

impl From<News> for Told {
    fn from(news: News) -> Self {
        Self::Heard(news)
    }
}

/// How somebody wants to see it.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    pub(super) ink: Ink,
    pub(super) letters: Letters,
    pub(super) project: Option<ProjectId>,
    pub(super) first: Option<Subject>,
    /// Where people come with a browser.
    pub(super) seat: String,
}

struct Shell<'a> {
    client: Client,
    out: &'a Out,
    manner: Manner,
    stage: Stage,
    sitting: Sitting,
    strokes: Strokes,
    tell: Sender<Told>,
    /// How much of what waits is fetched.
    pages: usize,
    /// Something happened since what waits was last fetched.
    has_news: bool,
    is_listing: bool,
    /// Something else is to be seen than what was drawn last.
    is_changed: bool,
}

enum Goes {
    On,
    Away,
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

pub(super) async fn sit(client: Client, manner: Manner, out: &Out) -> Result<(), CliError> {
    // Before the window is taken: whoever cannot be reached, or does not let us in, says so where it stays to be read.
    let (inbox, switch) = office::inbox(&client, manner.project, 1).await?;
    let signals = Signals::listen()?;
    let stage = Stage::enter(manner.ink)?;
    let (tell, told) = channel(MOST_UNHEARD);
    let stream = StreamQuery { project: manner.project, last: None };
    let following = tokio::spawn(follow(client.clone(), stream, LONGEST_SILENCE, tell.clone()));
    let mut sitting = Sitting::new(stage.size(), manner.letters, now_ms()).in_zone(TimeZone::system());
    let mut first = manner.first.map(|subject| sitting.open(subject)).unwrap_or_default();
    first.extend(sitting.listed(&inbox, switch));
    let strokes = Strokes::default();
    let mut shell = Shell {
        client,
        out,
        manner,
        stage,
        sitting,
        strokes,
        tell,
        pages: 1,
        has_news: false,
        is_listing: false,
        is_changed: true,
    };
    let ended = shell.until_over((told, signals), first).await;
    following.abort();
    shell.stage.leave();
    ended
}

impl Shell<'_> {
    async fn until_over(
        &mut self,
        (mut told, mut signals): (Receiver<Told>, Signals),
        first: Vec<Intent>,
    ) -> Result<(), CliError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.carry_out(first).await?;
        loop {
            if self.is_changed {
                self.draw()?;
            }
            self.is_changed = true;
            let intents = tokio::select! {
                typed = self.stage.typed() => match typed {
                    Ok(bytes) if !bytes.is_empty() => self.typed(&bytes),
                    // The window is closed.
                    Ok(_) | Err(_) => return Ok(()),
                },
                Some(told) = told.recv() => self.told(told),
                _ = ticks.tick() => self.tick(),
                heard = signals.next() => self.heard(heard)?,
            };
            if let Goes::Away = self.carry_out(intents).await? {
                return Ok(());
            }
        }
    }

    fn heard(&mut self, heard: Heard) -> Result<Vec<Intent>, CliError> {
        let over = |how: &str| Err(CliError::new(Code::Interrupted, format!("{how}; nothing else was decided")));
        match heard {
            Heard::Resized => self.sitting.resize(self.stage.size()),
            Heard::Stopped => return Ok(vec![Intent::Stop]),
            Heard::HungUp => return Ok(vec![Intent::Quit]),
            Heard::Ended => return over("told to stop"),
            Heard::Interrupted => return over("interrupted"),
        }
        Ok(Vec::new())
    }

    /// Shows it. What was typed before a card was seen was not meant for it, and is let go of.
    fn draw(&mut self) -> Result<(), CliError> {
        self.stage.show(self.sitting.draw())?;
        if self.sitting.awaits_drawing() {
            self.strokes.of(&self.stage.typed_so_far());
            self.sitting.drawn();
            self.stage.show(self.sitting.draw())?;
        }
        Ok(())
    }

    fn typed(&mut self, bytes: &[u8]) -> Vec<Intent> {
        let strokes = self.strokes.of(bytes);
        strokes.iter().flat_map(|stroke| self.sitting.stroke(stroke, now_ms())).collect()
    }

    fn tick(&mut self) -> Vec<Intent> {
        let mut strokes = self.strokes.quiet();
        // A paste takes back what waits for quiet, before its end has come too.
        strokes.extend(self.strokes.is_pasting().then_some(Stroke::Unknown));
        let mut intents: Vec<Intent> =
            strokes.iter().flat_map(|stroke| self.sitting.stroke(stroke, now_ms())).collect();
        let before_ms = self.sitting.now_ms();
        intents.extend(self.sitting.tick(now_ms()));
        // Ages are told in seconds; a long card is not made anew for nothing.
        self.is_changed = !strokes.is_empty() || !intents.is_empty() || before_ms / 1_000 != now_ms() / 1_000;
        if self.has_news && !self.is_listing {
            intents.push(Intent::List);
        }
        intents
    }

    fn heard_of(&mut self, news: &News) {
        match news {
            News::Live => {
                self.sitting.wire(Wire::Live);
                // What happened between two connections is seen by fetching what waits.
                self.has_news = true;
            }
            // Nothing else is to be seen until what waits was fetched.
            News::Event(_) => (self.has_news, self.is_changed) = (true, false),
            News::Silent => self.sitting.wire(Wire::Lost("nothing is heard from it".to_owned())),
            News::Lost(error) => self.sitting.wire(Wire::Lost(brief(error))),
        }
    }

    fn told(&mut self, told: Told) -> Vec<Intent> {
        match told {
            Told::Heard(news) => self.heard_of(&news),
            Told::Listed(listed) => {
                self.is_listing = false;
                match listed {
                    Ok((inbox, switch)) => {
                        self.sitting.wire(Wire::Live);
                        return self.sitting.listed(&inbox, switch);
                    }
                    Err(error) => {
                        self.has_news = true;
                        self.sitting.wire(Wire::Lost(brief(&error)));
                    }
                }
            }
            Told::Looked(_, Ok(card)) => self.sitting.looked(card),
            Told::Looked(subject, Err(error)) => self.sitting.not_looked(subject, error.message),
            Told::Foreseen(subject, to, said) => {
                self.sitting.foreseen(subject, to, said.map_err(|error| error.message));
            }
            Told::Offered(subject, said) => self.sitting.offered(subject, said.map_err(|error| error.message)),
            Told::Attended(subject, said) => {
                return self.sitting.attended(subject, said.map_err(|error| error.message));
            }
            Told::Decided(decision, Ok(told)) => return self.sitting.decided(&decision, &told),
            Told::Decided(decision, Err(refused)) => return self.sitting.refused(&decision, &refused),
        }
        Vec::new()
    }

    async fn carry_out(&mut self, intents: Vec<Intent>) -> Result<Goes, CliError> {
        for intent in intents {
            match intent {
                Intent::Quit => return Ok(Goes::Away),
                Intent::List => self.list(),
                Intent::More => {
                    self.pages += 1;
                    self.list();
                }
                Intent::Look(subject) => self.look(subject),
                Intent::Foresee(subject, to) => self.foresee(subject, to),
                Intent::Offer(subject) => self.ask_for_order(subject),
                Intent::Attend(subject, attend) => self.attend(subject, attend),
                Intent::Decide(decision) => self.send(decision),
                Intent::Edit { subject, seen, reason, slowly } => self.edit(subject, seen, reason, slowly).await?,
                Intent::Copy(id) => {
                    self.stage.copy(&STANDARD.encode(&id))?;
                    self.sitting.says(format!("copied {id}, if your terminal lets it"));
                }
                Intent::Open(page) => self.open(&page),
                Intent::Stop => self.stop()?,
            }
        }
        Ok(Goes::On)
    }

    /// One at a time: what is asked for meanwhile is fetched after it.
    fn list(&mut self) {
        if self.is_listing {
            self.has_news = true;
            return;
        }
        (self.has_news, self.is_listing) = (false, true);
        let (client, tell, project, pages) = (self.client.clone(), self.tell.clone(), self.manner.project, self.pages);
        tokio::spawn(async move {
            let listed = office::inbox(&client, project, pages).await;
            if listed.is_err() {
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            tell.send(Told::Listed(listed)).await
        });
    }

    fn look(&self, subject: Subject) {
        let (client, tell) = (self.client.clone(), self.tell.clone());
        tokio::spawn(async move { tell.send(Told::Looked(subject, office::look(&client, subject).await)).await });
    }

    fn foresee(&self, subject: Subject, to: u32) {
        let (client, tell) = (self.client.clone(), self.tell.clone());
        tokio::spawn(async move {
            let said = office::foreseen(&client, subject, to).await;
            tell.send(Told::Foreseen(subject, to, said)).await
        });
    }

    fn ask_for_order(&self, subject: Subject) {
        let (client, tell) = (self.client.clone(), self.tell.clone());
        tokio::spawn(async move {
            let said = office::offered(&client, subject).await;
            tell.send(Told::Offered(subject, said)).await
        });
    }

    fn attend(&self, subject: Subject, attend: Attend) {
        let (client, tell) = (self.client.clone(), self.tell.clone());
        tokio::spawn(async move {
            let said = office::attend(&client, subject, &attend).await;
            tell.send(Told::Attended(subject, said)).await
        });
    }

    fn send(&self, decision: Decision) {
        let (client, tell) = (self.client.clone(), self.tell.clone());
        tokio::spawn(async move {
            let sent = office::send(&client, &decision).await;
            tell.send(Told::Decided(decision, sent)).await
        });
    }

    /// The link, and a browser if there is one named.
    fn open(&mut self, page: &str) {
        let link = format!("{}{page}", self.manner.seat);
        let browser = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
        if let Some(browser) = browser {
            let mut command = tokio::process::Command::new(browser);
            let silent = std::process::Stdio::null;
            // One that does not start leaves the link on the screen.
            let _ = command.arg(&link).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
        }
        self.sitting.says(link);
    }

    /// The terminal is the editor's meanwhile, and the question's.
    async fn edit(
        &mut self,
        subject: Subject,
        seen: String,
        reason: String,
        slowly: Option<String>,
    ) -> Result<(), CliError> {
        self.stage.leave();
        let made = edited(&self.client, subject, seen, reason, slowly, self.out).await;
        let told = match made {
            Ok(told) => told,
            Err(error) => {
                self.out.fail(&error);
                pause_for_enter().await?;
                format!("not changed: {}", error.message)
            }
        };
        self.stage.resume()?;
        self.sitting.resize(self.stage.size());
        let intents = self.sitting.edited(told);
        for intent in intents {
            match intent {
                Intent::Look(subject) => self.look(subject),
                Intent::List => self.list(),
                Intent::More
                | Intent::Decide(_)
                | Intent::Foresee(..)
                | Intent::Offer(_)
                | Intent::Attend(..)
                | Intent::Edit { .. }
                | Intent::Copy(_)
                | Intent::Open(_)
                | Intent::Stop
                | Intent::Quit => {}
            }
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), CliError> {
        self.stage.stand_still()?;
        self.sitting.resize(self.stage.size());
        self.has_news = true;
        Ok(())
    }
}

async fn edited(
    client: &Client,
    subject: Subject,
    seen: String,
    reason: String,
    slowly: Option<String>,
    out: &Out,
) -> Result<String, CliError> {
    let looked = Looked::at(client, &subject.id()).await?;
    let asks = slowly.map_or_else(|| Asks::about(&looked.detail.action), Asks::Slowly);
    let wanted = Wanted { source: Source::Editor, reason, seen: Some(seen), asks };
    let view = amend::amend(client, &looked, wanted, out).await?;
    Ok(format!("in its place stands {} ({})", view.id, view.status))
}

fn brief(error: &ClientError) -> String {
    match error {
        ClientError::Unreachable { source, .. } => chain(source).rsplit(": ").next().unwrap_or_default().to_owned(),
        ClientError::Refused(problem) => problem.detail.clone(),
        ClientError::Garbled { why, .. } => why.clone(),
        ClientError::Stranger { .. } => error.to_string(),
    }
}
