//! Attempts with special files: devices, programs that lend rights, and what is planted for whoever looks later.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::raw::{self, address, call, path, returned};
use crate::scene::Scene;

/// Relative to the working directory.
const HERE: i64 = libc::AT_FDCWD as i64;

const LENDING_MODE: i64 = 0o4755;
const FCHMODAT2: i64 = 452;

fn open_any(paths: &[&str]) -> Observed {
    Observed::of_any(paths.iter().map(File::open))
}

/// A file of the attempt's own, to be made dangerous.
fn own_file(at: &str) -> io::Result<File> {
    File::create(at)
}

fn with_own_file(try_on: impl FnOnce(i64, &File) -> Observed) -> Observed {
    let name = path("/work/own");
    match own_file("/work/own") {
        Ok(file) => try_on(address(name.as_c_str()), &file),
        Err(error) => Observed::Escaped(format!("the scene is not set: {error}")),
    }
}

fn make_node(mode: u32, device: libc::dev_t) -> Observed {
    call(libc::SYS_mknodat, &[HERE, address(c"/work/node"), i64::from(mode | 0o600), device as i64])
}

fn make_lending(kind: u32) -> Observed {
    call(libc::SYS_mknodat, &[HERE, address(c"/work/lends"), i64::from(kind) | LENDING_MODE, 0])
}

fn set_attribute(name: &'static std::ffi::CStr, value: &[u8]) -> Observed {
    with_own_file(|file, _| call(libc::SYS_setxattr, &[file, address(name), address(value), value.len() as i64, 0]))
}

/// Capabilities of a file, all of them zero: worthless even if they were accepted.
fn file_capabilities(_: &Scene) -> Observed {
    const VERSION_2: u32 = 0x0200_0000;
    let mut value = [0; 20];
    value[..4].copy_from_slice(&VERSION_2.to_le_bytes());
    set_attribute(c"security.capability", &value)
}

fn give_away(uid: i64, gid: i64) -> Observed {
    with_own_file(|_, file| call(libc::SYS_fchown, &[file.as_raw_fd().into(), uid, gid]))
}

/// In memory of the cage, so that a file that could no longer be removed would be gone with it.
fn immutable(_: &Scene) -> Observed {
    const SET_FLAGS: i64 = 0x4008_6602;
    const IMMUTABLE: i64 = 0x10;
    let flags = IMMUTABLE;
    let tried = own_file("/tmp/own")
        .and_then(|file| returned(libc::SYS_ioctl, &[file.as_raw_fd().into(), SET_FLAGS, address(&flags)]));
    Observed::of(tried)
}

fn sparse(_: &Scene) -> Observed {
    raw::ignore(libc::SIGXFSZ);
    with_own_file(|_, file| Observed::of(file.set_len(1 << 40)))
}

fn loop_of_links(_: &Scene) -> Observed {
    let tried = symlink("/work/b", "/work/a").and_then(|()| symlink("/work/a", "/work/b"));
    Observed::of(tried.and_then(|()| File::open("/work/a/canary")))
}

/// A map that names root of the host; the kernel takes one map, once.
fn rewrite_map(file: &str, map: &str) -> Observed {
    Observed::of(fs::write(format!("/proc/self/{file}"), map))
}

fn entropy(_: &Scene) -> Observed {
    const ADD_TO_COUNT: i64 = 0x4004_5201;
    let nothing = 0_i64;
    let tried = File::open("/dev/urandom")
        .and_then(|file| returned(libc::SYS_ioctl, &[file.as_raw_fd().into(), ADD_TO_COUNT, address(&nothing)]));
    Observed::of(tried)
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // Devices.
    attempt("memory_device", "open memory of the machine", Barrier::View, "ENOENT", |_| {
        open_any(&["/dev/mem", "/dev/kmem", "/dev/port"])
    }),
    attempt("disk_devices", "open disks", Barrier::View, "ENOENT", |_| {
        open_any(&["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/loop-control", "/dev/mapper/control"])
    }),
    attempt("virtual_machines", "open /dev/kvm", Barrier::View, "ENOENT", |_| {
        open_any(&["/dev/kvm", "/dev/vhost-vsock"])
    }),
    attempt("fuse", "open a way to own file systems", Barrier::View, "ENOENT", |_| {
        open_any(&["/dev/fuse", "/dev/cuse"])
    }),
    attempt("tun", "open a way to own interfaces", Barrier::View, "ENOENT", |_| open_any(&["/dev/net/tun"])),
    attempt("terminals", "open a terminal", Barrier::View, "ENOENT or ENXIO", |_| {
        open_any(&["/dev/tty", "/dev/console", "/dev/tty0", "/dev/pts/0", "/dev/ptmx", "/dev/pts/ptmx"])
    }),
    attempt("message_device", "open messages of the kernel", Barrier::View, "ENOENT", |_| open_any(&["/dev/kmsg"])),
    attempt("fault_device", "open another userfaultfd", Barrier::View, "ENOENT", |_| open_any(&["/dev/userfaultfd"])),
    attempt("input_devices", "open keyboards and screens", Barrier::View, "ENOENT", |_| {
        open_any(&["/dev/uinput", "/dev/input/event0", "/dev/fb0", "/dev/dri/card0", "/dev/snd/timer"])
    }),
    attempt("own_character_device", "make /dev/mem in the workspace", Barrier::Landlock, "EACCES", |_| {
        make_node(libc::S_IFCHR, libc::makedev(1, 1))
    }),
    attempt("own_block_device", "make a disk in the workspace", Barrier::Landlock, "EACCES", |_| {
        make_node(libc::S_IFBLK, libc::makedev(7, 0))
    }),
    attempt("whiteout", "make a file that deletes another in an overlay", Barrier::Landlock, "EACCES", |_| {
        make_node(libc::S_IFCHR, 0)
    }),
    attempt("entropy", "claim randomness that is not there", Barrier::Capabilities, "EPERM", entropy),
    // Programs that lend rights.
    attempt("lend_by_fchmodat", "set-user-id a file", Barrier::Seccomp("fchmodat:privileged"), "EPERM", |_| {
        with_own_file(|file, _| call(libc::SYS_fchmodat, &[HERE, file, LENDING_MODE]))
    }),
    attempt("lend_by_fchmod", "the same, by descriptor", Barrier::Seccomp("fchmod:privileged"), "EPERM", |_| {
        with_own_file(|_, file| call(libc::SYS_fchmod, &[file.as_raw_fd().into(), LENDING_MODE]))
    }),
    attempt(
        "lend_by_fchmodat2",
        "the same, by the newest call",
        Barrier::Seccomp("fchmodat2:privileged"),
        "EPERM",
        |_| with_own_file(|file, _| call(FCHMODAT2, &[HERE, file, LENDING_MODE, 0])),
    ),
    attempt("lend_the_group", "set-group-id a file", Barrier::Seccomp("fchmodat:privileged"), "EPERM", |_| {
        with_own_file(|file, _| call(libc::SYS_fchmodat, &[HERE, file, 0o2755]))
    }),
    attempt("lend_from_birth", "create one that lends", Barrier::Seccomp("openat:privileged"), "EPERM", |_| {
        call(libc::SYS_openat, &[HERE, address(c"/work/lends"), libc::O_CREAT.into(), LENDING_MODE])
    }),
    attempt("lend_without_a_name", "the same, unnamed", Barrier::Seccomp("openat:privileged"), "EPERM", |_| {
        let flags = i64::from(libc::O_TMPFILE | libc::O_RDWR);
        call(libc::SYS_openat, &[HERE, address(c"/work"), flags, LENDING_MODE])
    }),
    attempt("lend_by_openat2", "the same, mode behind a pointer", Barrier::Seccomp("openat2"), "ENOSYS", |_| {
        let how = [libc::O_CREAT as u64, LENDING_MODE as u64, 0];
        call(libc::SYS_openat2, &[HERE, address(c"/work/lends"), address(&how), 24])
    }),
    attempt("lend_by_mknodat", "the same, as a node", Barrier::Seccomp("mknodat:privileged"), "EPERM", |_| {
        make_lending(libc::S_IFREG)
    }),
    #[cfg(target_arch = "x86_64")]
    attempt("lend_by_chmod", "set-user-id, the old way", Barrier::Seccomp("chmod:privileged"), "EPERM", |_| {
        with_own_file(|file, _| call(libc::SYS_chmod, &[file, LENDING_MODE]))
    }),
    #[cfg(target_arch = "x86_64")]
    attempt("lend_by_mknod", "a node that lends, the old way", Barrier::Seccomp("mknod:privileged"), "EPERM", |_| {
        call(libc::SYS_mknod, &[address(c"/work/lends"), i64::from(libc::S_IFREG) | LENDING_MODE, 0])
    }),
    #[cfg(target_arch = "x86_64")]
    attempt(
        "lend_by_creat",
        "a file that lends, the oldest way",
        Barrier::Seccomp("creat:privileged"),
        "EPERM",
        |_| call(libc::SYS_creat, &[address(c"/work/lends"), LENDING_MODE]),
    ),
    #[cfg(target_arch = "x86_64")]
    attempt("lend_by_open", "a file that lends, the old way", Barrier::Seccomp("open:privileged"), "EPERM", |_| {
        call(libc::SYS_open, &[address(c"/work/lends"), libc::O_CREAT.into(), LENDING_MODE])
    }),
    attempt("file_capabilities", "give a file capabilities", Barrier::Capabilities, "EPERM", file_capabilities),
    attempt("trusted_attribute", "write what overlays trust", Barrier::Capabilities, "EPERM", |_| {
        set_attribute(c"trusted.overlay.opaque", b"y")
    }),
    attempt("give_to_root", "make a file root's", Barrier::UserNamespace, "EINVAL", |_| give_away(0, -1)),
    attempt("give_to_a_group", "make a file of root's group", Barrier::UserNamespace, "EINVAL", |_| give_away(-1, 0)),
    attempt("immutable", "make a file nobody can remove", Barrier::Capabilities, "EPERM", immutable),
    // Planted for whoever looks at the workspace later.
    attempt("sparse_file", "a file of a terabyte", Barrier::Limit("file size"), "EFBIG", sparse),
    attempt("loop_of_links", "a path without an end", Barrier::View, "ELOOP", loop_of_links),
    // Who is who.
    attempt("rewrite_user_map", "map root of the host", Barrier::UserNamespace, "EPERM", |_| {
        rewrite_map("uid_map", "0 0 1")
    }),
    attempt("rewrite_group_map", "map its group", Barrier::UserNamespace, "EPERM", |_| rewrite_map("gid_map", "0 0 1")),
    attempt("allow_setgroups", "take the lock off groups", Barrier::Capabilities, "EACCES", |_| {
        rewrite_map("setgroups", "allow")
    }),
];
