//! Extended attributes that users may set, the kernel's notes on layers among them. All others belong to the machine:
//! they are neither read nor set.

use std::os::fd::AsFd;

use rustix::fs::XattrFlags;
use rustix::io::{Errno, Result};

use crate::path::RawBytes;

/// The kernel keeps no longer list of names and no longer value.
const MAX_BYTES: usize = 1 << 16;

const OF_USERS: &[u8] = b"user.";

/// All of them, by name.
pub(super) fn read(of: &impl AsFd) -> Result<Vec<(RawBytes, RawBytes)>> {
    let list = names(of)?;
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let mut value = vec![0; MAX_BYTES];
    let mut found = Vec::new();
    for name in list.split(|&byte| byte == 0).filter(|name| name.starts_with(OF_USERS)) {
        let length = rustix::fs::fgetxattr(of, name, value.as_mut_slice())?;
        found.push((RawBytes::new(name), RawBytes::new(&value[..length])));
    }
    found.sort();
    Ok(found)
}

/// Every name, each with a NUL behind it.
fn names(of: &impl AsFd) -> Result<Vec<u8>> {
    // Most files have none, and the kernel's notes are short.
    let mut few = [0; 256];
    match rustix::fs::flistxattr(of, &mut few[..]) {
        Ok(length) => Ok(few[..length].to_vec()),
        Err(Errno::OPNOTSUPP) => Ok(Vec::new()),
        Err(Errno::RANGE) => {
            let mut all = vec![0; MAX_BYTES];
            let length = rustix::fs::flistxattr(of, all.as_mut_slice())?;
            all.truncate(length);
            Ok(all)
        }
        Err(error) => Err(error),
    }
}

/// Makes them exactly these.
pub(super) fn set(on: &impl AsFd, wanted: &[(RawBytes, RawBytes)]) -> Result<()> {
    let present = read(on)?;
    for (name, _) in present.iter().filter(|(name, _)| wanted.iter().all(|(other, _)| other != name)) {
        rustix::fs::fremovexattr(on, name.as_bytes())?;
    }
    for (name, value) in wanted.iter().filter(|attribute| !present.contains(attribute)) {
        rustix::fs::fsetxattr(on, name.as_bytes(), value.as_bytes(), XattrFlags::empty())?;
    }
    Ok(())
}
