//! Many at once: no lock error, no cross-talk.

use placet_testkit::rounds;

use super::repo::Repo;

#[test]
fn a1_many_agents_start_work_and_close_at_once() {
    let (repo, agents) = (Repo::new(), rounds(8, 20));
    let layouts = |number: usize| if number.is_multiple_of(2) { &[][..] } else { &["--overlay"] };
    std::thread::scope(|scope| {
        for number in 0..agents {
            let repo = &repo;
            scope.spawn(move || {
                let ticket = format!("PAY-{}", number + 1);
                let pair = ["--agent", "backend", "--ticket", &ticket];
                let on = |verb: &str, more: &[&str]| repo.placet(&[&[verb], &pair[..], more].concat());
                on("start", layouts(number)).ok();
                let script =
                    format!("echo {number} > src/mine-{number}.txt; git add -A; git commit -qm 'feat(core): {number}'");
                on("exec", &["--", "sh", "-ec", &script]).ok();
                on("close", &[]).ok();
            });
        }
    });
    for number in 0..agents {
        let branch = format!("feat/PAY-{}-backend", number + 1);
        let files = repo.git(&["diff", "--name-only", "main", &branch]);
        assert_eq!(files.trim(), format!("src/mine-{number}.txt"), "each has its own work and nobody else's");
    }
    let closed = repo.recorded().iter().filter(|kind| *kind == "worktree.closed").count();
    assert_eq!(closed, agents);
    repo.git(&["fsck", "--strict"]);
}
