//! What a rollback would change, in the words of the API. As much is listed as a person reads; everything is counted.

use placet_wire::api::{DriftLine, PreviewLine, PreviewPart, RollbackPreview};
use placet_workspace::space;
use serde::Serialize;

/// What the control plane takes in one report is not much more, and a hostile name can be long.
const LISTED_BYTES: usize = 150 << 10;

/// Room for lines, as they are sent.
struct Room {
    left_bytes: usize,
}

impl Room {
    /// As many from the beginning as there is room for, and how many are left off.
    fn take<T: Serialize>(&mut self, lines: impl ExactSizeIterator<Item = T>) -> (Vec<T>, u64) {
        let count = lines.len();
        let fitting: Vec<T> = lines.take_while(|line| self.fits(line)).collect();
        let left_off = count.saturating_sub(fitting.len());
        (fitting, u64::try_from(left_off).unwrap_or(u64::MAX))
    }

    fn fits(&mut self, line: &impl Serialize) -> bool {
        let bytes = serde_json::to_vec(line).map_or(usize::MAX, |text| text.len().saturating_add(1));
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.unwrap_or(0);
        left.is_some()
    }
}

pub(super) fn in_words(preview: &space::RollbackPreview) -> RollbackPreview {
    let mut room = Room { left_bytes: LISTED_BYTES };
    let (workspace, memory) = (part(&preview.workspace, &mut room), part(&preview.memory, &mut room));
    let drift = preview.drift.iter();
    let drift = drift.map(|(path, conflict)| DriftLine { path: path.to_string(), what: conflict.to_string() });
    let (drift, left_off) = room.take(drift);
    RollbackPreview { workspace, memory, drift, drift_left_off: preview.drift_left_off.saturating_add(left_off) }
}

fn part(part: &space::PartPreview, room: &mut Room) -> PreviewPart {
    let (lines, left_off) = room.take(part.listed.iter().map(line));
    PreviewPart {
        created: part.created,
        changed: part.changed,
        removed: part.removed,
        mode_changed: part.mode_changed,
        beyond_limits: part.beyond_limits,
        lines,
        left_off: part.left_off.saturating_add(left_off),
    }
}

fn line(line: &space::PreviewLine) -> PreviewLine {
    let effect = match line.effect {
        space::Effect::Created => "created",
        space::Effect::Changed => "changed",
        space::Effect::Removed => "removed",
        space::Effect::ModeChanged => "mode_changed",
    };
    let bytes = |seen: &Option<space::Seen>| {
        seen.as_ref().filter(|seen| seen.what == space::What::File).map(|seen| seen.size_bytes)
    };
    PreviewLine {
        path: line.path.to_string(),
        effect: effect.to_owned(),
        bytes_before: bytes(&line.before),
        bytes_after: bytes(&line.after),
    }
}

#[cfg(test)]
mod tests {
    use placet_workspace::TreePath;

    use super::*;

    fn of(names: impl Iterator<Item = String>) -> space::RollbackPreview {
        let line = |name: String| space::PreviewLine {
            path: TreePath::new(name).unwrap(),
            effect: space::Effect::Removed,
            before: None,
            after: None,
        };
        let listed: Vec<_> = names.map(line).collect();
        let removed = u64::try_from(listed.len()).unwrap();
        let workspace = space::PartPreview { listed, removed, left_off: 5, ..space::PartPreview::default() };
        space::RollbackPreview { workspace, ..space::RollbackPreview::default() }
    }

    #[test]
    fn c11_whatever_names_a_run_chose_a_report_can_be_sent_and_counts_everything() {
        let hostile = of((0..2_000).map(|number| format!("{}{number}", "\u{1}".repeat(200))));
        let report = in_words(&hostile);
        assert!(serde_json::to_vec(&report).unwrap().len() < 200 << 10);
        let listed = u64::try_from(report.workspace.lines.len()).unwrap();
        assert!(listed > 50);
        assert_eq!((report.workspace.removed, listed + report.workspace.left_off), (2_000, 2_005));
    }

    #[test]
    fn what_fits_is_listed_whole() {
        let report = in_words(&of(["a".to_owned(), "b/c".to_owned()].into_iter()));
        let paths: Vec<&str> = report.workspace.lines.iter().map(|line| line.path.as_str()).collect();
        assert_eq!((paths, report.workspace.left_off), (vec!["a", "b/c"], 5));
    }
}
