"""Collects prices from fifty pages of a shop, ten pages a step, and makes a spreadsheet of them."""

from placet import Run, remember, remembered

PAGES_PER_STEP = 10

run = Run()
memory = remembered()
run.catch_up(memory["done"])
steps = len(run.env["plan"])
for step in range(memory["done"] + 1, steps + 1):
    if step < steps:
        first, last = (step - 1) * PAGES_PER_STEP + 1, step * PAGES_PER_STEP
        table = f"prices/{step:02}.csv"
        status = run.act("scrape", str(first), str(last), table, outputs=[table])
    else:
        status = run.act("spreadsheet", "prices", "prices.xlsx", outputs=["prices.xlsx"])
    if status != "SUCCEEDED":
        raise SystemExit(f"step {step}: {status}")
    memory["done"] = step
    remember(memory)
    run.done(step, f"{step * PAGES_PER_STEP} pages" if step < steps else "the spreadsheet")
run.finish("prices of fifty pages")
