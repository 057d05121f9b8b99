//! A text in the user's editor: a private file in the temporary folder, which is removed unless somebody keeps it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::error::CliError;

/// A text that is being edited.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    kept: bool,
}

impl Draft {
    pub(super) fn of(text: &str) -> Result<Self, CliError> {
        let name = format!("placet-{}.json", uuid::Uuid::now_v7().simple());
        let path = std::env::temp_dir().join(name);
        // Arguments can be confidential: nobody else reads them, and no link that lies there is followed.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path, kept: false };
        writeln!(file, "{text}")?;
        Ok(draft)
    }

    /// Waits for the editor and gives what it left.
    pub(super) async fn edit(&self) -> Result<Vec<u8>, CliError> {
        let editor = chosen(|name| std::env::var(name).ok());
        // Through a shell, because people put options into the variable. The path is a parameter, never part of the text.
        let mut command = tokio::process::Command::new("sh");
        command.arg("-c").arg(format!("{editor} \"$1\"")).arg("placet").arg(&self.path);
        let status = command.status().await?;
        if !status.success() {
            return Err(CliError::failed(format!("the editor `{editor}` ended with {status}; nothing was decided")));
        }
        Ok(fs::read(&self.path)?)
    }

    /// Leaves the file where it is and says where that is.
    pub(super) fn keep(mut self) -> String {
        self.kept = true;
        self.path.display().to_string()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // A file that is gone already needs no removal.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// `VISUAL`, then `EDITOR`, then the one that is everywhere.
fn chosen(variable: impl Fn(&str) -> Option<String>) -> String {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(variable);
    named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_first_editor_that_is_named_is_taken() {
        let named = |wanted: &'static [(&str, &str)]| {
            move |name: &str| wanted.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(chosen(named(&[("VISUAL", "code -w"), ("EDITOR", "nano")])), "code -w");
        assert_eq!(chosen(named(&[("VISUAL", " "), ("EDITOR", "nano")])), "nano");
        assert_eq!(chosen(named(&[])), "vi");
    }

    #[test]
    fn a_draft_is_private_and_goes_away_unless_it_is_kept() {
        let draft = Draft::of("{}").unwrap();
        let path = draft.path.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(draft);
        assert!(!path.exists());
        let kept = Draft::of("{}").unwrap().keep();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "{}\n");
        fs::remove_file(kept).unwrap();
    }
}
