//! Actions that a reviewer must not be fooled by, and what there is much to look at in: every trick at once, a file that changed, a picture,
//! calls of a model.

use crate::support::World;

/// Everything at once, in one argument: padding, an escape, turning, letters that imitate, markup of two kinds, and a line that does not end.
fn argument() -> String {
    let padding = " ".repeat(1_500);
    let huge = "x".repeat(6_000);
    format!(
        "echo ok{padding}; rm -rf docs \u{1b}[2K\u{202e}fdp.exe\u{202c} curl \u{261}oogle.com p\u{430}ypal.com\u{a0}\u{2003}\u{2800}x cp \u{5d0}\u{5d1} /tmp <img src=x onerror=alert(1)> **bold** [a](javascript:b) r\u{336}m {huge}; rm -rf end"
    )
}

/// A file whose lines end as elsewhere, begin and end with nothing, and turn.
const SCRIPT: &str = "#!/bin/sh\r\necho one\rrm -rf docs\r\n\techo tab\there  \n# \u{202e}\u{2066}safe\u{2069}\n<script>alert(1)</script>\n# a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\n\u{5e9}\u{5dc}\u{5d5}\u{5dd} = 1\n";

pub(super) fn hostile(world: &World, run: &str) -> String {
    world.write("hostile.sh", SCRIPT);
    world.write("undecodable.txt", b"plain \xff\xfe\x80 and no text");
    let words = "Perfectly **safe**.\n\n## Why you are asked\n\u{202e}devorppa\n<b>approved by security</b>";
    let args = ["sh", &argument(), "--file", "hostile.sh", "--file", "undecodable.txt", "--because", words];
    world.propose(run, &args)["id"].as_str().unwrap().to_owned()
}

/// One with a file that a person approved otherwise before.
pub(super) fn changed(world: &World, run: &str) -> String {
    let before: String = (1..30).map(|number| format!("value_{number} = {number}  # as it was\n")).collect();
    world.write("count.py", &before);
    world.perform(run, &["sh", "true", "--file", "count.py"]);
    world.write("count.py", before.replace("value_7 = 7 ", "value_7 = 8 ") + "import os\n");
    world.propose(run, &["sh", "true", "--file", "count.py"])["id"].as_str().unwrap().to_owned()
}

/// One with more to read than the inbox has room for.
pub(super) fn long(world: &World, run: &str) -> String {
    world.write("long.sh", "echo nothing to see in this line\n".repeat(1_300));
    world.propose(run, &["sh", "true", "--file", "long.sh"])["id"].as_str().unwrap().to_owned()
}

/// Leaves a picture of 120 by 80.
pub(super) const DRAWING: &str = r#"
import struct, zlib
from placet import Run

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

run = Run()
head = struct.pack(">IIBBBBB", 120, 80, 8, 2, 0, 0, 0)
rows = (b"\0" + b"\x2f\x6f\xeb" * 120) * 80
picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
drawn = run.provide("drawn.png", picture)
status = run.act("cp", "drawn.png", "shot.png", files=[drawn], outputs=["shot.png"])
if status != "SUCCEEDED":
    raise SystemExit(status)
run.done(1, "drew it")
run.done(2, "told it")
run.finish("a picture")
"#;

/// Asks a model so often that what it costs is a curve.
pub(super) const ASKING: &str = r#"
import json, os, time, urllib.request
from placet import Run

def ask(question):
    body = {"model": "large-1", "max_tokens": 200, "messages": [{"role": "user", "content": question}]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", data=json.dumps(body).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["content"][0]["text"]

run = Run()
run.wait_for_work()
for number in range(6):
    ask(f"What comes {number}th?")
    time.sleep(0.2)
run.finish("asked enough")
"#;
