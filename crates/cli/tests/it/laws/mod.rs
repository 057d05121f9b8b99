//! The five laws, each attacked from several sides, with real agents in real cages.

mod non_autonomous;
mod privacy;
mod representational;
mod safe;
mod transparency;

use crate::hosted::Scene;

/// An agent that tries something and says how it went, as lines.
fn told(scene: &Scene, script: &str, options: &[&str]) -> Vec<String> {
    let run = scene.start_script(script, options);
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    seen["said"].as_str().unwrap().lines().map(str::to_owned).collect()
}

/// The usual beginning of an agent, and its end: what is in `said`.
fn agent(body: &str) -> String {
    format!(
        "import os, time\nfrom placet import Run, Refused\nrun = Run()\nrun.wait_for_work()\nsaid = []\n{body}\nrun.finish('\\n'.join(said))\n"
    )
}
