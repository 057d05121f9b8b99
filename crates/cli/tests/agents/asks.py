"""An agent that asks a language model what to write, and writes that. It knows nothing of where the model is or who pays."""

import json
import os
import urllib.error
import urllib.request

from placet import Run


def ask(question):
    body = {"model": "large-1", "max_tokens": 200, "messages": [{"role": "user", "content": question}]}
    headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": os.environ["ANTHROPIC_API_KEY"],
    }
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["content"][0]["text"]


run = Run()
run.wait_for_work()
text = ask("What shall I write?")
draft = run.provide("draft.txt", text.encode())
run.act("cp", "draft.txt", "letter.txt", files=[draft], outputs=["letter.txt"])
said = [text]
for place in (os.environ, {"env.json": open("env.json", encoding="utf-8").read()}):
    for name, value in place.items():
        if "canary-of-the-lab" in value:
            said.append(f"{name} has a key in it")
run.finish("\n".join(said))
