//! Everything of a rollback that can be done before anything live is touched: what has to change is found, made beside
//! the live trees, and written down.

use super::super::Space;
use super::super::error::SpaceError;
use super::super::index::boot;
use super::super::make::Maker;
use super::super::scan::Scan;
use super::super::snapshot::Saved;
use super::journal::{Journal, Part, Touched};
use super::plan::Plan;
use super::stage::Stage;
use super::trees::{Live, Trees};
use super::{HELD, RESTORE};
use crate::error::Doing;

pub(super) fn prepare(space: &Space, saved: &Saved, live: &Live<Option<Scan>>) -> Result<Journal, SpaceError> {
    let restoring = space.dir.make(RESTORE).doing("make room for", "the rollback")?;
    let held = restoring.make(HELD).doing("make room for", "the rollback")?;
    let (trees, objects, mut next) = (Trees::open(space)?, space.objects()?, 0);
    let (mut steps, mut all_touched) = (Vec::new(), Vec::new());
    let parts = [(Part::Workspace, &live.workspace, &saved.workspace), (Part::Memory, &live.memory, &saved.memory)];
    for (part, live, wanted) in parts {
        let root = trees.root(part);
        let maker = Maker { objects: &objects, owner: root.owner()?, number: saved.number };
        let plan = live.as_ref().map_or_else(|| Plan::of_everything(wanted), |live| Plan::new(live, wanted));
        steps.extend(Stage::new(part, maker, root, wanted, &held).steps(&plan, &mut next)?);
        let touched = plan.touched.into_iter();
        all_touched.extend(touched.map(|(path, meta)| Touched { part, path, meta: meta.clone() }));
    }
    let (number, state) = (saved.number, saved.record.state());
    Ok(Journal { boot: boot(), number, state, steps, touched: all_touched })
}
