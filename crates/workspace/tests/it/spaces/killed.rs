//! A process that goes back and forth between two snapshots is killed again and again, wherever it happens to be.
//! Whoever opens the space afterwards finds one state or the other, whole, and every snapshot that counts.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use placet_workspace::space::{Recovery, Space};

use super::World;
use crate::harness::tests;

tests![a_process_killed_anywhere_leaves_one_state_or_the_other];

/// Tells a copy of this binary to be the process that is killed.
pub(crate) const FLAG: &str = "--back-and-forth";

/// Never ends by itself. Every third way back is followed by a snapshot, under a number of its own.
pub(crate) fn go_back_and_forth(root: &Path) -> ExitCode {
    let space = Space::open(root).expect("a space");
    let records = [1, 2].map(|number| space.record(number).expect("a record"));
    let mut next = space.snapshots().expect("snapshots").last().copied().unwrap_or_default() + 1;
    begun();
    for round in 0_u64.. {
        let which = usize::from(round % 2 == 1);
        space.restore(which as u64 + 1, &records[which]).expect("the way back");
        if round % 3 == 2 {
            space.snapshot(next).expect("a snapshot");
            space.forget(next).expect("a snapshot that was taken");
            next += 1;
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stdout, reason = "it is how this process speaks to the one that kills it")]
fn begun() {
    println!("begun");
}

fn a_process_killed_anywhere_leaves_one_state_or_the_other() {
    let world = World::new();
    fill(&world, "one");
    let one = world.space().snapshot(1).expect("a snapshot");
    fill(&world, "two");
    let two = world.space().snapshot(2).expect("a snapshot");
    let mut met = [0; 3];
    for round in 0..placet_testkit::rounds(15, 40) as u64 {
        killed_after(&world, Duration::from_micros(500 + round * round * 7919 % 60_000));
        let space = world.space();
        met[match space.recovered() {
            Recovery::Nothing => 0,
            Recovery::Undone => 1,
            Recovery::Finished => 2,
            Recovery::Disturbed => panic!("nobody disturbed it"),
            Recovery::MachineRestarted => panic!("the machine was not started anew"),
        }] += 1;
        let state = space.state().expect("a state");
        assert!(state == one.state() || state == two.state(), "round {round}: {:?}", space.recovered());
        assert_is_whole(&world, if state == one.state() { "one" } else { "two" });
        for number in space.snapshots().expect("snapshots") {
            let record = space.record(number).expect("a record");
            assert!([one.state(), two.state()].contains(&record.state()), "snapshot {number}");
            if number > 2 {
                space.restore(number, &record).expect("a snapshot that counts can be gone back to");
                space.forget(number).expect("a snapshot");
            }
        }
    }
    assert!(met[1] + met[2] > 0, "it was killed in the middle of something: {met:?}");
}

/// Two states that differ everywhere.
fn fill(world: &World, which: &str) {
    world.action(&format!(
        "rm -rf ./*; mkdir -p same {which}/deep; for n in $(seq 40); do echo {which} $n > same/$n; \
         echo $n > {which}/deep/$n; done; ln -s {which} link; echo {which} > all"
    ));
    world.remember(&format!("rm -rf ./*; for n in $(seq 20); do echo {which} > memory-$n; done"));
}

/// Another way to see that it is one state: every file that names it names the same one.
fn assert_is_whole(world: &World, which: &str) {
    let upper = world.path("space/upper");
    for number in 1..=40 {
        let text = fs::read_to_string(upper.join(format!("same/{number}"))).expect("a file");
        assert_eq!(text, format!("{which} {number}\n"));
    }
    for number in 1..=20 {
        let text = fs::read_to_string(world.path(&format!("space/agent/memory-{number}"))).expect("a file");
        assert_eq!(text, format!("{which}\n"));
    }
    assert_eq!(fs::read_link(upper.join("link")).expect("a link"), Path::new(which));
    assert_eq!(fs::read_dir(upper.join(which).join("deep")).expect("a directory").count(), 40);
}

fn killed_after(world: &World, time: Duration) {
    let mut child = start(world);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("an output")).read_line(&mut line).expect("a line");
    assert_eq!(line, "begun\n");
    let time = rustix::event::Timespec::try_from(time).expect("a short time");
    rustix::event::poll(&mut [], Some(&time)).expect("nothing to wait for but time");
    child.kill().expect("a child to kill");
    child.wait().expect("a child that ended");
}

fn start(world: &World) -> Child {
    let own = std::env::current_exe().expect("a path of this binary");
    let mut command = Command::new(own);
    command.arg(FLAG).arg(world.path("space")).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().expect("a child")
}
