//! Saving on demand, looking before going back, and a repository that goes back with the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PATIENCE, Scene};
use crate::support::{Window, eventually};

/// Notes in its memory which step it is at, and nothing while the run stands still; proposes what its steps say.
const ACTS: &str = "from placet import Run, remember, remembered\n\
run = Run()\n\
memory = remembered()\n\
plan = run.env['plan']\n\
for step in range(run.env['steps_done'] + 1, len(plan) + 1):\n  \
  memory['done'] = step\n  \
  remember(memory)\n  \
  status = run.act('sh', plan[step - 1])\n  \
  if status != 'SUCCEEDED':\n    \
    raise SystemExit(f'step {step}: {status}')\n  \
  run.done(step, plan[step - 1])\n  \
  run.wait_for_work()\n\
run.finish('done')\n";

fn upper(scene: &Scene, run: &str) -> PathBuf {
    scene.world.home().join("runs").join(run).join("space/upper")
}

/// Every file below, by its path.
fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut waiting) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => waiting.push(entry.path()),
                kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn can_go_on(scene: &Scene, run: &str) {
    eventually("it can go on", PATIENCE, || scene.world.by("ada", &["run", "resume", run]).code == Some(0));
}

#[test]
fn c11_a_run_is_saved_on_demand_at_work_and_paused_and_a_preview_tells_what_going_back_would_change() {
    let scene = Scene::new();
    let steps = ["echo one > a.txt", "echo two > b.txt; rm a.txt", "true"];
    let run = scene.start_steps(ACTS, &steps, &["--every-steps", "1"]);
    scene.approve_action(&run);
    scene.stands_at(&run, 1);
    let said = scene.world.by("admin", &["run", "snapshot", &run, "--reason", "as it is"]).ok();
    assert!(said.out().contains("snapshot 2 was taken"), "{}", said.out());
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.approve_action(&run);
    scene.stands_at(&run, 2);
    scene.world.by("ada", &["run", "pause", &run, "--reason", "lunch"]).ok();
    assert!(scene.world.by("ada", &["run", "snapshot", &run]).ok().out().contains("snapshot 4 was taken"));
    let before = files(&upper(&scene, &run));
    let preview = scene.world.json("ada", &["run", "rollback", &run, "--to", "2", "--preview"]);
    let of = |tree: &str, effect: &str| preview[tree][effect].as_u64().unwrap();
    assert_eq!((of("workspace", "created"), of("workspace", "removed")), (1, 1), "{preview:#}");
    assert_eq!(preview["memory"]["changed"], 1, "what it remembers: {preview:#}");
    let shown = scene.world.by("ada", &["run", "rollback", &run, "--to", "2", "--preview"]).ok();
    for line in ["+ a.txt", "- b.txt", "1 created, 0 changed, 1 removed", "plan: 1 steps done, 2 now"] {
        assert!(shown.out().contains(line), "{line}: {}", shown.out());
    }
    assert_eq!(files(&upper(&scene, &run)), before, "a look changes nothing");
    let refused = scene.world.by("ada", &["run", "rollback", &run, "--to", "9", "--preview"]);
    assert_ne!(refused.code, Some(0));
    scene.world.by("admin", &["run", "rollback", &run, "--to", "2", "--reason", "b is wrong", "--yes"]).ok();
    scene.reaches(&run, "ROLLED_BACK");
    can_go_on(&scene, &run);
    assert_eq!(fs::read_to_string(upper(&scene, &run).join("a.txt")).unwrap(), "one\n");
    // And while it works: its agent waits for a decision, and is none the wiser.
    scene.approve_action(&run);
    scene.stands_at(&run, 3);
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}

#[test]
fn c11_a_run_at_work_is_saved_without_its_agent_being_started_again() {
    let scene = Scene::new();
    let script = "import time\nfrom placet import Run, remember, remembered\nmemory = remembered()\nmemory['starts'] += 1\n\
                  remember(memory)\nrun = Run()\nrun.wait_for_work()\nwhile True:\n  time.sleep(0.05)\n  run.status()\n";
    let run = scene.start_script(script, &[]);
    eventually("it works", PATIENCE, || scene.seen(&run)["status"] == "EXECUTING");
    for number in 1..=3 {
        let said = scene.world.by("ada", &["run", "snapshot", &run]).ok();
        assert!(said.out().contains(&format!("snapshot {number} was taken")), "{}", said.out());
        assert_eq!(scene.seen(&run)["status"], "EXECUTING");
    }
    let preview = scene.world.json("ada", &["run", "rollback", &run, "--to", "0", "--preview"]);
    assert!(preview["memory"]["created"].as_u64() == Some(0), "{preview:#}");
    let memory = scene.world.home().join("runs").join(&run).join("space/agent/memory.json");
    let memory: serde_json::Value = serde_json::from_slice(&fs::read(memory).unwrap()).unwrap();
    assert_eq!(memory["starts"], 1);
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}

#[test]
fn c11_a_run_that_cannot_be_saved_is_told_of_and_works_on() {
    let scene = Scene::new();
    let script =
        "import time\nfrom placet import Run\nrun = Run()\nrun.wait_for_work()\nwhile True:\n  time.sleep(0.05)\n";
    let run = scene.start_script(script, &[]);
    eventually("it works", PATIENCE, || scene.seen(&run)["status"] == "EXECUTING");
    let snapshots = scene.world.home().join("runs").join(&run).join("space/snapshots");
    fs::rename(&snapshots, snapshots.with_extension("aside")).unwrap();
    fs::write(&snapshots, b"no directory").unwrap();
    let failed = scene.world.by("ada", &["run", "snapshot", &run]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("it cannot be saved"), "{}", failed.stderr);
    assert_eq!(scene.seen(&run)["status"], "EXECUTING");
    fs::remove_file(&snapshots).unwrap();
    fs::rename(snapshots.with_extension("aside"), &snapshots).unwrap();
    assert!(scene.world.by("ada", &["run", "snapshot", &run]).ok().out().contains("snapshot 1 was taken"));
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=p", "-c", "user.email=p@example.org"]).args(arguments);
    let done = git.current_dir(dir).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", dir).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository of a person, as it is shared: a bundle, which has neither hooks nor settings.
fn shared_repository(scene: &Scene) -> PathBuf {
    let repository = scene.world.path("repository");
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    fs::write(repository.join("code.txt"), "as it was\n").unwrap();
    git(&repository, &["add", "code.txt"]);
    git(&repository, &["commit", "-q", "-m", "first"]);
    let bundle = scene.world.path("repo.bundle");
    git(&repository, &["bundle", "create", "-q", bundle.to_str().unwrap(), "HEAD", "main"]);
    bundle
}

const COMMIT: &str = "git -c user.name=a -c user.email=a@example.org commit -q";
const LOOK: &str = "(git status --porcelain=v2 --branch; git branch -a -v; git log --all --oneline; git ls-files -s)";

#[test]
fn c11_branch_and_index_return_with_the_files() {
    let scene = Scene::new();
    let bundle = shared_repository(&scene);
    let given = files(&scene.world.path("repository"));
    let steps = [
        format!(
            "git clone -q --template= repo.bundle t && mv t/.git . && rm -rf t && git reset -q --hard && \
             git checkout -q -b feature && echo more >> code.txt && git add code.txt && {COMMIT} -m second && \
             echo staged > staged.txt && git add staged.txt && echo loose > loose.txt && {LOOK} > /tmp/look && cp /tmp/look look.1"
        ),
        format!(
            "git rm -q --cached staged.txt && {COMMIT} -q --allow-empty -m third; git checkout -q -f main && \
             git branch -q -D feature && git checkout -q -b other && echo x > y && git add -A && {COMMIT} -m fourth && \
             echo '[core]' > .git/config"
        ),
        "true".to_owned(),
    ];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let run = scene.start_steps(ACTS, &steps, &["--every-steps", "1", "--share", bundle.to_str().unwrap()]);
    scene.approve_action(&run);
    scene.stands_at(&run, 1);
    let before = files(&upper(&scene, &run));
    assert!(before.iter().any(|(path, _)| path.ends_with(".git/index")), "the index lies in the run's own layer");
    let look = fs::read_to_string(upper(&scene, &run).join("look.1")).unwrap();
    for part in ["branch.head feature", "staged.txt", "second", "? loose.txt"] {
        assert!(look.contains(part), "{part}: {look}");
    }
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.approve_action(&run);
    scene.stands_at(&run, 2);
    assert_ne!(files(&upper(&scene, &run)), before);
    scene.world.by("admin", &["run", "rollback", &run, "--to", "1", "--reason", "the branch is gone", "--yes"]).ok();
    scene.reaches(&run, "ROLLED_BACK");
    eventually("everything is back", PATIENCE, || files(&upper(&scene, &run)) == before);
    assert_eq!(files(&scene.world.path("repository")), given, "the repository of the person is as it was");
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}

/// What is typed in the moment in which something appears was not meant for it, and is let go of.
fn reads() {
    std::thread::sleep(std::time::Duration::from_secs(1));
}

#[test]
fn c10_at_the_terminal_a_person_sees_what_going_back_would_change_and_goes_back() {
    let scene = Scene::new();
    let run = scene.start_steps(ACTS, &["echo one > a.txt", "echo two > b.txt", "true"], &["--every-steps", "1"]);
    scene.approve_action(&run);
    scene.stands_at(&run, 1);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.approve_action(&run);
    scene.stands_at(&run, 2);
    let earlier = scene.seen(&run)["snapshots"].as_array().unwrap()[1]["number"].clone();
    let window = Window::open(&scene.world.command(&["--as", "ada", "review", &run]), 120, 40);
    window.shows("saved as snapshot");
    reads();
    window.type_in("u");
    window.shows("would change");
    reads();
    window.type_in("\u{1b}[D");
    window.shows(&format!("back to snapshot {earlier}"));
    window.shows("- b.txt");
    reads();
    window.type_in("u");
    window.shows("go back, and lose what is listed: why?");
    assert_eq!(scene.seen(&run)["status"], "CHECKPOINT_REACHED", "nothing is lost yet");
    window.type_in("b is wrong\r");
    window.shows("rolled back");
    scene.reaches(&run, "ROLLED_BACK");
    can_go_on(&scene, &run);
    assert!(!files(&upper(&scene, &run)).iter().any(|(path, _)| path.ends_with("b.txt")));
}
