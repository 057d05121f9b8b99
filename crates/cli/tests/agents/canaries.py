"""An agent that looks for secrets in its cage, in that of an action, and in every answer that it can get. Tells what it found."""

import hashlib
import json
import os
import urllib.error
import urllib.request

from placet import Run
from search import everywhere, found_in

run = Run()
run.wait_for_work()
own = hashlib.sha256(run.token.encode()).hexdigest()
answers = []


def ask(method, path, body=None, key=run.token):
    """Whatever comes back, with its head."""
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "authorization": f"Bearer {key}"}
    request = urllib.request.Request(run.url + path, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answers.append((answer.status, str(answer.headers).encode() + answer.read()))
    except urllib.error.HTTPError as error:
        answers.append((error.code, str(error.headers).encode() + error.read()))


def call(model, stream=False, **more):
    question = {"model": model, "max_tokens": 300, "stream": stream, "messages": [{"role": "user", "content": "hello"}]}
    ask("POST", "/v1/messages", json.dumps(question | more).encode())


found, looked = everywhere()
for model in ("talkative", "angry", "forbidding", "away", "unwell", "nobody-serves-it"):
    call(model)
    call(model, stream=True)
call("talkative", service_tier="priority")
ask("POST", "/v1/messages", b"{")
ask("POST", "/v1/messages", b"{}", key="plc" + "_of_nobody")
for path in ("/v1/models", "/v1beta/models", "/v1/files", "/metrics", "/api/v1/openapi.json", "/api/v1/identities", run.path,
             f"{run.path}/audit", f"{run.path}/actions", "/api/v1/ledger/entries", "/api/v1/organisation", "/health", "/ready"):
    ask("GET", path)
for number, (status, answer) in enumerate(answers):
    found |= found_in(f"answer {number} ({status})", answer)

search = run.provide("search.py", open("search.py", "rb").read())
acted = run.act("sh", "/usr/bin/python3 -I search.py; env; cat env.json .placet/token 2>/dev/null; true", files=[search])
said = sorted(line for line in found if not line.startswith(own))
statuses = sorted({status for status, _ in answers})
run.finish("\n".join([looked, f"{len(answers)} answers {statuses}", acted] + said[:20]))
