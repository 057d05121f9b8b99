//! What a command sees: its arguments, its variables, its files, its user.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use placet_sandbox::{Exit, HostUser, Profile, Request, WorkspaceOwnership};

use crate::harness::tests;
use crate::world::{Workspace, probe, profile, run, run_in, sh};

tests![
    arguments_arrive_byte_for_byte,
    standard_input_arrives_and_is_otherwise_empty,
    the_environment_is_built_from_nothing,
    a_command_starts_in_its_workspace_or_else_in_tmp,
    what_it_writes_to_the_workspace_is_there_afterwards_with_the_owner_of_the_workspace,
    it_can_change_files_that_were_there_before,
    a_workspace_can_be_given_to_the_user_of_the_cage_without_following_links,
    the_root_and_everything_of_the_host_is_read_only,
    tmp_and_home_are_private_writable_and_bounded,
    a_research_cage_starts_nothing_that_was_written_in_it,
    etc_tells_nothing_of_the_host,
    the_host_has_another_name_inside,
    standard_streams_can_be_opened_by_name,
    read_only_files_are_readable_where_asked_and_nowhere_writable,
    devices_are_the_harmless_five,
];

fn arguments_arrive_byte_for_byte() {
    let arguments = ["a b", "it's", "\"quoted\"", "line\nbreak", "grüße 漢字 🦀", "$HOME `id` \\", "", "-x", "*"];
    let expected: String = arguments.iter().map(|argument| format!("{argument:?}\n")).collect();
    assert_eq!(run(probe("arguments", &arguments)).succeeded(), expected);
}

fn standard_input_arrives_and_is_otherwise_empty() {
    let large = vec![b'x'; 300_000];
    assert_eq!(run(sh("wc -c").stdin(large)).succeeded().trim(), "300000");
    assert_eq!(run(sh("cat")).succeeded(), "");
    assert_eq!(run(sh("echo no > /proc/self/fd/0").stdin("sealed")).exit, Exit::Code(2));
}

fn the_environment_is_built_from_nothing() {
    let seen = run(Request::new(["env"]).env("GREETING", "good day")).succeeded();
    let mut lines: Vec<_> = seen.lines().collect();
    lines.sort_unstable();
    let expected = [
        "GREETING=good day",
        "HOME=/home/agent",
        "LANG=C.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "TERM=dumb",
        "TMPDIR=/tmp",
        "USER=agent",
    ];
    assert_eq!(lines, expected);
}

fn a_command_starts_in_its_workspace_or_else_in_tmp() {
    let workspace = Workspace::new();
    assert_eq!(run(sh("pwd").workspace(workspace.path())).succeeded(), "/work\n");
    assert_eq!(run(sh("pwd")).succeeded(), "/tmp\n");
}

fn what_it_writes_to_the_workspace_is_there_afterwards_with_the_owner_of_the_workspace() {
    let workspace = Workspace::new();
    run(sh("mkdir deep && echo written > deep/file && id -u").workspace(workspace.path())).succeeded();
    let file = workspace.file("deep/file");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "written\n");
    let owner = |path| fs::metadata(path).map(|meta| (meta.uid(), meta.gid())).expect("an owner");
    assert_eq!(owner(file), owner(workspace.path()));
}

fn it_can_change_files_that_were_there_before() {
    let workspace = Workspace::new().with("file", "before\n").with("closed", "secret\n");
    fs::set_permissions(workspace.file("closed"), fs::Permissions::from_mode(0o600)).expect("closed to others");
    let seen = run(sh("echo after >> file; cat file closed").workspace(workspace.path())).succeeded();
    assert_eq!(seen, "before\nafter\nsecret\n");
}

fn a_workspace_can_be_given_to_the_user_of_the_cage_without_following_links() {
    let workspace = Workspace::new().with("file", "before\n");
    let outside = workspace.path().with_file_name("outside");
    fs::write(&outside, "untouched").expect("a file beside the workspace");
    std::os::unix::fs::symlink(&outside, workspace.file("link")).expect("a link");
    let given = profile().with_ownership(WorkspaceOwnership::Chowned);
    let user = HostUser { uid: 210_000, gid: 210_000 };
    run_in(&given, sh("echo after >> file").workspace(workspace.path()).host_user(user)).succeeded();
    let root = rustix::process::geteuid().is_root();
    let own = rustix::process::geteuid().as_raw();
    let expected = if root { user.uid } else { own };
    assert_eq!(fs::metadata(workspace.file("file")).expect("the file").uid(), expected);
    assert_eq!(fs::metadata(&outside).expect("the file beside").uid(), own);
}

fn the_root_and_everything_of_the_host_is_read_only() {
    for place in ["/", "/usr", "/usr/bin", "/etc", "/run", "/dev", "/opt", "/lib64"] {
        let tried = run(sh(&format!("test -d {place} || exit 7; touch {place}/canary")));
        assert!(matches!(tried.exit, Exit::Code(1 | 7)), "{place}: {tried:?}");
        assert!(!std::path::Path::new(place).join("canary").exists(), "{place} of the host was written");
    }
}

fn tmp_and_home_are_private_writable_and_bounded() {
    let script =
        "echo x > /tmp/a && echo x > ~/b && echo x > /var/tmp/c && ls /tmp && df -k --output=size /tmp | tail -1";
    let seen = run(sh(script)).succeeded();
    let words: Vec<_> = seen.split_whitespace().collect();
    assert_eq!(words, ["a", "c", "262144"]);
}

fn a_research_cage_starts_nothing_that_was_written_in_it() {
    let research = Profile::builtin("research_only").expect("a profile");
    let script = "cp /bin/true /tmp/own && /tmp/own";
    assert_eq!(run_in(&research, sh(script)).exit, Exit::Code(126));
    assert_eq!(run(sh(script)).exit, Exit::Code(0));
}

fn etc_tells_nothing_of_the_host() {
    let missing = run(sh("ls -d /etc/shadow /root /sys /boot /var/log /home/agent/.ssh 2>/dev/null"));
    assert_eq!(missing.stdout, "");
    assert_eq!(run(sh("cat /etc/passwd | wc -l; whoami; id -u; id -g")).succeeded(), "2\nagent\n1000\n1000\n");
}

fn the_host_has_another_name_inside() {
    assert_eq!(run(Request::new(["uname", "-n"])).succeeded(), "cage\n");
}

fn standard_streams_can_be_opened_by_name() {
    let ran = run(sh("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin").stdin("in\n"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\nin\n", "err\n"));
}

fn read_only_files_are_readable_where_asked_and_nowhere_writable() {
    let workspace = Workspace::new().with("given", "text\n");
    fs::set_permissions(workspace.file("given"), fs::Permissions::from_mode(0o666)).expect("open to all");
    let request = sh("cat /opt/a/given; echo more >> /opt/a/given; rm -f /opt/a/given; cat /home/agent/.cache/x/given");
    let request =
        request.read_only(workspace.path(), "/home/agent/.cache/x").read_only(workspace.file("given"), "/opt/a/given");
    fs::set_permissions(workspace.path(), fs::Permissions::from_mode(0o755)).expect("open to all");
    assert_eq!(run(request).stdout, "text\ntext\n");
    assert_eq!(fs::read_to_string(workspace.file("given")).expect("the file"), "text\n");
}

fn devices_are_the_harmless_five() {
    let seen =
        run(sh("ls /dev; head -c 3 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo x > /dev/null")).succeeded();
    let expected = "fd full null random shm stderr stdin stdout urandom zero 3 4";
    assert_eq!(seen.split_whitespace().collect::<Vec<_>>().join(" "), expected);
}
