//! REPRESENTATIONAL: the plan before the execution, the outputs before the export, a simulation for whoever wants one; and a yes is
//! about what was seen.

use super::agent;
use crate::hosted::Scene;

#[test]
fn c1_representational_who_approves_sees_the_program_its_files_and_what_is_shared() {
    let scene = Scene::new();
    scene.world.write("notes.md", "internal\n");
    let notes = scene.world.path("notes.md");
    let run = scene.founded("report.py", &["one", "two"], &["--share", notes.to_str().unwrap()]);
    let shown = scene.world.by("ada", &["run", "show", &run]).ok();
    for part in [
        "starts /usr/bin/python3 report.py",
        "in a cage of kind agent",
        "with   placet.py",
        "shares notes.md (INTERNAL",
    ] {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
}

#[test]
fn c1_representational_outputs_are_shown_before_and_only_those_chosen_leave() {
    let scene = Scene::new();
    let body = "one = run.provide('in.txt', b'result')\n\
        said.append(run.act('cp', 'in.txt', 'a.txt', files=[one], outputs=['a.txt']))\n\
        said.append(run.act('cp', 'in.txt', 'b.txt', outputs=['b.txt']))";
    let run = scene.start_script(&agent(body), &[]);
    scene.reaches(&run, "PENDING_EXPORT");
    let chosen = crate::hosted::output_of(&scene, &run, "b.txt");
    let shown = scene.world.by("ada", &["run", "show", &run]).ok();
    assert!(shown.out().contains("a.txt") && shown.out().contains("b.txt"), "{}", shown.out());
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap(), "--output", &chosen]).ok();
    assert_eq!(crate::support::names_in(&to), ["SHA256SUMS", "b.txt"]);
}

#[test]
fn c1_representational_who_accepts_results_is_shown_what_goes_out_and_no_name_is_taken_from_an_output() {
    let scene = Scene::new();
    let body = "one = run.provide('in.txt', b'result')\n\
        said.append(run.act('cp', 'in.txt', 'SHA256SUMS', files=[one], outputs=['SHA256SUMS']))";
    let run = scene.start_script(&agent(body), &[]);
    scene.reaches(&run, "PENDING_EXPORT");
    crate::hosted::output_of(&scene, &run, "SHA256SUMS");
    let accepted = scene.world.by("ada", &["run", "complete", &run]).ok();
    assert!(accepted.stderr.contains("SHA256SUMS") && accepted.stderr.contains("6 bytes"), "{}", accepted.stderr);
    assert!(accepted.stderr.contains("SUCCEEDED"), "and what its agent said: {}", accepted.stderr);
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap()]).ok();
    assert_eq!(crate::support::names_in(&to), ["SHA256SUMS", "SHA256SUMS.1", "in.txt"]);
    assert_eq!(std::fs::read(to.join("SHA256SUMS")).unwrap(), b"result");
}

#[test]
fn c2_a_simulation_works_on_files_of_its_own_and_only_notes_what_others_would_notice() {
    let scene = Scene::with_tools("[mail]\nprogram = \"/usr/bin/touch\"\nkind = \"send_email\"\n");
    let body = "said.append(run.act('mail', 'sent.txt'))\none = run.provide('in.txt', b'draft')\n\
        said.append(run.act('cp', 'in.txt', 'a.txt', files=[one], outputs=['a.txt']))\nsaid.append(run.act('ls', 'sent.txt'))";
    let run = scene.start_script(&agent(body), &["--mode", "simulation"]);
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    assert_eq!(seen["said"], "REHEARSED\nSUCCEEDED\nFAILED", "the mail was not sent, the draft was written");
}
