"""Between a command-line agent and Placet: hands the goal on, lets the agent work in a directory of its own, and proposes what it made.

    python3 bridge.py claude|codex|goose

The agent knows nothing of Placet. It calls its model through the one door of its cage, with the token of the run as its key, and works
with its own tools in `job`, inside the cage. What lies there afterwards is proposed, one file at a time; nothing else reaches the run.
"""

import os
import subprocess
import sys
from pathlib import Path

from placet import Run, remember, remembered

INSTALLED = Path("/opt/agents")
HOME = Path("/home/agent")
JOB = Path("job")
# Their own sandboxes are switched off: they need rights that a cage does not give, and the cage is the sandbox.
CODEX = """
model = "gpt-5.5"
model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
[model_providers.gateway]
name = "gateway"
base_url = "{url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def claude(goal):
    program = INSTALLED / "@anthropic-ai/claude-code-linux-x64/claude"
    command = [program, "-p", goal, "--model", "claude-sonnet-4-5", "--output-format", "stream-json", "--verbose"]
    command += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    return command, {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def codex(goal):
    settings = HOME / ".codex"
    settings.mkdir(exist_ok=True)
    (settings / "config.toml").write_text(CODEX.format(url=os.environ["OPENAI_BASE_URL"]))
    program = INSTALLED / "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex"
    return [program, "exec", "--json", "--skip-git-repo-check", goal], {"CODEX_HOME": str(settings)}


def goose(goal):
    program = INSTALLED / "@aaif/goose-binary-linux-x64/bin/goose"
    command = [program, "run", "--no-session", "--with-builtin", "developer", "-t", goal]
    url = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
    more = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4o", "OPENAI_HOST": url, "GOOSE_MODE": "auto"}
    return command, more | {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}


def work(name, goal):
    """The agent at work. Its exit code is not believed: what counts is what it left."""
    command, more = {"claude": claude, "codex": codex, "goose": goose}[name](goal)
    JOB.mkdir(exist_ok=True)
    environment = os.environ | {"HOME": str(HOME)} | more
    ended = subprocess.run(command, cwd=JOB, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    Path("said.txt").write_bytes(ended.stdout + ended.stderr)
    sys.stderr.buffer.write((ended.stdout + ended.stderr)[-4000:])


def main(name):
    run, memory = Run(), remembered()
    run.wait_for_work()
    if not memory["done"]:
        work(name, run.env["goal"])
        remember(memory | {"done": 1})
    made = sorted(path for path in JOB.rglob("*") if path.is_file() and not any(part.startswith(".") for part in path.parts))
    for path in made:
        at = str(path.relative_to(JOB))
        handed = run.provide("made/" + at, path.read_bytes())
        status = run.act("cp", handed["path"], at, files=[handed], outputs=[at], why=f"{name} made it")
        print(at, status, flush=True)
    if not made:
        raise SystemExit(f"{name} made nothing; its last words are above")
    for step in range(run.get(run.path)["steps_done"] + 1, len(run.env["plan"]) + 1):
        run.done(step, f"{name} is done")
    run.finish(f"{name} made {len(made)} file(s)")


main(sys.argv[1])
