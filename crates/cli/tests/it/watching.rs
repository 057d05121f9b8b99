//! WATCH: everything that happens in the runs that somebody sees, as lines and as entries of the ledger.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Process, Said, World};

const PATIENCE: Duration = Duration::from_secs(60);

fn propose(world: &World, run: &str) {
    world.propose(run, &["nmap", "--target", "10.0.0.5", "--because", "\u{1b}[2J", "--", "-sV"]);
}

#[test]
fn c16_every_event_is_a_line_or_its_entry() {
    let (world, run) = World::start();
    let words = Process::start(&mut world.command(&["--as", "ada", "watch"]));
    let entries = Process::start(&mut world.command(&["--as", "ada", "--json", "watch", "--project", "alpha"]));
    let proposal = ["--as", "tom", "action", "propose", &run, "nmap", "--target", "10.0.0.5", "--", "-sV"];
    let proposals: Vec<Command> = (0..200).map(|_| world.command(&proposal)).collect();
    let over = AtomicBool::new(false);
    let is_over = &over;
    std::thread::scope(|scope| {
        // What happens before they follow is not told, and when that is nobody says.
        scope.spawn(move || {
            let wanted = proposals.into_iter().take_while(|_| !is_over.load(Ordering::SeqCst));
            wanted.for_each(|mut proposal| drop(Said::by(&mut proposal).ok()));
        });
        let heard = [&entries, &words].map(|watcher| watcher.line(PATIENCE, |line| line.contains("proposed")));
        over.store(true, Ordering::SeqCst);
        let [entry, line] = heard;
        let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
        assert_eq!((entry["kind"].as_str(), entry["run"].as_str()), (Some("action.proposed"), Some(run.as_str())));
        assert!(line.contains("action_proposed") && line.contains("nmap") && !line.contains('\u{1b}'), "{line}");
    });
}

#[test]
fn c16_it_begins_with_what_happened_last_and_tells_what_would_be_done() {
    let (world, run) = World::start();
    propose(&world, &run);
    let words = Process::start(&mut world.command(&["--as", "ada", "watch"]));
    let line = words.line(PATIENCE, |line| line.contains("action_proposed"));
    assert!(line.contains("nmap -sV"), "{line}");
}

#[test]
fn c16_whoever_may_not_watch_is_told_so() {
    let (world, _) = World::start();
    world.by("tom", &["watch"]).exits(3);
}
