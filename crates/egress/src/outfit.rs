//! What a cage is given so that its programs find the way out, without a change to any of them: variables that libraries
//! look for, and files that some of these variables name.
//!
//! Nothing in it is a secret: addresses of the door, placeholders, and public certificates.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Egress;

/// Where the files are shown in the cage, read-only.
pub const FOLDER: &str = "/opt/placet-egress";

/// Both spellings: some programs look for one, some for the other. The same for every protocol: whatever is asked for
/// there is judged in the same way.
const PROXIES: [&str; 6] = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// The certificate of the way out alone, for variables that add to what a program trusts.
const ADDED: (&str, &[&str]) = ("egress.pem", &["NODE_EXTRA_CA_CERTS", "DENO_CERT"]);

/// The same with everything that the host's system trusts, for variables that replace it: OpenSSL (and with it Python, Ruby, Go),
/// curl, Python's requests, git, cargo, pip, and the tools of AWS.
const REPLACED: (&str, &[&str]) = (
    "roots.pem",
    &[
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "CARGO_HTTP_CAINFO",
        "PIP_CERT",
        "AWS_CA_BUNDLE",
    ],
);

/// Files in which systems keep the public root certificates.
const SYSTEM_BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Reads the root certificates of the system; empty if there are none.
fn read_system_bundle() -> Vec<u8> {
    SYSTEM_BUNDLES.iter().find_map(|path| fs::read(path).ok()).unwrap_or_default()
}

/// Variables, and the files of [`FOLDER`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outfit {
    variables: Vec<(String, String)>,
    files: Vec<(String, Vec<u8>)>,
}

impl Outfit {
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Names and contents. Where there are none, nothing has to be shown.
    pub fn files(&self) -> &[(String, Vec<u8>)] {
        &self.files
    }

    fn trust(&mut self, (file, variables): (&str, &[&str]), certificates: Vec<u8>) {
        let path = format!("{FOLDER}/{file}");
        self.variables.extend(variables.iter().map(|name| ((*name).to_owned(), path.clone())));
        self.files.push((file.to_owned(), certificates));
    }

    /// Writes the files into a directory of the host, which is then shown as [`FOLDER`]. A cage is another user: everybody may
    /// read them, whatever the umask.
    pub fn write_to(&self, directory: &Path) -> io::Result<()> {
        fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        for (name, content) in &self.files {
            fs::write(directory.join(name), content)?;
            fs::set_permissions(directory.join(name), Permissions::from_mode(0o644))?;
        }
        Ok(())
    }
}

impl Egress {
    /// What the programs of a cage need whose door to this way out is at the port.
    pub fn outfit(&self, port: u16) -> Outfit {
        let proxy = |name: &str| (name.to_owned(), format!("http://127.0.0.1:{port}"));
        let variables = PROXIES.map(proxy).into_iter().chain(self.credentials().variables());
        let mut outfit = Outfit { variables: variables.collect(), files: Vec::new() };
        if let Some(opening) = &self.opening {
            let own = opening.certificate_pem().into_bytes();
            let bundle = [read_system_bundle(), b"\n".to_vec(), own.clone()].concat();
            outfit.trust(ADDED, own);
            outfit.trust(REPLACED, bundle);
        }
        outfit
    }
}
