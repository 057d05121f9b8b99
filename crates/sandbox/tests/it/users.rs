//! Who a cage is on the host: nobody else, and never root.

use std::collections::BTreeSet;

use placet_sandbox::{FIRST_HOST_USER, HostUser, Request, Running};

use crate::harness::tests;
use crate::world::{Workspace, eventually, run, sh, start};

tests![
    every_cage_of_root_has_a_user_of_its_own_and_those_of_others_are_their_callers,
    a_user_is_free_again_when_its_cage_is_gone,
    a_chosen_user_is_taken,
    e8_limits_of_one_cage_are_not_used_up_by_another,
];

const SHOW_USER: &str = "cat /proc/self/uid_map /proc/self/gid_map";

/// The host's user and group, as the kernel tells them.
fn user_in(map: &str) -> HostUser {
    let numbers: Vec<u32> = map.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [_, uid, 1, _, gid, 1] = numbers[..] else { panic!("one user and one group: {map}") };
    HostUser { uid, gid }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Cages that all live at the same time, and the users they have.
fn many(count: usize) -> BTreeSet<(u32, u32)> {
    let workspaces: Vec<Workspace> = (0..count).map(|_| Workspace::new()).collect();
    let script = format!("{SHOW_USER} > shown; mv shown user; sleep 60");
    let cages: Vec<Running> = workspaces.iter().map(|each| start(sh(&script).workspace(each.path()))).collect();
    let users = workspaces.iter().map(|workspace| {
        eventually("the cage says who it is", || workspace.file("user").exists());
        let user = user_in(&std::fs::read_to_string(workspace.file("user")).expect("its user"));
        (user.uid, user.gid)
    });
    let users = users.collect();
    drop(cages);
    users
}

fn every_cage_of_root_has_a_user_of_its_own_and_those_of_others_are_their_callers() {
    let users = many(12);
    if is_root() {
        assert_eq!(users.len(), 12, "{users:?}");
        assert!(users.iter().all(|(uid, gid)| *uid >= FIRST_HOST_USER && uid == gid), "{users:?}");
    } else {
        let caller = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        assert_eq!(users, BTreeSet::from([caller]));
    }
}

fn a_user_is_free_again_when_its_cage_is_gone() {
    let user = user_in(&run(sh(SHOW_USER)).succeeded());
    let again = run(sh(SHOW_USER).host_user(user)).succeeded();
    assert_eq!(user_in(&again), user);
}

fn a_chosen_user_is_taken() {
    let chosen = HostUser { uid: 210_000, gid: 210_001 };
    let seen = user_in(&run(sh(SHOW_USER).host_user(chosen)).succeeded());
    assert_eq!(seen == chosen, is_root());
}

fn e8_limits_of_one_cage_are_not_used_up_by_another() {
    let limits = placet_sandbox::Limits { pids: 8, ..crate::world::limits() };
    let full = start(sh("for i in 1 2 3 4 5 6; do sleep 60 & done; echo full; wait").limits(limits));
    let seen = run(
        Request::new(["sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.1 & done && wait && echo done"]).limits(limits)
    );
    assert_eq!(seen.succeeded(), "done\n");
    drop(full);
}
