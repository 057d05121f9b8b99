//! Rules for paths: what is read-only stays so, what is hidden is not seen, what is absent cannot be made, and no trick
//! gets around it. Nothing is left behind on the host.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use placet_sandbox::{Access, Exit, Request, RequestError, Rules, SandboxError};

use crate::harness::tests;
use crate::world::{Layered, Ran, Workspace, eventually, refused, run, sh, start};

tests![
    a7_a_read_only_path_can_be_read_and_run_but_not_changed,
    a7_an_absent_protected_path_cannot_be_made,
    a7_a_protected_path_that_only_the_upper_has_is_seen_and_not_changed,
    nothing_is_left_behind_by_rules_for_absent_paths,
    a7_directories_above_a_protected_path_cannot_be_moved_away,
    a7_protected_paths_cannot_be_exchanged_or_linked_into_place,
    links_do_not_lead_around_a_rule,
    a7_a_hidden_path_shows_nothing_and_cannot_be_replaced,
    environment_files_are_hidden_at_any_depth,
    another_spelling_of_a_protected_path_is_protected_too,
    a_writable_path_below_a_read_only_one,
    a7_only_what_is_named_is_writable_in_a_read_only_workspace,
    a_writable_path_that_is_absent_can_be_filled,
    a7_removing_or_replacing_files_on_the_host_opens_nothing,
    a_direct_workspace_with_named_writable_places,
    a_direct_workspace_keeps_hidden_files_hidden_when_the_host_replaces_them,
    a_direct_workspace_refuses_rules_it_could_not_keep,
    rules_through_links_are_refused,
    a_protected_link_stays_what_it_is,
    below_a_file_nothing_can_be_made_by_replacing_it,
    an_upper_in_which_a_protected_path_was_removed_is_refused,
    an_upper_in_which_a_directory_became_a_link_is_refused,
    the_rest_of_the_workspace_works_as_usual,
];

fn protected(layered: &Layered, rules: Rules, script: &str) -> Ran {
    run(sh(script).workspace(layered.layers()).rules(rules))
}

/// A command line for each attack; each must fail and print nothing.
fn all_fail(layered: &Layered, rules: &Rules, attacks: &[&str]) {
    let before = layered.untouched();
    for attack in attacks {
        let tried = protected(layered, rules.clone(), attack);
        assert_ne!(tried.exit, Exit::Code(0), "`{attack}` succeeded: {tried:?}");
    }
    assert_eq!(layered.untouched(), before);
}

fn a7_a_read_only_path_can_be_read_and_run_but_not_changed() {
    let layered = Layered::new().with("ci/run.sh", "#!/bin/sh\necho ran\n").with("other", "");
    fs::set_permissions(layered.lower("ci/run.sh"), fs::Permissions::from_mode(0o755)).expect("executable");
    let rules = Rules::writable().path("ci", Access::ReadOnly);
    assert_eq!(protected(&layered, rules.clone(), "ci/run.sh").succeeded(), "ran\n");
    all_fail(
        &layered,
        &rules,
        &[
            "echo x >> ci/run.sh",
            "echo x > ci/new",
            "rm -f ci/run.sh",
            "rm -rf ci",
            "mv ci away",
            "mv other ci/run.sh",
            "mv -T other ci",
            "chmod 777 ci/run.sh",
            "touch -d 2001-01-01 ci/run.sh",
            "ln ci/run.sh alias",
            "mkdir ci/new",
            "truncate -s 0 ci/run.sh",
        ],
    );
    assert!(!layered.upper("ci").exists(), "nothing of it is in the upper");
}

fn a7_an_absent_protected_path_cannot_be_made() {
    let layered = Layered::new().with("there/file", "x").with("other", "x");
    let rules = Rules::writable().path("absent", Access::ReadOnly).path("there/deep/absent", Access::ReadOnly);
    for path in ["absent", "there/deep/absent"] {
        let attacks = [
            format!("echo x > {path}"),
            format!("mkdir {path}"),
            format!("mkdir -p {path}/below"),
            format!("ln -sfn /tmp {path}"),
            format!("ln -T other {path}"),
            format!("mv -T other {path}"),
            format!("cp other {path}/in"),
            format!("mknod {path} p"),
            format!("rmdir {path}"),
            format!("rm -rf {path}"),
            format!("mv {path} away"),
            format!("test -f {path}"),
        ];
        all_fail(&layered, &rules, &attacks.each_ref().map(String::as_str));
    }
}

fn a7_a_protected_path_that_only_the_upper_has_is_seen_and_not_changed() {
    let layered = Layered::new().with("other", "");
    run(sh("mkdir own; echo kept > own/file; echo kept > note").workspace(layered.layers())).succeeded();
    let rules = Rules::writable().path("own", Access::ReadOnly).path("note", Access::ReadOnly);
    assert_eq!(protected(&layered, rules.clone(), "cat own/file note").succeeded(), "kept\nkept\n");
    for attack in ["echo x > own/file", "echo x > own/new", "rm -rf own", "mv own away", "rm note", "mv other note"] {
        let tried = protected(&layered, rules.clone(), attack);
        assert_ne!(tried.exit, Exit::Code(0), "`{attack}` succeeded: {tried:?}");
    }
    assert_eq!(protected(&layered, rules, "cat own/file note; ls own").succeeded(), "kept\nkept\nfile\n");
}

fn nothing_is_left_behind_by_rules_for_absent_paths() {
    let layered = Layered::new().with("file", "x");
    let rules = Rules::writable().path("a/b/c", Access::ReadOnly).path("d", Access::Hidden).hide_env_files();
    assert_eq!(protected(&layered, rules, "echo y > file; find . -type f").succeeded(), "./file\n");
    let names = |directory| -> Vec<_> {
        fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.file_name()).collect()
    };
    assert_eq!(names(layered.lower("")), ["file"]);
    assert_eq!(names(layered.upper("")), ["file"]);
}

fn a7_directories_above_a_protected_path_cannot_be_moved_away() {
    let layered = Layered::new().with(".git/hooks/pre-commit", "x").with("deep/er/est/file", "x");
    let rules = Rules::writable()
        .path(".git/hooks", Access::ReadOnly)
        .path("deep/er/est", Access::Hidden)
        .path("deep/er/absent", Access::ReadOnly);
    let attacks = [
        "mv .git aside",
        "mv .git aside && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "rm -rf .git",
        "mv deep aside",
        "mv deep/er deep/aside",
        "mv deep/er /tmp/aside",
        "mkdir x && mv -T x deep/er",
    ];
    all_fail(&layered, &rules, &attacks);
    for directory in [".git", "deep", "deep/er"] {
        let script = format!(
            "import os,errno\ntry: os.rename('{directory}','{directory}x')\nexcept OSError as e: print(errno.errorcode[e.errno])"
        );
        let seen =
            run(Request::new(["/usr/bin/python3", "-c", &script]).workspace(layered.layers()).rules(rules.clone()));
        assert_eq!(seen.succeeded(), "EBUSY\n", "{directory}");
    }
}

/// The raw calls behind what `mv` and `ln` cannot say on every host. The last two lines show that the calls work.
fn a7_protected_paths_cannot_be_exchanged_or_linked_into_place() {
    let layered =
        Layered::new().with("fixed/file", "x").with("fixed-file", "x").with("deep/secret", "x").with("other", "x");
    let rules = Rules::writable()
        .path("fixed", Access::ReadOnly)
        .path("fixed-file", Access::ReadOnly)
        .path("absent", Access::ReadOnly)
        .path("deep/secret", Access::Hidden);
    let script = r#"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def tell(what, done):
    print(what, 'done' if done == 0 else errno.errorcode[ctypes.get_errno()])
def exchange(one, other):
    tell(f'exchange {one} {other}', libc.renameat2(-100, one.encode(), -100, other.encode(), 2))
def link(path):
    file = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
    tell(f'link {path}', libc.linkat(-100, f'/proc/self/fd/{file}'.encode(), -100, path.encode(), 0x400))
os.mkdir('mine'); open('made', 'w').close()
for path in 'fixed', 'absent', 'deep': exchange(path, 'mine')
for path in 'fixed-file', 'deep/secret': exchange(path, 'made')
for path in 'absent', 'fixed/new', 'fixed-file': link(path)
exchange('mine', 'made')
link('linked')
"#;
    let request = Request::new(["/usr/bin/python3", "-c", script]);
    let seen = run(request.workspace(layered.layers()).rules(rules)).succeeded();
    let lines: Vec<_> = seen.lines().map(|line| line.rsplit_once(' ').expect("a verdict")).collect();
    let (refused, done) = lines.split_at(lines.len() - 2);
    assert!(refused.iter().all(|(_, verdict)| ["EBUSY", "EXDEV", "EEXIST", "EROFS"].contains(verdict)), "{seen}");
    assert!(refused.len() == 8 && done.iter().all(|(_, verdict)| *verdict == "done"), "{seen}");
}

fn links_do_not_lead_around_a_rule() {
    let layered = Layered::new().with("secret", "secret\n").with("fixed/file", "fixed\n").with("open/x", "");
    fs::hard_link(layered.lower("fixed/file"), layered.lower("twin")).expect("a second name");
    symlink("fixed", layered.lower("alias")).expect("a link");
    let rules = Rules::writable().path("secret", Access::Hidden).path("fixed", Access::ReadOnly);
    let attacks = [
        "ln -s secret s && grep secret s",
        "ln secret s && grep secret s",
        "ln -sfn ../secret open/x && grep secret open/x",
        "echo x > alias/file",
        "ln -s fixed f && echo x > f/new",
        "ln fixed/file hard",
        "cd fixed && echo x > ../fixed/file",
        "grep secret /proc/self/cwd/secret",
        "echo x > /proc/self/root/work/fixed/file",
    ];
    all_fail(&layered, &rules, &attacks);
    let seen = protected(&layered, rules, "echo changed > twin; cat fixed/file; cat twin").succeeded();
    assert_eq!(seen, "fixed\nchanged\n", "another name of the same file is another file in the upper");
    assert_eq!(fs::read_to_string(layered.lower("fixed/file")).expect("of the host"), "fixed\n");
}

fn a7_a_hidden_path_shows_nothing_and_cannot_be_replaced() {
    let layered = Layered::new().with("key", "secret\n").with("keys/one", "secret\n").with("a/b/key", "secret\n");
    let rules =
        Rules::writable().path("key", Access::Hidden).path("keys", Access::Hidden).path("a/b/key", Access::Hidden);
    assert_eq!(protected(&layered, rules.clone(), "grep -r secret . ; cat key a/b/key; ls keys").stdout, "");
    let attacks = ["echo x > key", "rm -f key", "mv key k", "echo x > keys/new", "rmdir keys", "mv a/b a/c", "rm -r a"];
    all_fail(&layered, &rules, &attacks);
}

fn environment_files_are_hidden_at_any_depth() {
    let layered = Layered::new()
        .with(".env", "secret\n")
        .with("service/api/.env.local", "secret\n")
        .with("service/.ENVRC", "secret\n")
        .with("service/.env.example", "form\n");
    let rules = Rules::writable().hide_env_files();
    let seen = protected(&layered, rules.clone(), "grep -rh . . ; echo y > service/new").succeeded();
    assert_eq!(seen, "form\n");
    all_fail(&layered, &rules, &["echo x > service/api/.env.local", "rm -rf service", "mv service s", "echo > .env"]);
    let empty = Layered::new();
    all_fail(&empty, &rules, &["echo x > .env", "test -f .env"]);
}

fn another_spelling_of_a_protected_path_is_protected_too() {
    let layered = Layered::new().with(".GitHub/Workflows/ci.yml", "x\n").with("SECRET", "secret\n");
    let rules = Rules::writable().path(".github/workflows", Access::ReadOnly).path("secret", Access::Hidden);
    let attacks = [
        "echo x > .GitHub/Workflows/ci.yml",
        "echo x > .github/workflows/ci.yml",
        "mv .GitHub away",
        "grep secret SECRET",
        "echo x > SECRET",
    ];
    all_fail(&layered, &rules, &attacks);
}

fn a_writable_path_below_a_read_only_one() {
    let layered = Layered::new().with("doc/fixed", "x").with("doc/open/file", "x\n").with("doc/open/kept/k", "x");
    let rules = Rules::writable()
        .path("doc", Access::ReadOnly)
        .path("doc/open", Access::Writable)
        .path("doc/open/kept", Access::ReadOnly);
    let seen = protected(&layered, rules.clone(), "echo y >> doc/open/file; cat doc/open/file; touch doc/open/new top");
    assert_eq!(seen.succeeded(), "x\ny\n");
    assert!(layered.upper("doc/open/new").exists() && layered.upper("top").exists());
    all_fail(
        &layered,
        &rules,
        &["touch doc/new", "echo y > doc/fixed", "rm -rf doc/open", "mv doc/open doc/o", "touch doc/open/kept/new"],
    );
}

fn a7_only_what_is_named_is_writable_in_a_read_only_workspace() {
    let layered = Layered::new().with("src/a.rs", "x").with("README", "x").with("top", "x\n");
    let rules = Rules::read_only().path("src", Access::Writable).path("README", Access::Writable);
    protected(&layered, rules.clone(), "echo y > src/new; rm src/a.rs; echo y > README").succeeded();
    assert!(layered.upper("src/new").exists() && layered.upper("README").exists());
    all_fail(&layered, &rules, &["echo y > top", "touch new", "mkdir d", "mv src s", "rm -f top", "rm -f README"]);
    assert_eq!(protected(&layered, Rules::read_only(), "cat top; touch new").stdout, "x\n");
}

fn a_writable_path_that_is_absent_can_be_filled() {
    let layered = Layered::new().with("file", "x");
    let rules = Rules::read_only().path("reports/today", Access::Writable);
    protected(&layered, rules.clone(), "echo y > reports/today/report").succeeded();
    assert_eq!(fs::read_to_string(layered.upper("reports/today/report")).expect("a report"), "y\n");
    all_fail(&layered, &rules, &["touch reports/new", "touch new"]);
}

fn a7_removing_or_replacing_files_on_the_host_opens_nothing() {
    let layered = Layered::new().with("fixed/file", "fixed\n").with("secret", "secret\n").with("gone", "x\n");
    let rules = Rules::writable()
        .path("fixed", Access::ReadOnly)
        .path("gone", Access::ReadOnly)
        .path("secret", Access::Hidden)
        .path("absent", Access::ReadOnly);
    let script = "touch ready; until test -s /srv/go; do sleep 0.02; done; cat secret absent; \
                  for f in fixed/file fixed/new gone secret absent; do echo x > $f && echo wrote $f; done; \
                  mkdir fixed absent && echo made; rm -rf fixed gone && echo removed; touch end";
    // The sign is a file of its own: a directory is shown through an overlay, which need not see new names of its lower.
    let sign = Workspace::new().with("go", "");
    fs::set_permissions(sign.path(), fs::Permissions::from_mode(0o755)).expect("open to others");
    let request = sh(script).workspace(layered.layers()).rules(rules).read_only(sign.file("go"), "/srv/go");
    let running = start(request);
    eventually("the command runs", || layered.upper("ready").exists());
    fs::remove_dir_all(layered.lower("fixed")).expect("removed on the host");
    fs::remove_file(layered.lower("gone")).expect("removed on the host");
    fs::write(layered.lower("fresh"), "secret again\n").expect("a new file");
    fs::rename(layered.lower("fresh"), layered.lower("secret")).expect("replaced on the host");
    fs::write(layered.lower("absent"), "made by the host\n").expect("made on the host");
    fs::write(sign.file("go"), "now").expect("a sign");
    let (_, output) = running.collect().expect("an outcome");
    assert!(layered.upper("end").exists(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    for name in ["fixed", "gone", "secret", "absent"] {
        assert!(!layered.upper(name).exists(), "{name} is in the upper");
    }
}

fn direct(workspace: &Workspace, rules: Rules, script: &str) -> Ran {
    run(sh(script).workspace(workspace.path()).rules(rules))
}

fn a_direct_workspace_with_named_writable_places() {
    let workspace = Workspace::new().with("top", "top\n").with("note", "x\n").with("secret", "secret\n");
    fs::create_dir_all(workspace.file("src/deep")).expect("a directory");
    let rules = || {
        let rules = Rules::read_only().path("src/deep", Access::Writable).path("note", Access::Writable);
        rules.path("secret", Access::Hidden).path("absent", Access::ReadOnly).hide_env_files()
    };
    let seen = direct(&workspace, rules(), "cat top secret; echo y > src/deep/new; echo y > note");
    assert_eq!(seen.succeeded(), "top\n");
    assert_eq!(fs::read_to_string(workspace.file("src/deep/new")).expect("written at once"), "y\n");
    assert_eq!(fs::read_to_string(workspace.file("note")).expect("written at once"), "y\n");
    for attack in ["echo x > top", "touch new", "touch src/new", "mv src s", "echo x > secret", "echo x > absent"] {
        assert_ne!(direct(&workspace, rules(), attack).exit, Exit::Code(0), "{attack}");
    }
    let mut names: Vec<_> = fs::read_dir(workspace.path()).expect("names").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["note", "secret", "src", "top"], "no ghosts");
}

fn a_direct_workspace_keeps_hidden_files_hidden_when_the_host_replaces_them() {
    let workspace = Workspace::new().with(".env", "secret\n");
    fs::create_dir(workspace.file("out")).expect("a directory");
    let rules = Rules::read_only().path("out", Access::Writable).hide_env_files();
    let script = "touch out/ready; while test ! -e out/go; do sleep 0.02; done; cat .env; echo end";
    let running = start(sh(script).workspace(workspace.path()).rules(rules));
    eventually("the command runs", || workspace.file("out/ready").exists());
    fs::write(workspace.file("fresh"), "secret again\n").expect("a new file");
    fs::rename(workspace.file("fresh"), workspace.file(".env")).expect("replaced as editors do");
    fs::write(workspace.file("out/go"), "").expect("a sign");
    let (_, output) = running.collect().expect("an outcome");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "end\n");
}

fn a_direct_workspace_refuses_rules_it_could_not_keep() {
    let workspace = Workspace::new().with("file", "x");
    fs::create_dir_all(workspace.file("out/deep")).expect("a directory");
    let needs_layers = [
        Rules::writable().path("file", Access::ReadOnly),
        Rules::writable().hide_env_files(),
        Rules::read_only().path("out", Access::Writable).path("out/deep", Access::ReadOnly),
        Rules::read_only().path("out", Access::Writable).path("out/secret", Access::Hidden),
    ];
    for rules in needs_layers {
        let error = refused(sh("true").workspace(workspace.path()).rules(rules.clone()));
        assert!(matches!(&error, SandboxError::Request(RequestError::RulesNeedLayers)), "{rules:?}: {error:?}");
    }
    let absent = Rules::read_only().path("missing", Access::Writable);
    let error = refused(sh("true").workspace(workspace.path()).rules(absent));
    assert!(error.to_string().contains("make it first"), "{error}");
}

fn rules_through_links_are_refused() {
    let layered = Layered::new().with("real/file", "x");
    symlink("real", layered.lower("link")).expect("a link");
    for rules in [
        Rules::writable().path("link/file", Access::ReadOnly),
        Rules::writable().path("link/absent", Access::Hidden),
        Rules::read_only().path("link", Access::Writable),
    ] {
        let error = refused(sh("true").workspace(layered.layers()).rules(rules.clone()));
        assert!(error.to_string().contains("symbolic link"), "{rules:?}: {error}");
    }
}

fn a_protected_link_stays_what_it_is() {
    let layered = Layered::new().with("AGENTS.md", "rules\n");
    symlink("AGENTS.md", layered.lower("CLAUDE.md")).expect("a link");
    symlink("AGENTS.md", layered.lower("hidden")).expect("a link");
    let rules = Rules::writable()
        .path("AGENTS.md", Access::ReadOnly)
        .path("CLAUDE.md", Access::ReadOnly)
        .path("hidden", Access::Hidden);
    assert_eq!(protected(&layered, rules.clone(), "cat CLAUDE.md hidden").succeeded(), "rules\n");
    all_fail(&layered, &rules, &["ln -sfn /tmp CLAUDE.md", "rm -f CLAUDE.md", "echo x > CLAUDE.md", "mv CLAUDE.md x"]);
}

fn below_a_file_nothing_can_be_made_by_replacing_it() {
    let layered = Layered::new().with("config", "x\n");
    let rules = Rules::writable().path("config/hooks", Access::ReadOnly);
    assert_eq!(protected(&layered, rules.clone(), "echo y >> config; cat config").succeeded(), "x\ny\n");
    all_fail(&layered, &rules, &["rm -f config", "mv config c", "rm -f config && mkdir -p config/hooks"]);
}

fn an_upper_in_which_a_protected_path_was_removed_is_refused() {
    let layered = Layered::new().with("fixed/file", "x");
    run(sh("rm -rf fixed").workspace(layered.layers())).succeeded();
    let rules = Rules::writable().path("fixed", Access::ReadOnly);
    let error = refused(sh("true").workspace(layered.layers()).rules(rules));
    assert!(error.to_string().contains("upper"), "{error}");
}

fn an_upper_in_which_a_directory_became_a_link_is_refused() {
    let layered = Layered::new().with("a/fixed", "x").with("b/fixed", "x");
    run(sh("rm -rf a && ln -s b a").workspace(layered.layers())).succeeded();
    let error =
        refused(sh("true").workspace(layered.layers()).rules(Rules::writable().path("a/fixed", Access::ReadOnly)));
    assert!(matches!(&error, SandboxError::Step(_)), "{error:?}");
}

fn the_rest_of_the_workspace_works_as_usual() {
    let layered = Layered::new().with("a/b/fixed", "x").with("a/file", "x\n").with("top", "x\n");
    let rules = Rules::writable().path("a/b/fixed", Access::ReadOnly).path("new/absent", Access::ReadOnly);
    let script = "mv a/file a/moved && mv top a/top && mv a/top a/b/top && rm a/b/top && mkdir a/d && rmdir a/d && \
                  echo y > new/file && mv new/file renamed && cat a/moved renamed";
    assert_eq!(protected(&layered, rules, script).succeeded(), "x\ny\n");
}
