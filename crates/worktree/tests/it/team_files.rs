//! The files of a team: what is read, what is refused, and that every refusal names file, line and place.

use std::fs;
use std::os::unix::fs::symlink;

use placet_domain::scope::{Scope, ScopeDraft, ScopePath};
use placet_domain::worktree::{Duties, Operation, Ruling};
use placet_worktree::team::{NoSuchAgent, Problem, ProblemKind, Team};

use crate::world::{World, git};

const REGISTRY: &str = "agents/agents_registry.json";
const BACKEND: &str = "agents/profiles/backend_agent.json";
const POLICY: &str = "agents/policy.json";

#[test]
fn a3_a_team_is_read_with_its_agents_and_defaults() {
    let team = World::with_team().load().unwrap();
    let backend = team.agent("backend").unwrap();
    assert_eq!((backend.name().as_str(), backend.display_name()), ("backend", "Backend"));
    assert_eq!(backend.cage().as_str(), "code_development");
    assert_eq!(backend.scope().allow[0].as_str(), "src/**");
    assert!(backend.is_enabled() && backend.checks().is_none());
    assert_eq!(team.policy().base_branch.as_str(), "main");
    assert_eq!(team.policy().quotas.worktrees, 32);
    assert_eq!(team.agents().count(), 2);
}

#[test]
fn a3_every_problem_of_every_file_is_reported_at_once_with_file_line_and_place() {
    let world = World::with_team();
    world.write(
        BACKEND,
        r#"{
  "name": "backend",
  "role": "",
  "mission": "m",
  "scope": {
    "allow": [
      "src/**",
      "/etc/**"
    ],
    "dney": []
  },
  "skills": "rust"
}"#,
    );
    world.edit(REGISTRY, "\"version\": 1", "\"version\": 2");
    world.edit("agents/raci.json", "@reviewer", "@boss");
    assert_eq!(
        world.problems(),
        [
            "agents/agents_registry.json:3: /version: expected `1`, found `2`",
            "agents/profiles/backend_agent.json:3: /role: it must not be empty: What the agent is, on one line.",
            "agents/profiles/backend_agent.json:8: /scope/allow/1: bad path pattern `/etc/**`: it starts with `/`; patterns begin at the root of the repository anyway",
            "agents/profiles/backend_agent.json:10: /scope/dney: unknown key `dney`; did you mean `deny`?",
            "agents/profiles/backend_agent.json:12: /skills: expected a list in [ ], found `rust`",
            "agents/raci.json:29: /merge/accountable/0: `@boss` is no role of people: reviewer, operator, admin, auditor",
        ]
    );
}

#[test]
fn a3_an_empty_allow_is_refused_with_the_reason() {
    let world = World::with_team();
    world.edit(BACKEND, "[\"src/**\", \"tests/**\"]", "[]");
    let problem = world.problem();
    assert!(problem.contains(":16: /scope/allow: it has 0 entries and needs 1"), "{problem}");
    assert!(problem.contains("may change nothing cannot do its work"), "{problem}");
}

#[test]
fn a3_only_strict_json_is_read() {
    let cases = [
        ("{\"version\": 1, \"version\": 1, \"agents\": []}", ":1: the key `version` appears twice"),
        ("{\"version\": 1, \"agents\": []}\n\n{}", ":3: there is text after the end"),
        ("{\"version\": 1,\n\"agents\": [],}", ":2: a `,` stands before `}`"),
        ("// agents\n{}", ":1: expected a value, found `/`"),
        ("", ":1: expected a value, found the end of the file"),
        ("\u{feff}{}", ":1: expected a value, found `⟦U+FEFF⟧`"),
        ("{\"version\": 9007199254740993, \"agents\": []}", "beyond"),
    ];
    for (text, expected) in cases {
        let world = World::with_team();
        world.write(REGISTRY, text);
        let problem = world.problem();
        assert!(problem.starts_with(REGISTRY) && problem.contains(expected), "{text:?}: {problem}");
    }
}

#[test]
fn a3_registry_and_profiles_must_agree() {
    let world = World::with_team();
    world.write(
        REGISTRY,
        r#"{ "version": 1, "agents": [
            { "name": "backend", "displayName": "Back", "profile": "profiles/backend_agent.json" },
            { "name": "backend", "displayName": "Again", "profile": "profiles/backend_agent.json" },
            { "name": "docs", "displayName": "Docs", "profile": "profiles/backend_agent.json" },
            { "name": "none", "displayName": "None", "profile": "profiles/none_agent.json" },
            { "name": "Bad Name", "displayName": "x", "profile": "../x.json" } ] }"#,
    );
    let shapes = world.problems();
    assert!(
        shapes
            .iter()
            .any(|problem| problem.contains(":6: /agents/4/name: `Bad Name` is not accepted: 1 to 32 lowercase"))
    );
    assert!(shapes.iter().any(|problem| problem.contains(":6: /agents/4/profile: `../x.json` is not accepted")));
    world.edit(
        REGISTRY,
        ",\n            { \"name\": \"Bad Name\", \"displayName\": \"x\", \"profile\": \"../x.json\" }",
        "",
    );
    world.edit(BACKEND, "\"name\": \"backend\"", "\"name\": \"backnd\",\n \"displayName\": \"Front\"");
    let found = world.problems();
    for expected in [
        ":3: /agents/1/name: `backend` is registered twice",
        ":4: /agents/2/profile: the profile of `docs` is `profiles/docs_agent.json`",
        ":5: /agents/3/profile: `agents/profiles/none_agent.json` is missing",
        "backend_agent.json:3: /name: the registry calls this agent `backend`",
        "backend_agent.json:4: /displayName: the registry says `Back`",
    ] {
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    }
    assert_eq!(found.len(), 5, "{found:#?}");
}

#[test]
fn a3_an_agent_that_does_not_exist_or_rests_is_told_apart_and_the_likely_one_is_named() {
    let world = World::with_team();
    world.edit(
        REGISTRY,
        "\"profile\": \"profiles/docs_agent.json\"",
        "\"profile\": \"profiles/docs_agent.json\", \"enabled\": false",
    );
    let team = world.load().unwrap();
    assert_eq!(team.agent("bakcend").unwrap_err().to_string(), "there is no agent `bakcend`; did you mean `backend`?");
    assert_eq!(
        team.agent("\u{1b}x").unwrap_err().to_string(),
        "there is no agent `⟦U+001B⟧x`; registered are backend, docs"
    );
    assert!(matches!(team.agent("docs"), Err(NoSuchAgent::Disabled(_))));
}

#[test]
fn a3_links_and_other_things_than_files_are_not_read() {
    let secret = World::with_team();
    for (file, what) in [(REGISTRY, "link"), (BACKEND, "link"), ("agents", "link"), ("agents/profiles", "link")] {
        let world = World::with_team();
        fs::rename(world.path(file), world.path("moved")).unwrap();
        symlink(secret.path(file), world.path(file)).unwrap();
        let problems = world.problems();
        assert!(problems.iter().all(|problem| problem.contains(what)), "{file}: {problems:?}");
    }
    let world = World::with_team();
    fs::remove_file(world.path(POLICY)).unwrap();
    fs::create_dir(world.path(POLICY)).unwrap();
    assert!(world.problem().contains("agents/policy.json: it is not a plain file"));
}

#[test]
fn a3_a_pipe_in_the_place_of_a_file_holds_nobody_up() {
    let world = World::with_team();
    fs::remove_file(world.path(POLICY)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(world.path(POLICY)).status().unwrap();
    assert!(made.success());
    assert!(world.problem().contains("not a plain file"));
}

#[test]
fn a3_files_beyond_a_megabyte_are_refused() {
    let world = World::with_team();
    world.write(POLICY, &format!("{{{}}}", " ".repeat(1024 * 1024 - 2)));
    assert!(world.load().is_ok());
    world.write(POLICY, &format!("{{{}}}", " ".repeat(1024 * 1024 - 1)));
    assert!(world.problem().contains("larger than 1 MiB"));
}

#[test]
fn a3_a_worktree_is_never_asked_who_its_agents_are() {
    let world = World::with_team();
    let run = |arguments: &[&str]| assert!(git(world.root()).args(arguments).status().unwrap().success());
    run(&["add", "--all"]);
    run(&["commit", "--quiet", "--message=chore(team): begin"]);
    run(&["worktree", "add", "--quiet", "elsewhere"]);
    run(&["worktree", "add", "--quiet", ".worktrees/A-1/backend"]);
    for worktree in ["elsewhere", ".worktrees/A-1/backend"] {
        let problem = Team::load(&world.path(worktree)).unwrap_err().to_string();
        assert!(problem.contains("is a worktree and not the main checkout"), "{worktree}: {problem}");
    }
    // Not even if the agent makes it look like a repository of its own.
    let own = world.path(".worktrees/A-1/backend");
    fs::remove_file(own.join(".git")).unwrap();
    assert!(git(&own).args(["init", "--quiet"]).status().unwrap().success());
    assert!(Team::load(&own).unwrap_err().to_string().contains("not the main checkout"));
    assert!(world.load().is_ok());
}

#[test]
fn a3_a_repository_may_lie_in_a_directory_that_happens_to_be_called_like_that() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join(".worktrees/mine");
    fs::create_dir_all(&root).unwrap();
    assert!(git(&root).args(["init", "--quiet"]).status().unwrap().success());
    assert!(placet_worktree::team::init(&root).is_ok() && Team::load(&root).is_ok());
}

#[test]
fn a3_what_is_no_repository_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Team::load(dir.path()).unwrap_err().to_string().contains("not the root of a git repository"));
    assert!(Team::load(&dir.path().join("none")).unwrap_err().to_string().contains("does not exist"));
    let world = World::empty();
    assert!(world.problem().contains("agents/agents_registry.json: it is missing; run `placet init`"));
}

#[test]
fn a3_the_version_changes_with_the_content_and_not_with_the_layout() {
    let world = World::with_team();
    let before = world.load().unwrap();
    let spread = world.read(BACKEND).replace("\", \"", "\",\n\n   \"");
    world.write(BACKEND, &spread);
    assert_eq!(world.load().unwrap().version(), before.version());
    world.edit(BACKEND, "tests/**", "test/**");
    let after = world.load().unwrap();
    let version = |team: &Team, name| team.agent(name).unwrap().version();
    assert_ne!(after.version(), before.version());
    assert_ne!(version(&after, "backend"), version(&before, "backend"));
    assert_eq!(version(&after, "docs"), version(&before, "docs"));
    let changes =
        [("agents/secrets_allowlist.json", "{}"), ("agents/templates/prompt.md", "x"), (POLICY, "{\"checks\": []}")];
    let versions = changes.map(|(file, text)| world.write(file, text).load().unwrap().version());
    assert_ne!(versions[0], after.version());
    assert_ne!(versions[1], versions[0]);
    assert_eq!(versions[2], versions[1], "defaults that are written down change nothing");
}

#[test]
fn a3_problems_say_which_sort_of_rule_was_broken() {
    let world = World::with_team();
    world.edit(BACKEND, "src/**", "src/[");
    let problems = world.load().unwrap_err();
    let kinds: Vec<(ProblemKind, Option<usize>, &str)> =
        problems.all().iter().map(|problem: &Problem| (problem.kind(), problem.line(), problem.pointer())).collect();
    assert_eq!(kinds, [(ProblemKind::Meaning, Some(16), "/scope/allow/0")]);
    assert_eq!(problems.all()[0].file(), BACKEND);
    assert!(problems.all()[0].message().contains("a `[` is never closed"));
}

/// Why a path is refused to an agent that may change everything, if it is.
fn refused(team: &Team, path: &str) -> Option<String> {
    let mut manifest = team.manifest(team.agent("backend").unwrap());
    manifest.scope = serde_json::from_str(r#"{"allow": ["**"]}"#).unwrap();
    let path = ScopePath::new(path.as_bytes()).unwrap();
    match manifest.judge(&[], &path) {
        Ruling::Allowed { .. } => None,
        Ruling::Protected { by } => Some(by.reason.clone()),
        Ruling::Own => Some("it belongs to the runtime".into()),
        other @ (Ruling::Denied { .. } | Ruling::Outside) => panic!("{other:?}"),
    }
}

#[test]
fn a6_the_default_list_protects_what_runs_on_other_machines_and_says_why() {
    let team = World::with_team().load().unwrap();
    let paths = [
        ".github/workflows/ci.yml",
        "scripts/guards/x.sh",
        "tools/ssot_check.py",
        "docs/40-security/rules.md",
        "Makefile",
        "makefile",
        "GNUmakefile",
        ".gitignore",
        "web/.gitattributes",
        ".gitmodules",
        ".vscode/tasks.json",
        ".mcp.json",
        ".claude/settings.json",
        "sub/.claude/settings.json",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".codex/config.toml",
        ".envrc",
        ".husky/pre-commit",
        ".cargo/config.toml",
        ".npmrc",
        ".github/CODEOWNERS",
        "CODEOWNERS",
        ".devcontainer/devcontainer.json",
        "scripts/guards",
        "sub/.vscode",
    ];
    for path in paths {
        assert!(refused(&team, path).is_some_and(|reason| reason.len() > 10), "{path}");
    }
    for path in ["src/main.rs", "docs/guide.md", "tools/other.py", "web/Makefile", "tests/ssot_x.py"] {
        assert_eq!(refused(&team, path), None, "{path}");
    }
}

#[test]
fn a6_a_team_sets_its_list_but_cannot_give_away_what_is_the_runtimes() {
    let world = World::with_team();
    world.write("agents/protected_paths.json", r#"{ "paths": [ { "path": "billing/", "reason": "money" } ] }"#);
    let team = world.load().unwrap();
    for path in
        ["agents/policy.json", ".placet/keys", ".agent/manifest.json", ".worktrees/A-1/x", "billing/a", ".AGENT/x"]
    {
        assert!(refused(&team, path).is_some(), "{path}");
    }
    for directory in ["agents", ".placet", ".agent", ".worktrees", "billing"] {
        assert!(refused(&team, directory).is_some(), "a link in the place of {directory}");
    }
    assert_eq!(refused(&team, "Makefile"), None, "the list is the team's");
    fs::remove_file(world.path("agents/protected_paths.json")).unwrap();
    assert!(refused(&world.load().unwrap(), "Makefile").is_some(), "no file means the default list");
}

#[test]
fn a5_the_manifest_of_an_agent_is_its_scope_and_what_is_protected() {
    let team = World::with_team().load().unwrap();
    let manifest = team.manifest(team.agent("docs").unwrap());
    let judge = |path: &str| manifest.judge(&[], &ScopePath::new(path.as_bytes()).unwrap()).is_allowed();
    assert!(judge("docs/guide.md") && judge("README.md"));
    assert!(!judge("src/main.rs") && !judge("docs/40-security/rules.md"));
    assert_eq!(manifest.protected, team.protected());
}

#[test]
fn a13_somebody_is_accountable_for_every_operation_and_it_is_a_person() {
    let world = World::with_team();
    assert_eq!(world.load().unwrap().duties(), &Duties::default(), "init writes what holds anyway");
    let start = "\"start\": {\n    \"accountable\": [\"@operator\"]";
    world.edit("agents/raci.json", start, "\"start\": {\n    \"accountable\": [\"@agent\", \"maria\"]");
    let problem = world.problem();
    assert!(
        problem.starts_with("agents/raci.json:5: /start/accountable/0: `@agent` is no role of people"),
        "{problem}"
    );
    world.edit("agents/raci.json", "[\"@agent\", \"maria\"]", "[]");
    assert!(
        world.problem().contains("/start/accountable: it has 0 entries and needs 1: The only ones who can decide it.")
    );
    world.write("agents/raci.json", "{}");
    assert_eq!(world.problems().len(), 5, "each operation is missed");
    fs::remove_file(world.path("agents/raci.json")).unwrap();
    assert_eq!(world.load().unwrap().duties(), &Duties::default());
}

#[test]
fn a13_people_are_named_or_meant_by_their_role() {
    let world = World::with_team();
    let merge =
        "\"accountable\": [\"@reviewer\"],\n    \"responsible\": [],\n    \"consulted\": [],\n    \"informed\": []";
    world.edit("agents/raci.json", merge, "\"accountable\": [\"@reviewer\"], \"informed\": [\"maria\", \"@auditor\"]");
    let team = world.load().unwrap();
    let informed: Vec<String> = team.duties().of(Operation::Merge).informed.iter().map(ToString::to_string).collect();
    assert_eq!(informed, ["maria", "@auditor"]);
    world.edit("agents/raci.json", "maria", "a@b");
    assert!(world.problem().contains("`a@b` is no name of an identity"));
}

#[test]
fn default_protected_paths_cover_what_runs_on_peoples_machines() {
    let team = World::with_team().load().unwrap();
    let everything = ["lefthook.yml", "src/main.rs"].map(|path| ScopePath::new(path.as_bytes()).unwrap());
    let mut manifest = team.manifest(team.agent("backend").unwrap());
    let all = ScopeDraft { allow: vec!["**".parse().unwrap()], ..ScopeDraft::default() };
    manifest.scope = Scope::lock(all);
    assert!(manifest.judge(&[], &everything[1]).is_allowed());
    let protected = [
        // Git hooks.
        "lefthook.yml",
        ".lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yaml",
        "lefthook.toml",
        ".lefthook.toml",
        "lefthook.json",
        ".lefthook.json",
        "lefthook-local.yml",
        ".lefthook-local.toml",
        ".config/lefthook.yml",
        ".config/lefthook-local.json",
        ".lefthook/pre-commit/run.sh",
        ".lefthook-local/pre-commit/run.sh",
        ".husky/pre-commit",
        ".huskyrc",
        ".huskyrc.js",
        ".git-hooks/pre-commit",
        ".overcommit.yml",
        ".pre-commit-config.yaml",
        "prek.toml",
        ".simple-git-hooks.json",
        "simple-git-hooks.cjs",
        ".lintstagedrc.json",
        "packages/a/lint-staged.config.js",
        "commitlint.config.ts",
        ".commitlintrc.js",
        // Editors, shells and containers.
        ".vscode/tasks.json",
        ".vs/tasks.vs.json",
        ".fleet/run.json",
        ".nvimrc",
        ".vimrc",
        ".lvimrc",
        ".lazy.lua",
        ".helix/config.toml",
        ".sublime-project",
        "app.sublime-project",
        ".devcontainer/devcontainer.json",
        ".devcontainer.json",
        ".gitpod.yml",
        ".gitpod.Dockerfile",
        ".idx/dev.nix",
        ".replit",
        ".envrc",
        ".autoenv.zsh",
        "mise.toml",
        ".mise.toml",
        "mise.local.toml",
        ".mise/config.toml",
        ".config/mise/config.toml",
        ".mise-tasks/build",
        "makefile",
        // Agents.
        ".cursor/mcp.json",
        ".cursorignore",
        ".windsurf/rules/a.md",
        ".continue/config.yaml",
        ".continuerules",
        ".roo/mcp.json",
        ".roomodes",
        ".roorules",
        ".roorules-code",
        ".kiro/hooks/a.kiro.hook",
        ".cline/mcp.json",
        ".clinerules",
        ".clinerules/hooks/run",
        ".kilocode/mcp.json",
        ".kilocodemodes",
        ".amazonq/mcp.json",
        ".augment/rules/a.md",
        ".augment-guidelines",
        ".trae/rules/a.md",
        ".junie/guidelines.md",
        ".goose/config.yaml",
        ".factory/hooks.json",
        ".agents/skills/a/SKILL.md",
        ".openhands/setup.sh",
        ".crush.json",
        "crush.json",
        ".rules",
        ".aider.conf.yml",
        ".mcp.json",
        "mcp.json",
        ".github/prompts/a.prompt.md",
        ".github/agents/a.md",
        ".github/hooks/a.json",
        ".github/chatmodes/a.md",
        ".github/copilot-setup-steps.yml",
        // Continuous integration.
        ".gitlab-ci.yml",
        ".gitlab/ci/build.yml",
        ".forgejo/workflows/ci.yml",
        ".gitea/workflows/ci.yml",
        ".travis.yml",
        ".drone.yml",
        ".woodpecker.yml",
        ".woodpecker/ci.yml",
        ".buildkite/pipeline.yml",
        ".cirrus.yml",
        ".cirrus.star",
        "appveyor.yml",
        ".appveyor.yml",
        ".semaphore/semaphore.yml",
        ".teamcity/settings.kts",
        "buildspec.yml",
        "cloudbuild.yaml",
        "azure-pipelines-nightly.yml",
    ];
    let open: Vec<&str> = protected
        .into_iter()
        .filter(|path| manifest.judge(&[], &ScopePath::new(path.as_bytes()).unwrap()).is_allowed())
        .collect();
    assert_eq!(open, Vec::<&str>::new(), "an agent may change these");
}
