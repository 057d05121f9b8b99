//! Everything this crate does with a repository, one after the other.

use placet_workspace::layer::Layered;
use placet_workspace::worktree::Losing;
use placet_workspace::{Branch, Push, Repository};

use crate::project::Project;
use crate::repository::git;

type Done = Result<(), String>;

/// A repository with both kinds of worktrees, a remote, and content that every kind of filter would apply to.
pub(super) fn prepared() -> Project {
    let project = Project::new();
    git(project.outer(), &["clone", "--quiet", "--bare", "project", "remote.git"]);
    project.git(&["remote", "add", "origin", &project.outer().join("remote.git").display().to_string()]);
    project.plain("plain");
    project.layered("layered");
    project
}

/// Each operation on its own: one that is refused keeps none of the others from being tried.
pub(super) fn everything(project: &Project) -> Done {
    let mut done = Done::Ok(());
    let mut note = |step: &str, result: Done| {
        if let (Ok(()), Err(why)) = (&done, result) {
            done = Err(format!("{step}: {why}"));
        }
    };
    for start in [project.root(), project.path("src"), project.path(".worktrees/T-1/plain")] {
        note("find", Repository::find(&start).map(drop).map_err(told));
    }
    let Ok(repository) = Repository::find(&project.root()) else { return done };
    note("resolve", repository.resolve("main").map(drop).map_err(told));
    note("list", repository.list().map(drop).map_err(told));
    for name in ["plain", "layered"] {
        note(name, work(&repository, name));
    }
    note("start", repository.resolve("main").map_err(told).and_then(|_| start(project, &repository)));
    note("push", push(&repository));
    note("bases", repository.unused_bases().map(drop).map_err(told));
    done
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Everything that is done with one worktree while an agent works in it.
fn work(repository: &Repository, name: &str) -> Done {
    let worktree = repository.worktree(&name.parse().map_err(told)?).map_err(told)?;
    let main: Branch = "main".parse().map_err(told)?;
    let differences = worktree.differences(worktree.base()).map_err(told);
    let lines = differences.as_ref().map(|found| {
        // Lines that cannot be read are told and end the list; every other one is read.
        worktree.added_lines(found).into_iter().flatten().for_each(drop);
    });
    let state = worktree.state(&main).map(drop).map_err(told);
    let unsaved = worktree.unsaved().map(drop).map_err(told);
    let refreshed = worktree.refresh().map_err(told);
    let repaired = repository.repair(worktree.name()).map(drop).map_err(told);
    let harvested = worktree.commits().map_err(told).and_then(|commits: Layered| {
        let harvest = worktree.harvest(&commits).map_err(told)?;
        harvest.take_if(|_, _| Ok(())).map(drop).map_err(told)
    });
    let disk = worktree.disk_bytes().map(drop).map_err(told);
    let lines = lines.map_err(Clone::clone);
    differences.map(drop).and(lines).and(state).and(unsaved).and(refreshed).and(repaired).and(harvested).and(disk)
}

/// New worktrees of both kinds, and their end.
fn start(project: &Project, repository: &Repository) -> Done {
    let base = repository.resolve("main").map_err(told)?;
    let plan = |name: &str| placet_workspace::Plan {
        base: base.clone(),
        name: name.parse().expect("a name"),
        path: project.path(&format!(".worktrees/T-1/{name}")),
        branch: format!("feat/T-1-{name}").parse().expect("a branch"),
    };
    let plain = repository.add(&plan("new-plain")).map_err(told);
    let layered = repository.add_layered(&plan("new-layered")).map_err(told);
    for worktree in [plain?, layered?] {
        worktree.remove(&Losing::Nothing).map_err(told)?;
    }
    Ok(())
}

fn push(repository: &Repository) -> Done {
    let branch: Branch = "feat/T-1-plain".parse().map_err(told)?;
    let tip = repository.tip(&branch).map_err(told)?.ok_or("no branch")?;
    let push = Push { remote: "origin", branch: &branch, expected_tip: &tip, protected: &[], credentials: &[] };
    repository.push(&push).map_err(told)
}
