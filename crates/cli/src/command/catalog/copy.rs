//! `placet catalog copy`: creates an agent from an existing one. Keeps the text, comments included, and changes only the id and the
//! program; the owner edits the rest.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use placet_domain::catalogue::{Catalogue, EntryId, ProgramPath, Speaks};
use serde::Serialize;

use super::listing;
use super::show::{known, text_of, unknown};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent to copy, as `placet catalog list` names it
    from: String,
    /// The id of the new agent: a lowercase letter, then letters, digits, `-`, `_`
    id: String,
    /// The program that a worker starts as this agent: an absolute path
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
}

#[derive(Debug, Serialize)]
struct Copied {
    id: EntryId,
    file: PathBuf,
}

pub(super) fn run(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let (home, agents) = (who.home()?, listing(who)?.agents);
    let (from, id): (EntryId, EntryId) = (known(&args.from)?, known(&args.id)?);
    let entry = agents.get(&from).ok_or_else(|| unknown("agent", &args.from))?;
    if agents.get(&id).is_some() {
        return Err(CliError::new(Code::Conflict, format!("there is an agent `{id}` already; choose another id")));
    }
    let program = args.program.as_deref().map(str::parse::<ProgramPath>).transpose();
    let program = program.map_err(|error| CliError::usage(error.to_string()))?;
    if let (Some(_), Speaks::External) = (&program, entry.launch.speaks) {
        let why = format!("`{from}` is external: a person starts it, and an entry of it names no program");
        return Err(CliError::usage(why).hint("copy `code_agent` or `developer_agent`"));
    }
    let text = changed(&text_of(&from, agents.file_of(&from))?, &id, program.as_ref());
    let file = home.catalogue_dir().join(format!("{id}.toml"));
    let name = file.display().to_string();
    // Validates the result before it is written, so that an invalid agent never reaches the disk.
    Catalogue::with([(name.as_str(), text.as_str())]).map_err(|problems| CliError::failed(problems.to_string()))?;
    write_new(&file, &text)?;
    let copied = Copied { id, file };
    out.answer(&copied, |copied| format!("{} {} in {}", styled(BOLD, "made"), copied.id, copied.file.display()));
    out.next(match (entry.launch.speaks, &program) {
        (Speaks::PlacetApi, None) => "name its `program` under [launch], then `placet catalog check`",
        (Speaks::PlacetApi, Some(_)) | (Speaks::External, _) => {
            "`placet catalog check`; the control plane reads it when it is started again"
        }
    });
    Ok(())
}

/// Copies the text with another id, and with `program` if one is named. In every readable entry without a table for them, both keys are at
/// the beginning of a line; the caller parses the result before it is written.
fn changed(text: &str, id: &EntryId, program: Option<&ProgramPath>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut has_id = false;
    for line in text.lines() {
        let is = |key: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        if is("id") && !has_id {
            has_id = true;
            lines.push(format!("id = \"{id}\""));
        } else if is("program") && program.is_some() {
            // Dropped: the new program is written after `speaks`.
        } else if let (true, Some(program)) = (is("speaks"), program) {
            lines.push(line.to_owned());
            // A JSON string is also a valid TOML string.
            lines.push(format!("program = {}", serde_json::json!(program.as_str())));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// Refuses to replace an existing file unless it is empty: it may hold a person's work.
fn write_new(file: &Path, text: &str) -> Result<(), CliError> {
    let is_empty = std::fs::metadata(file).is_ok_and(|found| found.len() == 0);
    let opened = OpenOptions::new().write(true).create(is_empty).create_new(!is_empty).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return CliError::new(Code::Conflict, format!("`{}` exists already; choose another id", file.display()));
        }
        CliError::failed(format!("`{}`: {error}", file.display()))
    })
}
