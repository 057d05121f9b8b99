//! The real key of an upstream. It is read when the gateway opens, and again when the upstream refuses it: keys are rotated, and
//! nobody should have to start anything anew for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use placet_dial::{KeySource, Secret, SecretError};

/// A key that is simply wrong is refused with every call; a password manager is not asked as often as that.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct RealKey {
    source: KeySource,
    now: Mutex<Arc<Secret>>,
    /// When it was last read again; one at a time does that.
    read: tokio::sync::Mutex<Option<Instant>>,
}

impl RealKey {
    pub(super) async fn read(source: KeySource) -> Result<Self, SecretError> {
        let key = Arc::new(source.read().await?);
        Ok(Self { source, now: Mutex::new(key), read: tokio::sync::Mutex::default() })
    }

    pub(super) fn now(&self) -> Arc<Secret> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is another one than this, which was refused. Looks for it, but not again and again.
    pub(super) async fn has_another(&self, refused: &Arc<Secret>) -> bool {
        let mut read = self.read.lock().await;
        if !Arc::ptr_eq(&self.now(), refused) {
            return true;
        }
        // The environment of a process does not change.
        let is_fixed = matches!(self.source, KeySource::Env(_));
        if is_fixed || read.is_some_and(|at| at.elapsed() < READ_AGAIN_AFTER) {
            return false;
        }
        *read = Some(Instant::now());
        match self.source.read().await {
            Ok(key) if key.expose() != refused.expose() => {
                *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
                true
            }
            Ok(_) => false,
            Err(error) => {
                tracing::warn!(%error, "a key that an upstream refuses cannot be read again");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn a_key_is_read_again_when_it_is_refused_and_not_again_and_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
        let write = |key: &str| std::fs::write(file.path(), key).unwrap();
        write("sk-first");
        let key = RealKey::read(KeySource::File(file.path().to_owned())).await.unwrap();
        let first = key.now();
        write("sk-second");
        assert!(key.has_another(&first).await);
        let second = key.now();
        assert_eq!(second.expose(), "sk-second");
        write("sk-third");
        assert!(key.has_another(&first).await, "who was refused with the first one has the second");
        assert!(!key.has_another(&second).await, "it was read just now");
        assert_eq!(key.now().expose(), "sk-second");
        *key.read.lock().await = Instant::now().checked_sub(READ_AGAIN_AFTER);
        assert!(key.has_another(&second).await);
        *key.read.lock().await = None;
        std::fs::remove_file(file.path()).unwrap();
        assert!(!key.has_another(&key.now()).await, "a file that is gone changes nothing");
        assert_eq!(key.now().expose(), "sk-third");
    }

    #[tokio::test]
    async fn a_variable_is_not_read_again() {
        // Cargo sets this one for every test.
        let key = RealKey::read(KeySource::Env("CARGO_PKG_NAME".to_owned())).await.unwrap();
        assert!(!key.has_another(&key.now()).await);
        assert_eq!(*key.read.lock().await, None);
    }
}
