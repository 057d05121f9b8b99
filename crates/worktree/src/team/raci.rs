//! Duties: for each operation who decides it, who works at it, who is asked and who is told, as the team wrote it. What the
//! duties mean is decided in [`placet_domain::worktree`].

use placet_domain::worktree::Duties;

use super::files::Root;
use super::problem::Problem;
use super::sheet::{Sheet, read};

pub(crate) const RACI: &str = "agents/raci.json";

/// Reads the duties; the usual ones, if there is no file. Nothing, if they are wrong.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> Option<Duties> {
    let before = problems.len();
    let Some(bytes) = read(root, RACI, problems) else {
        return (problems.len() == before).then(Duties::default);
    };
    let sheet = Sheet::check(RACI, &bytes, "raci.schema.json", problems)?;
    let duties: Duties = sheet.typed(problems)?;
    problems.extend(duties.check().err().map(|refusal| sheet.problem("", refusal.to_string())));
    Some(duties)
}
