//! PRIVACY: an agent sees only what was shared with it.

use super::{agent, told};
use crate::hosted::Scene;

#[test]
fn c1_privacy_actions_see_what_was_shared_and_the_agent_itself_does_not() {
    let scene = Scene::new();
    scene.world.write("prices.csv", "1,2\n");
    scene.world.write("plans.md", "internal\n");
    let (public, internal) = (scene.world.path("prices.csv"), scene.world.path("plans.md"));
    let body = "said.append(run.act('cat', 'prices.csv', 'plans.md'))\nsaid.append(str(os.path.exists('prices.csv')))";
    let options = ["--input", public.to_str().unwrap(), "--share", internal.to_str().unwrap()];
    assert_eq!(told(&scene, &agent(body), &options), ["SUCCEEDED", "False"]);
}

#[test]
fn c1_privacy_two_runs_on_one_host_see_nothing_of_each_other() {
    let scene = Scene::new();
    let first = scene.start_script(
        &agent(
            "open('secret.txt', 'w').write('mine')\none = run.provide('in.txt', b'result')\n\
        said.append(run.act('cp', 'in.txt', 'kept.txt', files=[one], outputs=['kept.txt']))",
        ),
        &[],
    );
    scene.reaches(&first, "PENDING_EXPORT");
    let body = "for path in ['secret.txt', '../secret.txt', '/work/secret.txt']:\n  said.append(str(os.path.exists(path)))\n\
        said.append(run.act('cat', 'kept.txt'))";
    assert_eq!(told(&scene, &agent(body), &[]), ["False", "False", "False", "FAILED"]);
}
