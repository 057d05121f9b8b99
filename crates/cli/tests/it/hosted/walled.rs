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
fn c1_safe_an_agent_reaches_the_control_plane_and_nobody_else() {
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = listener.local_addr().unwrap().port();
    let script = format!(
        "import socket\nfrom placet import Run\nrun = Run()\nrun.wait_for_work()\nsaid = []\n\
         for at in [('127.0.0.1', {other}), ('192.0.2.1', 80), ('1.1.1.1', 53)]:\n\
         \x20 s = socket.socket()\n  s.settimeout(3)\n  try:\n    s.connect(at)\n    said.append('reached')\n\
         \x20 except OSError as e:\n    said.append('no')\nrun.finish('\\n'.join(said))\n"
    );
    assert_eq!(told(&scene, &script, &[]), ["no", "no", "no"]);
}

#[test]
fn c1_non_autonomous_an_agents_token_opens_its_own_run_and_decides_nothing() {
    let scene = Scene::new();
    let quiet = scene
        .start_script("from placet import Run\nimport time\nrun = Run()\nrun.wait_for_work()\ntime.sleep(600)\n", &[]);
    scene.reaches(&quiet, "EXECUTING");
    let script = format!(
        "from placet import Run, Refused\nrun = Run()\nrun.wait_for_work()\nsaid = []\n\
         own = run.path\nother = '/api/v1/runs/{quiet}'\n\
         def tries(method, path, body):\n  try:\n    run.call(method, path, body)\n    said.append(path.split('/')[-1] + ' done')\n\
         \x20 except Refused as refused:\n    said.append(str(refused.status))\n\
         tries('GET', other, None)\ntries('POST', other + '/finish', {{}})\ntries('POST', other + '/actions', {{'tool': 'ls'}})\n\
         tries('POST', own + '/approve', {{}})\ntries('POST', own + '/budget', {{'limits': {{}}}})\n\
         tries('POST', own + '/resume', {{}})\ntries('POST', own + '/export', {{}})\ntries('POST', own + '/agent-token', {{}})\n\
         tries('POST', own + '/snapshots', {{'number': 9, 'workspace': 'x', 'memory': 'x', 'files': 1, 'size_bytes': 1}})\n\
         tries('POST', '/api/v1/leases', {{}})\ntries('POST', '/api/v1/hostings', {{}})\ntries('GET', '/api/v1/identities', None)\n\
         tries('POST', '/api/v1/halt', {{'reason': 'x'}})\nrun.finish('\\n'.join(said))\n"
    );
    let said = told(&scene, &script, &[]);
    assert!(said.iter().all(|status| ["403", "404"].contains(&status.as_str())), "{said:?}");
    assert_eq!(said[..3], ["404", "404", "404"], "the run of another does not exist for it");
}

#[test]
fn c1_privacy_actions_see_what_was_shared_and_the_agent_itself_does_not() {
    let scene = Scene::new();
    scene.world.write("prices.csv", "1,2\n");
    scene.world.write("plans.md", "internal\n");
    let (public, internal) = (scene.world.path("prices.csv"), scene.world.path("plans.md"));
    let script = "import os\nfrom placet import Run\nrun = Run()\nstatus = run.act('cat', 'prices.csv', 'plans.md')\n\
                  run.finish(status + '\\n' + str(os.path.exists('prices.csv')))\n";
    let options = ["--input", public.to_str().unwrap(), "--share", internal.to_str().unwrap()];
    assert_eq!(told(&scene, script, &options), ["SUCCEEDED", "False"]);
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
