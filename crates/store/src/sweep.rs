//! Removing bytes from the disk, after the ledger says that they were removed; and looking whether all others are there.
//!
//! The entry comes first. What is to be removed is read from the ledger, behind a cursor that advances when it is done: whatever a crash
//! leaves is done at the next start, and to do it twice is the same as once. Bytes that another project keeps, or that were kept again
//! meanwhile, stay.

use placet_domain::digest::Digest;

use crate::error::{IntegrityFault, StoreError};
use crate::report::{EvidenceCheck, Swept};
use crate::store::Store;

/// No receiver of webhooks can have this name.
const CURSOR: &str = "evidence/removed";
const PAGE: u32 = 256;

impl Store {
    /// Removes from the disk what the ledger says was removed and nobody keeps.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let mut from = self.cursor(CURSOR).await?.unwrap_or(0);
        loop {
            let page = self.removals(from, PAGE).await?;
            let Some((last, _)) = page.last().copied() else { return Ok(swept) };
            for (_, digest) in page {
                if let Some(size_bytes) = self.remove_unless_kept(digest).await? {
                    swept.contents += 1;
                    swept.size_bytes += size_bytes;
                }
            }
            from = last + 1;
            self.set_cursor(CURSOR, from).await?;
        }
    }

    /// Removes bytes from the disk that no project keeps. Runs in a separate task: a caller that disconnects must not release the lock
    /// during the removal, or another request could keep the same bytes.
    pub async fn remove_unless_kept(&self, digest: Digest) -> Result<Option<u64>, StoreError> {
        let store = self.clone();
        let task = tokio::spawn(async move {
            let _alone = store.blobs().alone().await;
            if store.is_kept(digest).await? { Ok(None) } else { store.blobs().remove(digest).await }
        });
        task.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// Reads all evidence that any project keeps and hashes it again.
    pub async fn check_evidence(&self) -> Result<EvidenceCheck, StoreError> {
        let mut check = EvidenceCheck { removed: self.count_removals().await?, ..EvidenceCheck::default() };
        let mut after = None;
        loop {
            let page = self.all_kept(after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(check) };
            after = Some(*last);
            for (digest, kept) in page {
                match self.look_at(digest).await {
                    Ok(None) => check.intact += 1,
                    Ok(Some(fault)) => check.faults.push(format!("{fault} (kept with entry {kept})")),
                    // One that cannot be read says nothing of the next.
                    Err(error) => check.faults.push(format!("{digest}: {} (kept with entry {kept})", error.chain())),
                }
            }
        }
    }

    /// What is wrong with bytes that should be there, if anything is.
    async fn look_at(&self, digest: Digest) -> Result<Option<IntegrityFault>, StoreError> {
        match self.blobs().get(digest).await {
            Ok(Some(_)) => Ok(None),
            // Removed while we were looking, or not.
            Ok(None) if self.is_kept(digest).await? => Ok(Some(IntegrityFault::Missing { digest })),
            Ok(None) => Ok(None),
            Err(StoreError::Integrity(fault)) => Ok(Some(fault)),
            Err(error) => Err(error),
        }
    }
}
