//! Which program runs: how it is found, what the caller sees of it, and scripts.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use placet_sandbox::{Exit, Launcher, Request, SandboxError, StepKind, launch, program_path};

use crate::harness::tests;
use crate::world::{Workspace, alive, marker, profile, refused, run, sh, start};

tests![
    a_name_is_looked_up_in_the_cage,
    a_missing_program_is_named,
    the_opened_program_is_the_file_that_runs,
    a_caller_can_refuse_what_it_sees_before_it_runs,
    an_argument_arrives_however_long_it_is,
    a_script_runs_with_the_arguments_the_kernel_would_give_it,
    a_script_shows_its_interpreters_too,
    a_file_that_is_no_program_is_refused_with_a_reason,
    a_workspace_that_is_no_directory_is_refused,
    a_binary_that_is_no_helper_is_noticed,
];

fn script(text: &str) -> Workspace {
    let workspace = Workspace::new().with("script", text);
    fs::set_permissions(workspace.file("script"), fs::Permissions::from_mode(0o755)).expect("executable");
    workspace
}

fn a_name_is_looked_up_in_the_cage() {
    assert_eq!(run(Request::new(["/bin/echo", "by path"])).succeeded(), "by path\n");
    assert_eq!(run(Request::new(["echo", "by name"])).succeeded(), "by name\n");
    assert!(program_path(&profile(), "echo").is_some_and(|path| path.ends_with("bin/echo")));
    assert_eq!(program_path(&profile(), "no such program"), None);
}

fn a_missing_program_is_named() {
    for name in ["no-such-program", "/no/such/program", "/etc/passwd", "/usr"] {
        let error = refused(Request::new([name]));
        assert!(matches!(&error, SandboxError::ProgramNotFound(seen) if seen == name), "{name}: {error:?}");
    }
}

fn the_opened_program_is_the_file_that_runs() {
    let running = start(Request::new(["stat", "-L", "-c", "%d %i", "/proc/self/exe"]));
    let file = running.program().files()[0].file();
    let meta = file.metadata().expect("the program");
    let mut head = [0; 4];
    (&mut &*file).read_exact(&mut head).expect("readable");
    assert_eq!(&head, b"\x7fELF");
    let (_, output) = running.collect().expect("an outcome");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{} {}\n", meta.dev(), meta.ino()));
}

fn a_caller_can_refuse_what_it_sees_before_it_runs() {
    let workspace = Workspace::new();
    let word = marker();
    let request = sh(&format!("touch ran; sleep {word}")).workspace(workspace.path());
    let error = Launcher::default().launch_if(&profile(), request, |program| {
        assert!(program.files()[0].path().ends_with("sh"));
        Err("another digest was approved".to_owned())
    });
    assert!(matches!(error, Err(SandboxError::ProgramRefused(why)) if why.contains("digest")));
    assert!(!workspace.file("ran").exists());
    assert!(!alive(&word));
}

fn an_argument_arrives_however_long_it_is() {
    // The longest is more than a message to the helper holds, and almost what the kernel takes.
    for length in [10, 10_000, 120_000] {
        let long = "x".repeat(length);
        let seen = run(Request::new(["sh", "-c", "echo ${#1}", "sh", &long])).succeeded();
        assert_eq!(seen, format!("{length}\n"));
    }
}

fn a_script_runs_with_the_arguments_the_kernel_would_give_it() {
    let workspace = script("#!/bin/sh -u\necho \"$0|$1|$2|$-\"\n");
    let seen = run(Request::new(["/work/script", "a b", "c"]).workspace(workspace.path())).succeeded();
    let fields: Vec<_> = seen.trim().split('|').collect();
    assert_eq!(fields[..3], ["/work/script", "a b", "c"]);
    assert!(fields[3].contains('u'), "{seen}");
}

fn a_script_shows_its_interpreters_too() {
    let workspace = script("#!/usr/bin/env sh\nexit 3\n");
    let running = start(Request::new(["/work/script"]).workspace(workspace.path()));
    let paths: Vec<_> = running.program().files().iter().map(|file| file.path().display().to_string()).collect();
    assert_eq!(paths, ["/work/script", "/usr/bin/env"]);
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Code(3));
}

fn a_file_that_is_no_program_is_refused_with_a_reason() {
    let workspace = script("neither a program nor a script\n");
    let error = refused(Request::new(["/work/script"]).workspace(workspace.path()));
    assert!(matches!(&error, SandboxError::Step(step) if step.step == StepKind::Exec), "{error:?}");
    assert!(error.to_string().contains("`#!` line"), "{error}");
}

fn a_workspace_that_is_no_directory_is_refused() {
    let workspace = Workspace::new().with("file", "");
    let error = refused(sh("true").workspace(workspace.file("file")));
    assert!(matches!(&error, SandboxError::Source { .. }), "{error:?}");
    let error = refused(sh("true").workspace(workspace.file("missing")));
    assert!(matches!(&error, SandboxError::Source { .. }), "{error:?}");
}

fn a_binary_that_is_no_helper_is_noticed() {
    let error = Launcher::with_helper("/bin/true").launch(&profile(), Request::new(["true"]));
    assert!(matches!(error, Err(SandboxError::HelperDied)), "{error:?}");
    let missing = Launcher::with_helper("/no/such/helper").launch(&profile(), Request::new(["true"]));
    assert!(matches!(missing, Err(SandboxError::Io { .. })), "{missing:?}");
    assert!(launch(&profile(), Request::new(["true"])).is_ok());
}
