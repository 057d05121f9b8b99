//! A real browser in the profile that is meant for one: pages are loaded, run and drawn, and the walls stand all the same.
//!
//! Debian's `chromium` is a script that reads settings of the host, which are not there; what it starts is started here.
//! The browser's own sandbox stays off: it needs namespaces of its own, which a cage refuses. The cage is the sandbox.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use placet_sandbox::{Exit, LimitKind, Limits, Profile, Request, launch};

use crate::harness::tests;
use crate::world::{Ran, Workspace, alive, eventually, marker, run_in};

tests![
    c18_a_page_is_loaded_and_its_script_runs,
    c18_a_picture_of_a_page_is_drawn,
    c18_a_page_behind_a_door_is_loaded_and_nothing_else_is_reached,
    c18_a_page_reads_nothing_of_the_host,
    c18_the_browsers_own_sandbox_has_no_place_in_a_cage,
    c18_limits_end_a_browser_with_everything_it_started,
];

const PAGE: &str = "<!doctype html><title>page</title><p id=p>as written</p>\
                    <script>document.getElementById('p').textContent = 'drawn ' + 6 * 7;</script>";

/// The browser itself, where distributions put it.
const PLACES: [&str; 3] =
    ["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser", "/usr/bin/chrome"];

fn browser() -> &'static str {
    let found = PLACES.into_iter().find(|place| Path::new(place).is_file());
    found
        .expect("install `chromium` on this host (Debian: apt-get install chromium); the cage shows what is below /usr")
}

fn profile() -> Profile {
    Profile::builtin("browser_automation").expect("a profile")
}

fn request(workspace: &Workspace, more: &[&str]) -> Request {
    std::fs::write(workspace.file("page.html"), PAGE).expect("a page");
    let fixed = [browser(), "--headless", "--disable-gpu", "--no-sandbox"];
    let words = fixed.into_iter().chain(more.iter().copied());
    Request::new(words).workspace(workspace.path()).limits(Limits { wall_ms: 240_000, ..profile().limits() })
}

fn browse(workspace: &Workspace, more: &[&str]) -> Ran {
    run_in(&profile(), request(workspace, more))
}

fn c18_a_page_is_loaded_and_its_script_runs() {
    let ran = browse(&Workspace::new(), &["--dump-dom", "file:///work/page.html"]);
    assert!(ran.usage.max_processes.is_none_or(|most| most <= profile().limits().pids), "{:?}", ran.usage);
    assert!(ran.usage.peak_memory_bytes <= profile().limits().memory_bytes, "{:?}", ran.usage);
    let dom = ran.succeeded();
    assert!(dom.contains("<p id=\"p\">drawn 42</p>"), "{dom}");
    let data = browse(&Workspace::new(), &["--dump-dom", "data:text/html,<script>document.title=6*7</script>"]);
    assert!(data.stdout.contains("<title>42</title>"), "{data:?}");
}

/// Width and height of a PNG, by its header.
fn size_of(png: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    png.starts_with(b"\x89PNG\r\n\x1a\n").then_some((number(16)?, number(20)?))
}

fn c18_a_picture_of_a_page_is_drawn() {
    let workspace = Workspace::new();
    browse(&workspace, &["--screenshot=/work/page.png", "--window-size=320,200", "file:///work/page.html"]).succeeded();
    let with_text = std::fs::read(workspace.file("page.png")).expect("a picture");
    assert_eq!(size_of(&with_text), Some((320, 200)));
    browse(&workspace, &["--screenshot=/work/blank.png", "--window-size=320,200", "data:text/html,"]).succeeded();
    let blank = std::fs::read(workspace.file("blank.png")).expect("a picture");
    assert!(with_text.len() > blank.len(), "text was drawn: {} and {} bytes", with_text.len(), blank.len());
}

/// Answers one request with a page, and says what was asked for.
fn serve_once(door: &TcpListener) -> String {
    let (stream, _) = door.accept().expect("a connection");
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
    let asked = lines.next().unwrap_or_default();
    let _ = lines.take_while(|line| !line.is_empty()).count();
    let body = "<p>from outside</p>";
    write!(
        &stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("an answer");
    asked
}

fn c18_a_page_behind_a_door_is_loaded_and_nothing_else_is_reached() {
    let workspace = Workspace::new();
    let on_the_host = TcpListener::bind("127.0.0.1:0").expect("a port");
    on_the_host.set_nonblocking(true).expect("a socket");
    let elsewhere = format!("http://127.0.0.1:{}/", on_the_host.local_addr().expect("an address").port());
    let asked = request(&workspace, &["--dump-dom", "http://127.0.0.1:8080/a"]).door(8_080);
    let mut running = launch(&profile(), asked).expect("a cage");
    let door = running.take_door(8_080).expect("the door");
    let server = std::thread::spawn(move || serve_once(&door));
    let (outcome, output) = running.collect().expect("an outcome");
    assert_eq!(server.join().expect("a request"), "GET /a HTTP/1.1");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(outcome.exit == Exit::Code(0) && dom.contains("<p>from outside</p>"), "{dom}");

    let refused = browse(&workspace, &["--dump-dom", &elsewhere]);
    assert!(!refused.stdout.contains("from outside"), "{refused:?}");
    assert!(on_the_host.accept().is_err(), "nobody came to the host's own port");
}

fn c18_a_page_reads_nothing_of_the_host() {
    let workspace = Workspace::new();
    let canary = Workspace::new();
    std::fs::write(canary.file("canary.txt"), "canary of the host").expect("a canary");
    let path = canary.file("canary.txt");
    let refused = browse(&workspace, &["--dump-dom", &format!("file://{}", path.display())]);
    assert!(!refused.stdout.contains("canary of the host"), "{refused:?}");
    std::fs::write(workspace.file("given.txt"), "given to the cage").expect("a file");
    let given = browse(&workspace, &["--dump-dom", "file:///work/given.txt"]).succeeded();
    assert!(given.contains("given to the cage"), "{given}");
}

fn c18_the_browsers_own_sandbox_has_no_place_in_a_cage() {
    let workspace = Workspace::new();
    std::fs::write(workspace.file("page.html"), PAGE).expect("a page");
    let words = [browser(), "--headless", "--disable-gpu", "--dump-dom", "file:///work/page.html"];
    let limits = Limits { wall_ms: 240_000, ..profile().limits() };
    let ran = run_in(&profile(), Request::new(words).workspace(workspace.path()).limits(limits));
    assert_ne!(ran.exit, Exit::Code(0));
    assert!(ran.stderr.contains("No usable sandbox"), "it says what is missing: {}", ran.stderr);
}

fn c18_limits_end_a_browser_with_everything_it_started() {
    let (workspace, word) = (Workspace::new(), format!("--user-data-dir=/tmp/{}", marker()));
    let endless = "data:text/html,<script>while (true) {}</script>";
    let short = Limits { wall_ms: 6_000, ..profile().limits() };
    let running =
        launch(&profile(), request(&workspace, &["--dump-dom", &word, endless]).limits(short)).expect("a cage");
    eventually("the browser runs", || alive(&word));
    let (outcome, _) = running.collect().expect("an outcome");
    assert!(matches!(outcome.exit, Exit::Limit { which: LimitKind::WallClock, .. }), "{outcome:?}");
    assert!(!alive(&word), "nothing of it runs on");
    let small = Limits { memory_bytes: 48 << 20, wall_ms: 240_000, ..profile().limits() };
    let ran = run_in(&profile(), request(&workspace, &["--dump-dom", "file:///work/page.html"]).limits(small));
    assert_ne!(ran.exit, Exit::Code(0), "{ran:?}");
    assert!(!ran.stdout.contains("drawn 42"), "{ran:?}");
}
