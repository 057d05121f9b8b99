//! What a cage is given so that its programs find the way out, without a change to any of them: variables that libraries
//! look for, and files that some of these variables name.
//!
//! Nothing in it is a secret: addresses of the door, placeholders, and public certificates.

use std::io;
use std::path::Path;

use super::Egress;

/// Where the files are shown in the cage, read-only.
pub const FOLDER: &str = "/opt/placet-egress";

/// Both spellings: some programs look for one, some for the other. The same for every protocol: whatever is asked for
/// there is judged in the same way.
const PROXIES: [&str; 6] = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

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

    /// Writes the files into a directory of the host, which is then shown as [`FOLDER`].
    pub fn write_to(&self, directory: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|(name, content)| std::fs::write(directory.join(name), content))
    }
}

impl Egress {
    /// What the programs of a cage need whose door to this way out is at the port.
    pub fn outfit(&self, port: u16) -> Outfit {
        let proxy = |name: &str| (name.to_owned(), format!("http://127.0.0.1:{port}"));
        let variables = PROXIES.map(proxy).into_iter().chain(self.credentials().variables());
        Outfit { variables: variables.collect(), files: Vec::new() }
    }
}
