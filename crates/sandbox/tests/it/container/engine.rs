//! An engine for the scenarios: one that runs already, or a Podman of their own with everything in one directory.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_sandbox::container::Engine;
use tempfile::TempDir;

use crate::world::{eventually, own_path};

pub(crate) const IMAGE: &str = "placet-test";

const VARIABLE: &str = "PLACET_TEST_ENGINE";

const BUSYBOX: &str = "/bin/busybox";

static STARTED: Mutex<Option<Own>> = Mutex::new(None);

pub(crate) fn is_named() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Where the engine listens; it has the image.
pub(crate) fn socket() -> PathBuf {
    let mut started = started();
    let own = started.get_or_insert_with(Own::start);
    own.socket.clone()
}

pub(crate) fn connect() -> Engine {
    Engine::connect(socket(), IMAGE).expect("the engine answers and has the image")
}

pub(crate) fn tear_down() {
    drop(started().take());
}

fn started() -> MutexGuard<'static, Option<Own>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Own {
    socket: PathBuf,
    service: Option<Child>,
    directory: TempDir,
}

impl Own {
    fn start() -> Self {
        let directory = TempDir::new_in("/var/tmp").expect("a temporary directory");
        let named = std::env::var(VARIABLE).expect("an engine");
        let (socket, service) = match named.as_str() {
            "podman" => podman(directory.path()),
            socket => (PathBuf::from(socket), None),
        };
        eventually("the engine listens", || UnixStream::connect(&socket).is_ok());
        import(&socket, &image(directory.path()));
        Self { socket, service, directory }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            let _ = service.kill();
            let _ = service.wait();
            // Podman keeps a mount over its own directory.
            let storage = self.directory.path().join("storage/overlay");
            let _ = Command::new("umount").arg(storage).stderr(Stdio::null()).status();
        }
    }
}

/// The settings that hosts with mixed control groups, or without the right to raise limits, need.
fn podman(directory: &Path) -> (PathBuf, Option<Child>) {
    let (engine, storage) = (directory.join("containers.conf"), directory.join("storage.conf"));
    let path = directory.display();
    let settings = "[containers]\ndefault_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n\
                    [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
    fs::write(&engine, settings).expect("settings");
    let places = format!("[storage]\ndriver = \"overlay\"\ngraphroot = \"{path}/storage\"\nrunroot = \"{path}/run\"\n");
    fs::write(&storage, places).expect("settings");
    let socket = directory.join("engine.sock");
    let service = Command::new("podman")
        .args(["system", "service", "--time=0"])
        .arg(format!("unix://{}", socket.display()))
        .env("CONTAINERS_CONF", engine)
        .env("CONTAINERS_STORAGE_CONF", storage)
        // It leaves the archives of imported images in the one, and what its monitor noticed in the other.
        .env("TMPDIR", directory)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("podman is installed");
    (socket, Some(service))
}

/// An archive with a shell and its tools, and with the libraries this binary needs to be run inside.
fn image(directory: &Path) -> PathBuf {
    let (root, archive) = (directory.join("root"), directory.join("image.tar"));
    fs::create_dir_all(root.join("bin")).expect("a directory");
    fs::copy(BUSYBOX, root.join("bin/busybox")).expect("a static busybox");
    for name in
        ["sh", "true", "sleep", "cat", "id", "ls", "dd", "touch", "env", "kill", "head", "grep", "setsid", "yes"]
    {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(name)).expect("a link");
    }
    for library in libraries() {
        let copy = root.join(library.strip_prefix("/").expect("an absolute path"));
        fs::create_dir_all(copy.parent().expect("a directory")).expect("a directory");
        fs::copy(&library, copy).expect("a library");
    }
    let packed = Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".").status();
    assert!(packed.expect("tar is installed").success());
    archive
}

fn libraries() -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(own_path()).output().expect("ldd is installed").stdout;
    let listed = String::from_utf8(listed).expect("text");
    listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

fn import(socket: &Path, archive: &Path) {
    let bytes = fs::read(archive).expect("the archive");
    let mut stream = UnixStream::connect(socket).expect("the engine");
    let target = format!("/images/create?fromSrc=-&repo={IMAGE}");
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-tar\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    stream.write_all(&bytes).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
