//! A slip: what is open for one attempt at an action beside what was sealed with it, because a person granted it. Signed like
//! a permit, by the same key and for another purpose: a worker opens nothing that its control plane did not sign.

use serde::{Deserialize, Serialize};

use super::{PermitSigner, PermitVerifier};
use crate::canonical;
use crate::id::ActionId;
use crate::proposal::Opening;
use crate::refusal::PermitFlaw;
use crate::time::Timestamp;

const PURPOSE: &[u8] = b"placet/slip/v1\n";
/// As many grants as a run can have, each as long as an opening gets.
const LONGEST_TOKEN: usize = 256 * 1024;

/// What is granted just now; what it does not name is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slip {
    pub action: ActionId,
    pub attempt: u32,
    /// By the clock of the control plane: an older one does not count once a newer one is here.
    pub issued_at: Timestamp,
    pub grants: Vec<Granted>,
}

/// One opening, and for how long from the moment the slip was issued: the clock of a worker may be another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    pub opening: Opening,
    pub left_ms: u64,
}

impl PermitSigner {
    pub fn sign_slip(&self, slip: &Slip) -> String {
        self.token(PURPOSE, &canonical::to_bytes(slip))
    }
}

impl PermitVerifier {
    pub fn check_slip(&self, token: &str) -> Result<Slip, PermitFlaw> {
        if token.len() > LONGEST_TOKEN {
            return Err(PermitFlaw::Malformed);
        }
        let content = self.content(PURPOSE, token)?;
        serde_json::from_slice(&content).map_err(|_| PermitFlaw::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn slip() -> Slip {
        let grants = vec![Granted { opening: "https://example.org/".parse().unwrap(), left_ms: 5 }];
        let action = ActionId::from_uuid(Uuid::from_u128(1));
        Slip { action, attempt: 1, issued_at: Timestamp::from_unix_ms(7), grants }
    }

    #[test]
    fn a_slip_is_read_back_and_neither_forged_nor_taken_for_a_permit() {
        let (ours, other) = (PermitSigner::from_seed(&[1; 32]), PermitSigner::from_seed(&[2; 32]));
        let token = ours.sign_slip(&slip());
        assert_eq!(ours.verifier().check_slip(&token), Ok(slip()));
        assert_eq!(other.verifier().check_slip(&token), Err(PermitFlaw::Forged));
        assert_eq!(ours.verifier().check(&token).unwrap_err(), PermitFlaw::Forged, "another purpose");
        assert_eq!(ours.verifier().check_slip("x"), Err(PermitFlaw::Malformed));
        let (content, signature) = token.split_once('.').unwrap();
        let changed = format!("{}A.{signature}", &content[..content.len() - 1]);
        assert!(ours.verifier().check_slip(&changed).is_err());
    }
}
