//! Being away: who is told instead, until when, and for whom somebody stands in. No right changes hands.

use placet_domain::command::Command;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, Away, AwayCommand, Identity, IdentityCommand};
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;
use placet_store::StoreError;

use super::{Caller, No};
use crate::absences::Absence;
use crate::app::App;

/// Names a stand-in for somebody: for oneself, or by an administrator.
pub async fn go_away(app: &App, caller: &Caller, id: IdentityId, to: &str, until: Timestamp) -> Result<Identity, No> {
    let to = Box::new(found(app, caller, to).await?);
    change(app, caller, id, AwayCommand::Leave { to, until }).await
}

pub async fn come_back(app: &App, caller: &Caller, id: IdentityId) -> Result<Identity, No> {
    change(app, caller, id, AwayCommand::Return).await
}

/// Records that a stand-in could not be told, so that whoever is away was told themselves: once for each time that they are away.
pub(crate) async fn note_unreached(app: &App, away: IdentityId, to: IdentityId) -> Result<(), No> {
    let now = app.store().now();
    let person = app.store().identity(away).await.map_err(No::Fault)?;
    let is_news = person.and_then(|person| person.away_at(now)).is_some_and(|away| away.to == to && !away.unreached);
    if !is_news {
        return Ok(());
    }
    let command = IdentityCommand::Away(AwayCommand::NoteUnreached { to });
    match app.submit(Actor::Runtime, Command::Identity { id: away, command }, None).await {
        // Meanwhile they came back, or another route noted it.
        Ok(_) | Err(No::Refused(_)) => Ok(()),
        Err(no) => Err(no),
    }
}

/// For whom somebody stands in at this moment.
pub async fn standing_in(app: &App, who: IdentityId) -> Result<Vec<Absence>, StoreError> {
    let now = app.store().now();
    let (age, known) = app.absences().known();
    let known = match known {
        Some(known) => known,
        None => looked_up(app, age).await?,
    };
    Ok(known.into_iter().filter(|absence| absence.to == who && absence.until > now).collect())
}

/// Who is away at this moment, of those whom the caller shares a project with: whoever comes back first stands first.
pub(crate) async fn who_is_away(app: &App, caller: &Caller) -> Result<Vec<(Identity, Away)>, StoreError> {
    let now = app.store().now();
    let mut everybody = app.store().identities().await?;
    everybody.retain(|person| person.reach.meets(&caller.identity.reach));
    let mut away: Vec<_> =
        everybody.into_iter().filter_map(|person| person.away_at(now).map(|away| (person, away))).collect();
    away.sort_by_key(|(_, away)| away.until);
    Ok(away)
}

async fn looked_up(app: &App, age: u64) -> Result<Vec<Absence>, StoreError> {
    let everybody = app.store().identities().await?;
    let absence = |person: Identity| {
        let away = person.away.filter(|_| !person.revoked)?;
        Some(Absence { name: person.name, to: away.to, until: away.until })
    };
    let found: Vec<Absence> = everybody.into_iter().filter_map(absence).collect();
    app.absences().keep(age, &found);
    Ok(found)
}

/// Somebody by id, or by name among those whom the caller shares a project with. To them nobody else exists.
pub(super) async fn found(app: &App, caller: &Caller, named: &str) -> Result<Identity, No> {
    let unknown = || Refusal::Unknown { what: "identity" };
    let mut found = match named.parse::<IdentityId>() {
        Ok(id) => Vec::from_iter(app.store().identity(id).await.map_err(No::Fault)?),
        Err(_) => app.store().identities().await.map_err(No::Fault)?,
    };
    found.retain(|person| person.reach.meets(&caller.identity.reach) && !person.revoked);
    found.retain(|person| person.name == named || person.id.to_string() == named);
    if found.len() > 1 {
        return Err(Refusal::invalid("several are called so; give the id of one of them").into());
    }
    found.pop().ok_or_else(|| unknown().into())
}

async fn change(app: &App, caller: &Caller, id: IdentityId, command: AwayCommand) -> Result<Identity, No> {
    let command = Command::Identity { id, command: IdentityCommand::Away(command) };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}
