//! What an agent finds in its cage, and what it does not.

use super::Scene;

/// What the agent says when it is done, as lines.
fn told(scene: &Scene, script: &str, options: &[&str]) -> Vec<String> {
    let run = scene.start_script(script, options);
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    seen["said"].as_str().unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn e1_an_agent_finds_its_handshake_and_nothing_of_the_host() {
    let scene = Scene::new();
    let script = "import json, os\nfrom placet import Run\nrun = Run()\nrun.wait_for_work()\ne = run.env\n\
        said = [str(sorted(e)), e['goal'], os.getcwd(), os.environ['SYSTEM_SERVICE_URL'],\n\
        ' '.join(sorted(os.listdir('.'))), oct(os.stat(e['token_file']).st_mode & 0o777),\n\
        str(sorted(k for k in os.environ if k not in ('PATH','HOME','LANG','TERM','USER','TMPDIR')))]\n\
        run.finish('\\n'.join(said))\n";
    let said = told(&scene, script, &["--budget-actions", "5"]);
    let fields = "['agent_id', 'budget', 'goal', 'limits', 'lineage', 'plan', 'project_id', 'run_id', 'service_url', \
                  'steps_done', 'token_file', 'v', 'workspace']";
    assert_eq!(said[0], fields);
    assert_eq!(said[1..4], ["do what is asked", "/work", "http://127.0.0.1:8700"]);
    assert!(said[4].contains(".placet") && said[4].contains("env.json") && said[4].contains("own.py"), "{said:?}");
    assert_eq!(said[5], "0o600");
    assert!(said[6].contains("SYSTEM_SERVICE_URL") && !said[6].contains("PLACET"), "{said:?}");
}

#[test]
fn c6_what_one_action_leaves_the_next_one_finds_and_what_was_given_stays_as_it_was() {
    let scene = Scene::new();
    scene.world.write("given.txt", "as given\n");
    let given = scene.world.path("given.txt");
    let script = "from placet import Run\nrun = Run()\nsaid = [run.act('cp', 'given.txt', 'a.txt', outputs=['a.txt'])]\n\
                  said.append(run.act('grep', 'as given', 'a.txt'))\n\
                  said.append(run.act('cp', 'a.txt', 'b.txt', outputs=['b.txt']))\nrun.finish('\\n'.join(said))\n";
    let said = told(&scene, script, &["--input", given.to_str().unwrap()]);
    assert_eq!(said, ["SUCCEEDED"; 3]);
    assert_eq!(std::fs::read_to_string(given).unwrap(), "as given\n");
}

#[test]
fn c19_a_repository_that_a_run_made_for_itself_is_no_output_and_keeps_nothing_else_from_being_one() {
    let scene = Scene::new();
    let script = "from placet import Run\nrun = Run()\n\
                  run.act('sh', 'mkdir .git && echo x > .git/config && echo y > a.txt')\nrun.finish('done')\n";
    let run = scene.start_script(script, &[]);
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    super::output_of(&scene, &run, "a.txt");
    let paths: Vec<String> =
        scene.seen(&run)["outputs"].as_array().unwrap().iter().map(|output| output["path"].to_string()).collect();
    assert_eq!(paths, ["\"a.txt\""]);
}
