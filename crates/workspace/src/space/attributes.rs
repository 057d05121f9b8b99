//! Extended attributes that users may set, the kernel's notes on layers among them. All others belong to the machine:
//! they are neither read nor set.

use std::os::fd::AsFd;

use rustix::fs::XattrFlags;
use rustix::io::{Errno, Result};

use crate::error::{Doing, LayerError};
use crate::limits::Meter;
use crate::path::RawBytes;

/// The kernel keeps no longer list of names and no longer value.
const MAX_BYTES: usize = 1 << 16;

const OF_USERS: &[u8] = b"user.";

/// All of them, by name.
pub(super) fn read(
    of: &impl AsFd,
    meter: &mut Meter,
    shown: impl ToString,
) -> std::result::Result<Vec<(RawBytes, RawBytes)>, LayerError> {
    let list = names(of).doing("list the attributes of", shown.to_string())?;
    let mut found = Vec::new();
    if list.is_empty() {
        return Ok(found);
    }
    let mut value = vec![0; MAX_BYTES];
    for name in of_users(&list) {
        let length =
            rustix::fs::fgetxattr(of, name, value.as_mut_slice()).doing("read an attribute of", shown.to_string())?;
        meter.described(name.len() + length)?;
        found.push((RawBytes::new(name), RawBytes::new(&value[..length])));
    }
    found.sort();
    Ok(found)
}

fn of_users(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == 0).filter(|name| name.starts_with(OF_USERS))
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
    let present = names(on)?;
    for name in of_users(&present).filter(|name| wanted.iter().all(|(other, _)| other.as_bytes() != *name)) {
        rustix::fs::fremovexattr(on, name)?;
    }
    for (name, value) in wanted {
        rustix::fs::fsetxattr(on, name.as_bytes(), value.as_bytes(), XattrFlags::empty())?;
    }
    Ok(())
}
