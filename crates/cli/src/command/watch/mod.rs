//! `placet watch`: everything that happens in the runs that somebody sees, live. On a terminal one screen that is drawn anew;
//! elsewhere a line for each event, or with `--json` the entry itself. It begins with what happened last. A lost connection is taken up again where it broke.

mod board;
mod known;
mod pace;

use std::time::Duration;

use placet_domain::id::ProjectId;
use placet_wire::api::{InboxQuery, RunQuery, StreamQuery, WorkerList};
use placet_wire::endpoint::{ListRuns, ListWorkers, ShowInbox};
use placet_wire::{Client, ClientError, StreamEvent};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

use self::board::{Board, Happened, Standing};
use self::known::Known;
use self::pace::Pace;
use super::{project, review};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::following::{LONGEST_SILENCE, News, follow};
use crate::out::Out;
use crate::terminal;
use crate::terminal::rich::Letters;
use crate::terminal::signals::{Heard, Signals};
use crate::terminal::stage::Stage;
use crate::terminal::stroke::{Stroke, Strokes};

const TICK: Duration = Duration::from_millis(250);
/// Whoever tells more than is heard waits; what was told meanwhile is drawn at once.
const MOST_UNHEARD: usize = 256;
const MOST_RUNS: u32 = 50;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Ends with q or Ctrl-C. Elsewhere than at a terminal every event is a line; with --json it is its entry of the ledger.\n\nExamples:\n  placet --as ada watch\n  placet --as ada watch --last 0\n  placet --as ada --json watch --project alpha > events.ndjson"
)]
pub(crate) struct Args {
    /// Only what belongs to this project
    #[arg(long)]
    project: Option<String>,
    /// Begin with so many of the newest events
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=200))]
    last: u32,
    /// Letters that every terminal has
    #[arg(long)]
    ascii: bool,
}

/// What comes from the control plane.
enum Told {
    Event(StreamEvent),
    Live,
    /// Nothing was heard for too long.
    Silent,
    Lost(ClientError),
    Stands(Result<Box<Standing>, ClientError>),
    /// What actions are called.
    Named(Vec<(String, String)>),
}

impl From<News> for Told {
    fn from(news: News) -> Self {
        match news {
            News::Live => Self::Live,
            News::Event(event) => Self::Event(event),
            News::Silent => Self::Silent,
            News::Lost(error) => Self::Lost(error),
        }
    }
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let project = match &args.project {
        Some(name) => Some(project::find(&client, Some(name)).await?.id),
        None => None,
    };
    // Whoever cannot be reached, or does not let us in, says so at once.
    let standing = standing(&client, project).await?;
    let (tell, told) = channel(MOST_UNHEARD);
    let stream = StreamQuery { project, last: Some(args.last) };
    let following = tokio::spawn(follow(client.clone(), stream, LONGEST_SILENCE, tell.clone()));
    let ended = if out.is_json() || !terminal::is_ours() {
        lines(&client, told, out).await
    } else {
        let letters = if args.ascii { Letters::Ascii } else { Letters::All };
        let mut board = Board::new(letters);
        board.stands(standing);
        screen(Watcher { client, project, tell, board, pace: Pace::default(), is_asking: false }, told).await
    };
    following.abort();
    ended
}

async fn standing(client: &Client, project: Option<ProjectId>) -> Result<Standing, ClientError> {
    let inbox = client.get(ShowInbox { query: InboxQuery { project, ..InboxQuery::default() } }).await?;
    let query = RunQuery { project, limit: Some(MOST_RUNS), ..RunQuery::default() };
    let runs = client.get(ListRuns { query }).await?;
    let workers: WorkerList = client.get(ListWorkers {}).await?;
    Ok(Standing { inbox, runs: runs.runs, workers: workers.workers })
}

/// What belongs to no run is not told, only that it happened.
fn is_told(event: &StreamEvent) -> bool {
    event.data != "{}"
}

/// Line by line, for files and programs.
async fn lines(client: &Client, mut told: Receiver<Told>, out: &Out) -> Result<(), CliError> {
    let (mut is_lost, mut known) = (false, Known::default());
    while let Some(told) = told.recv().await {
        match told {
            Told::Event(event) if !is_told(&event) => {}
            Told::Event(event) if out.is_json() => out.data(&event.data),
            Told::Event(event) => out.line(&named(client, &mut known, &Happened::of(&event)).await),
            Told::Lost(error @ ClientError::Refused(_)) => return Err(error.into()),
            Told::Silent | Told::Lost(_) if !is_lost => {
                is_lost = true;
                out.note("the connection was lost; trying again");
            }
            Told::Live => is_lost = false,
            Told::Silent | Told::Lost(_) | Told::Stands(_) | Told::Named(_) => {}
        }
    }
    Ok(())
}

/// The line of an event, with what its action does: asked for once.
async fn named(client: &Client, known: &mut Known, happened: &Happened) -> String {
    let Some(action) = &happened.action else { return happened.line(None) };
    if known.title(action).is_none() {
        for (action, title) in known::asked(client, known.take_unknown()).await {
            known.learn(action, title);
        }
    }
    happened.line(known.get(action))
}

struct Watcher {
    client: Client,
    project: Option<ProjectId>,
    tell: Sender<Told>,
    board: Board,
    pace: Pace,
    /// What actions are called is on its way.
    is_asking: bool,
}

impl Watcher {
    fn told(&mut self, told: Told) {
        match told {
            Told::Event(event) => {
                self.pace.happened();
                if is_told(&event) {
                    self.board.happened(&event);
                }
            }
            Told::Live => {
                self.board.lost = None;
                self.pace.happened();
            }
            Told::Silent => self.board.lost = Some("nothing is heard from the control plane".to_owned()),
            Told::Lost(error) => self.board.lost = Some(CliError::from(error).message),
            Told::Stands(stands) => {
                self.pace.looked();
                match stands {
                    Ok(standing) => self.board.stands(*standing),
                    Err(error) => self.board.lost = Some(CliError::from(error).message),
                }
            }
            Told::Named(named) => {
                self.is_asking = false;
                named.into_iter().for_each(|(action, title)| self.board.known.learn(action, title));
            }
        }
    }

    /// Asks what actions are called that are not known by name yet, one question after the other.
    fn ask(&mut self) {
        let unknown = if self.is_asking { Vec::new() } else { self.board.known.take_unknown() };
        if !unknown.is_empty() {
            self.is_asking = true;
            let (client, tell) = (self.client.clone(), self.tell.clone());
            tokio::spawn(async move { tell.send(Told::Named(known::asked(&client, unknown).await)).await });
        }
    }

    /// Looks how things stand, if it is time.
    fn tick(&mut self) {
        self.ask();
        if self.pace.is_due() {
            let (client, tell, project) = (self.client.clone(), self.tell.clone(), self.project);
            tokio::spawn(async move {
                let stands = standing(&client, project).await.map(Box::new);
                tell.send(Told::Stands(stands)).await
            });
        }
    }
}

async fn screen(mut watcher: Watcher, mut told: Receiver<Told>) -> Result<(), CliError> {
    let mut signals = Signals::listen()?;
    let mut stage = Stage::enter(review::ink())?;
    let mut strokes = Strokes::default();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unheard = Vec::new();
    loop {
        stage.show(watcher.board.draw(stage.size(), jiff::Timestamp::now().as_millisecond()))?;
        let heard = tokio::select! {
            typed = stage.typed() => match typed {
                Ok(bytes) if !bytes.is_empty() => strokes.of(&bytes).iter().find_map(meant),
                Ok(_) | Err(_) => return Ok(()),
            },
            _ = told.recv_many(&mut unheard, MOST_UNHEARD) => {
                unheard.drain(..).for_each(|told| watcher.told(told));
                None
            }
            _ = ticks.tick() => {
                watcher.tick();
                None
            }
            heard = signals.next() => Some(heard),
        };
        match heard {
            None | Some(Heard::Resized) => {}
            Some(Heard::Stopped) => stage.stand_still()?,
            Some(Heard::HungUp) => return Ok(()),
            Some(Heard::Ended) => return Err(CliError::new(Code::Interrupted, "told to stop")),
            Some(Heard::Interrupted) => return Err(CliError::new(Code::Interrupted, "interrupted")),
        }
    }
}

/// What a key asks for: to leave, or to stand still.
fn meant(stroke: &Stroke) -> Option<Heard> {
    let leaves = matches!(stroke, Stroke::Letter('q') | Stroke::Control('c' | 'd'));
    let stops = *stroke == Stroke::Control('z');
    leaves.then_some(Heard::HungUp).or_else(|| stops.then_some(Heard::Stopped))
}
