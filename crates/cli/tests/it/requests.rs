//! Requests of a command in a cage, with credentials that it never sees: real curl, git and Python against a real server
//! with TLS, whose certificate the programs take for its own.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use placet_egress::Rule;
use placet_egress::rules::Speaks;
use placet_egress::tls::Issuer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support::{Said, placet, placet_in};

pub(crate) const CANARY: &str = "s3cr3t-of-the-team";

/// A host with TLS on this machine. It says back what it hears, and has a repository for those who show the credential.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) issuer: Issuer,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// Files below `root` are served at `/repo.git`.
    pub(crate) fn start(root: PathBuf) -> Self {
        let issuer =
            Issuer::make(vec![Rule::new("127.0.0.1".parse().unwrap(), Speaks::Https)], SystemTime::now()).unwrap();
        let config = issuer.answering(&"127.0.0.1".parse().unwrap(), SystemTime::now()).unwrap();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, keeping) = (listener.local_addr().unwrap(), Arc::clone(&heard));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let (listener, acceptor) = (TcpListener::from_std(listener).unwrap(), TlsAcceptor::from(config));
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(answer(acceptor.clone(), stream, root.clone(), Arc::clone(&keeping)));
                }
            });
        });
        Self { address, issuer, heard }
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

async fn answer(acceptor: TlsAcceptor, stream: TcpStream, root: PathBuf, heard: Arc<Mutex<Vec<String>>>) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        bytes.push(byte);
    }
    let head = String::from_utf8(bytes).unwrap();
    let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
    let (status, body) = match path.strip_prefix("/repo.git/") {
        Some(file) if head.contains("Authorization: Basic ") => match fs::read(root.join(file)) {
            Ok(content) => ("200 OK", content),
            Err(_) => ("404 Not Found", Vec::new()),
        },
        Some(_) => ("401 Unauthorized", Vec::new()),
        None => ("200 OK", head.clone().into_bytes()),
    };
    heard.lock().unwrap().push(head);
    let start = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nSet-Cookie: session=1\r\n\r\n", body.len());
    let _ = stream.write_all(&[start.into_bytes(), body].concat()).await;
    let _ = stream.shutdown().await;
}

/// A repository with one commit, for clients that know files alone.
pub(crate) fn repository(dir: &Path) -> PathBuf {
    let run = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let done = git.args(["-c", "user.name=a", "-c", "user.email=a@b.test"]).args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run(&["init", "-q", "-b", "main", "source"]);
    fs::write(dir.join("source/hello"), "from the repository\n").unwrap();
    run(&["-C", "source", "add", "hello"]);
    run(&["-C", "source", "commit", "-q", "-m", "first"]);
    run(&["clone", "-q", "--bare", "source", "repo.git"]);
    run(&["-C", "repo.git", "update-server-info"]);
    dir.join("repo.git")
}

/// A directory with the host's certificate, the key of the team, and rules for the host.
fn set_up() -> (tempfile::TempDir, Host) {
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(repository(dir.path()));
    let (port, at) = (host.address.port(), dir.path().display());
    fs::write(dir.path().join("host.pem"), host.issuer.pem()).unwrap();
    fs::write(dir.path().join("key"), CANARY).unwrap();
    fs::set_permissions(dir.path().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    let rules = format!(
        r#"
        tls = {{ roots = ["{at}/host.pem"] }}

        [[credential]]
        name = "api"
        key = {{ file = "{at}/key" }}
        variables = ["API_TOKEN"]

        [[credential]]
        name = "git"
        key = {{ file = "{at}/key" }}
        put = {{ basic = "x-access-token" }}

        [[allow]]
        host = "127.0.0.1"
        speaks = "https"
        ports = [{port}]
        methods = ["GET"]
        paths = ["/api"]
        credential = {{ inject = "api" }}

        [[allow]]
        host = "127.0.0.1"
        speaks = "https"
        ports = [{port}]
        paths = ["/repo.git"]
        credential = {{ inject = "git" }}
        "#
    );
    fs::write(dir.path().join("requests.toml"), rules).unwrap();
    (dir, host)
}

fn caged(dir: &Path, script: &str) -> Said {
    placet_in(dir, &["sandbox", "run", "--requests", "requests.toml", "--", "sh", "-c", script])
}

#[test]
fn r24_curl_git_and_python_use_a_credential_that_is_nowhere_in_the_cage() {
    let (dir, host) = set_up();
    let url = format!("https://{}", host.address);
    let script = format!(
        "set -e\n\
         curl -sS {url}/api/curl\n\
         curl -sS -H \"Authorization: Bearer $API_TOKEN\" {url}/api/token\n\
         python3 -c 'import urllib.request as u; print(u.urlopen(\"{url}/api/python\").read().decode())'\n\
         git clone -q {url}/repo.git /tmp/plain && cat /tmp/plain/hello\n\
         git clone -q https://x:$API_TOKEN@{} /tmp/token && cat /tmp/token/hello\n\
         env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ls -la /opt/placet-egress; cat /opt/placet-egress/egress.pem\n\
         grep -rs 's3cr3[t]-of' /opt /tmp /home /work /run /var /mnt /srv /etc && echo FO''UND || true\n",
        url.trim_start_matches("https://").to_owned() + "/repo.git"
    );
    let said = caged(dir.path(), &script).ok();
    let text = format!("{}{}", said.out(), said.stderr);
    assert_eq!(said.out().matches("from the repository").count(), 2, "{text}");
    for path in ["/api/curl", "/api/token", "/api/python"] {
        assert!(said.out().contains(&format!("GET {path} HTTP/1.1")), "{path}: {text}");
        let sent = format!("Authorization: Bearer {CANARY}\r\n");
        assert!(
            host.heard().iter().any(|head| head.starts_with(&format!("GET {path} ")) && head.contains(&sent)),
            "{path}"
        );
    }
    assert_eq!(said.out().matches("Authorization: Bearer ******************").count(), 3, "{text}");
    assert!(said.out().contains("API_TOKEN=placet-run-") && said.out().contains("BEGIN CERTIFICATE"), "{text}");
    assert!(!text.contains(CANARY) && !text.contains("FOUND") && !text.contains("PRIVATE"), "{text}");
    assert!(!host.heard().iter().any(|head| head.contains("placet-run-")), "the placeholder does not leave");
}

#[test]
fn r25_what_a_rule_does_not_allow_inside_of_tls_is_refused_and_told() {
    let (dir, host) = set_up();
    let url = format!("https://{}", host.address);
    let script = format!(
        "curl -sS -X DELETE {url}/api/x; curl -sS {url}/admin; curl -sS -H 'Authorization: Bearer attacker' {url}/api/x; \
         curl -sS -H 'Host: evil.test' {url}/api/x; curl -sS -b a=b {url}/api/x; \
         curl -sS --cacert /etc/ssl/certs/ca-certificates.crt {url}/api/x; true"
    );
    let said = caged(dir.path(), &script).ok();
    for (number, times) in [("(E14)", 2), ("(E15)", 2), ("(E2)", 1)] {
        assert_eq!(said.out().matches(number).count(), times, "{number}: {}", said.out());
    }
    assert!(said.stderr.contains("does not trust the certificate of this cage (E35)"), "{}", said.stderr);
    assert!(said.stderr.contains("`Authorization` carries a credential"), "{}", said.stderr);
    assert!(!format!("{}{}", said.out(), said.stderr).contains("attacker"), "{}", said.out());
    assert!(host.heard().is_empty(), "{:?}", host.heard());
}

#[test]
fn r24_a_host_with_a_certificate_that_nobody_vouches_for_gets_no_credential() {
    let (dir, host) = set_up();
    let option = format!("{}=env:API_TOKEN", host.address);
    let script = format!("echo $API_TOKEN; curl -sS https://{}/api/x", host.address);
    let said = Said::by(placet().current_dir(dir.path()).env("API_TOKEN", CANARY).args([
        "sandbox",
        "run",
        "--credential",
        &option,
        "--",
        "sh",
        "-c",
        &script,
    ]))
    .ok();
    assert!(said.out().starts_with("placet-run-") && said.out().contains("(E55)"), "{}", said.out());
    assert!(said.stderr.contains("its certificate is by nobody who is trusted"), "{}", said.stderr);
    assert!(host.heard().is_empty() && !said.out().contains(CANARY), "{:?}", host.heard());
}

#[test]
fn what_is_wrong_with_requests_is_told_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str], parts: &[&str]| {
        let said = placet_in(dir.path(), &[&["sandbox", "run"], arguments, &["--", "true"]].concat()).exits(2);
        assert!(parts.iter().all(|part| said.stderr.contains(part)), "{}", said.stderr);
    };
    told(&["--credential", "a.test=env:NO_SUCH_VARIABLE"], &["`a-test`", "NO_SUCH_VARIABLE", "is not set"]);
    told(&["--credential", "a.test=hunter2"], &["--credential `a.test=…`", "env: or file:"]);
    told(&["--requests", "absent.toml"], &["`absent.toml`"]);
    fs::write(dir.path().join("odd.toml"), "[[allow]]\nhost = \"a.test\"\nspeaks = \"https\"\nport = 443\n").unwrap();
    told(&["--requests", "odd.toml"], &["`odd.toml`", "line 4", "port"]);
    let text = "[[allow]]\nhost = \"a.test\"\nspeaks = \"https\"\ncredential = { inject = \"gone\" }\n";
    fs::write(dir.path().join("gone.toml"), text).unwrap();
    told(&["--requests", "gone.toml"], &["`gone`", "nobody defines"]);
    let shown =
        placet_in(dir.path(), &["--json", "sandbox", "explain", "--credential", "a.test=env:NO_SUCH_VARIABLE"]).ok();
    assert!(shown.out().contains("(a placeholder)") && shown.out().contains("SSL_CERT_FILE"), "{}", shown.out());
}
