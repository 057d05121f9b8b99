"""A small library for agents that Placet starts. Standard library only.

An agent finds `env.json` in its directory and the control plane at SYSTEM_SERVICE_URL. It can be ended and started again at any
moment: what it must not forget, it keeps in `memory.json`, which goes back with the run when that is rolled back.
"""

import hashlib
import json
import os
import time
import urllib.error
import urllib.request
import uuid

FINAL = {"SUCCEEDED", "FAILED", "DENIED", "REJECTED", "EXPIRED", "WITHDRAWN", "ABANDONED", "INTERRUPTED", "REHEARSED"}


class Refused(Exception):
    """The control plane said no."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem}")
        self.status = status


class Run:
    def __init__(self):
        with open("env.json", encoding="utf-8") as file:
            self.env = json.load(file)
        with open(self.env["token_file"], encoding="utf-8") as file:
            self.token = file.read().strip()
        self.url = os.environ["SYSTEM_SERVICE_URL"]
        self.path = f"/api/v1/runs/{self.env['run_id']}"

    def call(self, method, path, body=None, key=None):
        """One request. A control plane that is away is waited for."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/octet-stream"
        if key:
            headers["Idempotency-Key"] = key
        while True:
            request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.read()
            except urllib.error.HTTPError as error:
                raise Refused(error.code, error.read().decode()) from None
            except (urllib.error.URLError, ConnectionError, TimeoutError, OSError):
                time.sleep(0.2)

    def get(self, path):
        return json.loads(self.call("GET", path))

    def post(self, path, body, key=None):
        return json.loads(self.call("POST", path, body, key or uuid.uuid4().hex))

    def status(self):
        return self.get(self.path)["status"]

    def wait_for_work(self):
        """Until the run works; reports in where that is wanted."""
        while True:
            status = self.status()
            if status == "EXECUTING":
                return
            if status == "SPAWNING_SANDBOX":
                try:
                    self.post(f"{self.path}/attach", {})
                except Refused:
                    time.sleep(0.1)
            else:
                time.sleep(0.1)

    def insist(self, path, body):
        """A request that only a run at work answers."""
        while True:
            self.wait_for_work()
            try:
                return self.post(path, body)
            except Refused as refused:
                if refused.status != 409 or self.status() == "EXECUTING":
                    raise

    def provide(self, path, content):
        """Hands over a file for an action."""
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        self.call("PUT", f"/api/v1/projects/{self.env['project_id']}/evidence/{digest}", content)
        return {"path": path, "digest": digest, "size_bytes": len(content)}

    def act(self, tool, *arguments, files=(), outputs=(), why=""):
        """Proposes an action and waits until it is over."""
        proposal = {
            "tool": tool,
            "arguments": list(arguments),
            "files": list(files),
            "outputs": list(outputs),
            "justification": why,
        }
        action = self.insist(f"{self.path}/actions", proposal)["id"]
        while True:
            seen = self.get(f"/api/v1/actions/{action}")
            if seen["status"] in FINAL:
                return seen["status"]
            time.sleep(0.05)

    def done(self, step, summary):
        self.insist(f"{self.path}/steps", {"step": step, "summary": summary})

    def catch_up(self, done):
        """Says of the steps that are done what was not said before it was ended."""
        for step in range(self.get(self.path)["steps_done"] + 1, done + 1):
            self.done(step, "done before it was started again")

    def finish(self, summary):
        self.insist(f"{self.path}/finish", {"summary": summary})


def remembered():
    try:
        with open("memory.json", encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"done": 0, "starts": 0}


def remember(memory):
    with open("memory.new", "w", encoding="utf-8") as file:
        json.dump(memory, file)
    os.replace("memory.new", "memory.json")
