"""Writes a report, one section a step, and puts it together at the end."""

from placet import Run, remember, remembered

run = Run()
memory = remembered()
memory["starts"] += 1
remember(memory)
run.catch_up(memory["done"])
plan = run.env["plan"]
for step in range(memory["done"] + 1, len(plan) + 1):
    if step < len(plan):
        draft = run.provide(f"draft/{step}.md", f"## {plan[step - 1]}\n\nSection {step}.\n".encode())
        status = run.act("cp", f"draft/{step}.md", f"section-{step}.md", files=[draft], outputs=[f"section-{step}.md"])
    else:
        status = run.act("sh", "cat section-*.md > report.md", outputs=["report.md"], why="put it together")
    if status != "SUCCEEDED":
        raise SystemExit(f"step {step}: {status}")
    # What is remembered comes first: at the checkpoint that follows, it is part of what is saved.
    memory["done"] = step
    remember(memory)
    run.done(step, f"wrote {plan[step - 1]}")
run.finish(f"a report of {len(plan) - 1} sections")
