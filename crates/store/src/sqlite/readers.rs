//! A few connections that only read, each used by one reader at a time. They never wait for the writer, nor it for them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connect;
use crate::error::StoreError;

/// Reads are short and mostly served from memory; more connections than this only wait for the same cores.
const CONNECTIONS: usize = 4;

#[derive(Debug, Clone)]
pub(crate) struct Readers(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let idle = (0..CONNECTIONS).map(|_| connect::reader(path)).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Pool { idle: Mutex::new(idle), permits: Arc::new(Semaphore::new(CONNECTIONS)) })))
    }

    /// Reads within one snapshot: whatever is committed meanwhile is not seen.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.0.permits.clone().acquire_owned().await.map_err(|_| StoreError::Stopped)?;
        let pool = self.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            // Held by the work and not by who waits for it: they may give up waiting while it still goes on.
            let _permit = permit;
            let borrowed = Borrowed::take(&pool)?;
            let snapshot = borrowed.conn().unchecked_transaction()?;
            work(&snapshot)
        });
        done.await.unwrap_or(Err(StoreError::Stopped))
    }
}

/// A connection that goes back to the pool, whatever happens to its user.
struct Borrowed<'a> {
    pool: &'a Pool,
    conn: Option<Connection>,
}

impl<'a> Borrowed<'a> {
    fn take(pool: &'a Pool) -> Result<Self, StoreError> {
        let conn = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        conn.map(|conn| Self { pool, conn: Some(conn) }).ok_or(StoreError::Stopped)
    }

    fn conn(&self) -> &Connection {
        self.conn.as_ref().expect("taken back only on drop")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.conn.take());
    }
}
