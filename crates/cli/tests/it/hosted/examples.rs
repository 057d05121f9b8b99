//! Two whole runs, from what somebody wants to approved results.

use std::fs;
use std::process::Command;

use super::{Scene, agents};

const SECTIONS: [&str; 7] =
    ["the question", "the sources", "the market", "the rivals", "the risks", "the advice", "put it together"];

#[test]
fn c7_a_research_report_in_six_checkpoints_is_written_approved_and_exported() {
    let mut scene = Scene::new();
    let run = scene.start("report.py", &SECTIONS, &["--every-steps", "1", "--budget-actions", "20"]);
    for number in 1..=6 {
        let seen = scene.stands_at(&run, number);
        assert_eq!(seen["steps_done"], number);
        let shown = scene.world.by("ada", &["run", "checkpoint", &run]).ok();
        for part in [format!("step {number} of 7"), format!("wrote {}", SECTIONS[number as usize - 1])] {
            assert!(shown.out().contains(&part), "{part}: {}", shown.out());
        }
        scene.world.by("ada", &["run", "approve", &run]).ok();
    }
    scene.approve_action(&run);
    let finished = scene.reaches(&run, "PENDING_EXPORT");
    assert_eq!(finished["said"], "a report of 6 sections");
    let to = scene.world.path("results");
    let whole = output_of(&scene, &run, "report.md");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap(), "--output", &whole]).ok();
    let report = fs::read_to_string(to.join("report.md")).unwrap();
    let expected: String = (1..=6).map(|n| format!("## {}\n\nSection {n}.\n", SECTIONS[n - 1])).collect();
    assert_eq!(report, expected);
    assert_eq!(crate::support::names_in(&to), ["SHA256SUMS", "report.md"], "only what was let out");
    let checked = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&to).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    packs_the_same(&scene, &run, &whole);
    scene.is_gone(&run);
    assert_eq!(scene.seen(&run)["status"], "COMPLETED");
    scene.world.stop_control();
    let exported = scene.world.json("admin", &["ledger", "export", "copy", "--offline"]);
    scene.world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap()]).ok();
}

/// What was let out can be had as an archive too, as often as one likes, and over nothing.
fn packs_the_same(scene: &Scene, run: &str, output: &str) {
    let pack = |name: &str| scene.world.by("ada", &["run", "export", run, "--archive", name, "--output", output]);
    for name in ["one.tar.gz", "two.tar.gz", "one.zip", "two.zip"] {
        pack(name).ok();
    }
    let bytes = |name: &str| fs::read(scene.world.path(name)).unwrap();
    assert_eq!((bytes("one.tar.gz"), bytes("one.zip")), (bytes("two.tar.gz"), bytes("two.zip")));
    let again = pack("one.zip").exits(2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    assert!(pack("one.rar").exits(2).stderr.contains(".tar.gz, .tgz or .zip"));
    let into = scene.world.path("unpacked");
    fs::create_dir(&into).unwrap();
    let unpacked = Command::new("tar").args(["-xzf", "../one.tar.gz"]).current_dir(&into).output().unwrap();
    assert!(unpacked.status.success(), "{unpacked:?}");
    assert_eq!(crate::support::names_in(&into), ["MANIFEST.json", "SHA256SUMS", "report.md"]);
    let checked = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&into).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

/// The number of an output, once it was collected.
pub(crate) fn output_of(scene: &Scene, run: &str, path: &str) -> String {
    let mut id = None;
    crate::support::eventually("the outputs were collected", super::PATIENCE, || {
        let seen = scene.seen(run);
        let outputs = seen["outputs"].as_array().cloned().unwrap_or_default();
        id = outputs.iter().find(|output| output["path"] == path).map(|output| output["id"].to_string());
        id.is_some()
    });
    id.unwrap()
}

const TOOLS: &str = r#"
[scrape]
program = "/usr/bin/python3"
kind = "create_file"
prefix = ["-I", "tools/scrape.py"]

[spreadsheet]
program = "/usr/bin/python3"
kind = "create_file"
prefix = ["-I", "tools/spreadsheet.py"]
"#;

/// A shop of fifty pages, and the tools to read it with.
fn shop(scene: &Scene) -> String {
    let root = scene.world.path("shop");
    fs::create_dir_all(root.join("site")).unwrap();
    fs::create_dir_all(root.join("tools")).unwrap();
    for page in 1..=50 {
        let html = format!(
            "<!doctype html><title>{page}</title><h1 class=\"name\">Lamp &amp; shade no. {page}</h1>\
             <p>now only <b class=\"price\">{page}.99</b></p>"
        );
        fs::write(root.join(format!("site/{page}.html")), html).unwrap();
    }
    for tool in ["scrape.py", "spreadsheet.py"] {
        fs::copy(agents(tool), root.join("tools").join(tool)).unwrap();
    }
    // The trailing dot names the folder's content without the folder.
    root.join(".").to_str().unwrap().to_owned()
}

#[test]
fn c7_c19_prices_of_fifty_pages_of_a_local_site_become_a_spreadsheet_with_checkpoints_on_the_way() {
    let scene = Scene::with_tools(TOOLS);
    let shop = shop(&scene);
    let steps = ["pages 1 to 10", "to 20", "to 30", "to 40", "to 50", "the spreadsheet"];
    let run = scene.start("prices.py", &steps, &["--every-steps", "1", "--input", &shop]);
    for number in 1..=5 {
        let seen = scene.stands_at(&run, number);
        assert!(seen["said"].as_str().unwrap().contains(&format!("{} pages", number * 10)), "{seen:#}");
        scene.world.by("ben", &["run", "approve", &run]).ok();
    }
    scene.reaches(&run, "PENDING_EXPORT");
    let sheet = output_of(&scene, &run, "prices.xlsx");
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap(), "--output", &sheet]).ok();
    let script = "import re,sys,zipfile\nt=zipfile.ZipFile(sys.argv[1]).read('xl/worksheets/sheet1.xml').decode()\n\
                  rows=re.findall('<row>(.*?)</row>',t)\nprint(len(rows), re.findall('<t>(.*?)</t>', rows[50]))";
    let read = Command::new("/usr/bin/python3").args(["-c", script]).arg(to.join("prices.xlsx")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "51 ['50', 'Lamp &amp; shade no. 50', '50.99']\n", "{read:?}");
    scene.is_gone(&run);
}
