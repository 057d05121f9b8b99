//! Scope of a hosted run: paths outside of it stay unchanged, even if an approved action writes to them.

use super::{Scene, output_of};

/// Creates a scene whose runs may change only these paths.
fn scene_allowing(allow: &str) -> Scene {
    let scene = Scene::new();
    let scope = std::fs::read_to_string(scene.world.path("scope.toml")).unwrap();
    scene.world.write("scope.toml", scope.replace("allow = [\"**\"]", &format!("allow = [{allow:?}]")));
    scene.world.by("admin", &["scope", "lock", "all", "scope.toml"]).ok();
    scene
}

fn agent(body: &str) -> String {
    format!("from placet import Run\nrun = Run()\nrun.wait_for_work()\n{body}\nrun.finish('done')\n")
}

/// Lists the paths of the outputs after they were collected.
fn outputs(scene: &Scene, run: &str, awaited: &str) -> Vec<String> {
    output_of(scene, run, awaited);
    let all = scene.seen(run)["outputs"].as_array().unwrap().clone();
    all.iter().map(|output| output["path"].as_str().unwrap().to_owned()).collect()
}

/// Lists the actions of a run with their results, in order.
fn actions(scene: &Scene, run: &str) -> Vec<(String, String)> {
    let all = scene.world.json("ada", &["run", "show", run])["actions"].as_array().unwrap().clone();
    let mut all: Vec<_> =
        all.iter().map(|action| (action["id"].as_str().unwrap(), action["status"].as_str().unwrap())).collect();
    all.sort_unstable();
    all.into_iter().map(|(id, status)| (id.to_owned(), status.to_owned())).collect()
}

#[test]
fn files_outside_of_the_scope_cannot_be_changed() {
    let scene = scene_allowing("src/**");
    scene.world.write("Makefile", "all:\n");
    let body = "run.act('sh', 'echo planted > Makefile')\n\
                run.act('sh', 'rm -f Makefile; mv Makefile aside; echo x > calc.py; mkdir docs; \
                mkdir -p src && cp Makefile src/seen && echo t > /tmp/t')";
    let input = scene.world.path("Makefile");
    let run = scene.start_script(&agent(body), &["--input", input.to_str().unwrap()]);
    scene.approve_action(&run);
    scene.approve_action(&run);
    assert_eq!(outputs(&scene, &run, "src/seen"), ["src/seen"]);
    assert!(scene.seen(&run)["removed"].as_array().is_none_or(Vec::is_empty));
    let statuses: Vec<String> = actions(&scene, &run).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, ["FAILED", "SUCCEEDED"]);
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap()]).ok();
    assert_eq!(std::fs::read_to_string(to.join("src/seen")).unwrap(), "all:\n", "nothing was planted");
}

#[test]
fn new_names_outside_of_the_scope_are_undone() {
    let scene = scene_allowing("*.md");
    let body = "helper = run.provide('helper.sh', b'echo helped > helped.md')\n\
                run.act('sh', 'sh helper.sh', files=[helper])\n\
                run.act('sh', 'ls > seen.md; echo x > evil.sh')";
    let run = scene.start_script(&agent(body), &[]);
    scene.approve_action(&run);
    scene.approve_action(&run);
    assert_eq!(outputs(&scene, &run, "seen.md"), ["helped.md", "seen.md"]);
    let actions = actions(&scene, &run);
    let statuses: Vec<&str> = actions.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["SUCCEEDED", "FAILED"]);
    let shown = scene.world.by("ada", &["evidence", "list", &actions[1].0]).ok();
    assert!(shown.out().contains("results were refused: `evil.sh` is outside of the scope"), "{}", shown.out());
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap()]).ok();
    let seen = std::fs::read_to_string(to.join("seen.md")).unwrap();
    assert_eq!(seen, "helped.md\nseen.md\n", "a file that was lent is not the run's");
}

#[test]
fn outputs_that_are_no_files_fail_their_action() {
    let scene = scene_allowing("src/**");
    let body = "run.act('sh', 'mkdir -p src/dir && ln -s /etc/passwd src/link && mkfifo src/fifo && echo x > src/file', \
                outputs=['src/dir', 'src/fifo', 'src/file', 'src/link', 'src/none'])";
    let run = scene.start_script(&agent(body), &[]);
    scene.approve_action(&run);
    output_of(&scene, &run, "src/file");
    let actions = actions(&scene, &run);
    assert_eq!(actions[0].1, "FAILED");
    let manifest = scene.world.json("ada", &["evidence", "list", &actions[0].0]);
    let not_taken = serde_json::json!([
        { "path": "src/dir", "why": "directory" },
        { "path": "src/fifo", "why": "special" },
        { "path": "src/link", "why": "link" },
        { "path": "src/none", "why": "missing" },
    ]);
    assert_eq!(manifest["not_taken"], not_taken);
    let names: Vec<_> = manifest["items"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect();
    assert!(names.contains(&"out/src/file".into()), "{names:?}");
}
