//! Attempts on files: reading what is not in view, writing what is read-only, processes through /proc.

use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, symlink};

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::raw::{self, address, call, path, returned};
use crate::scene::{GIVEN, Scene};

const GIVEN_TEXT: &CStr = c"/opt/given/text";

fn open(path: impl AsRef<str>) -> Observed {
    Observed::of(File::open(path.as_ref()))
}

fn open_any(paths: &[&str]) -> Observed {
    Observed::of_any(paths.iter().map(File::open))
}

/// Open and close: nothing is ever written.
fn open_to_write(path: &str) -> Observed {
    Observed::of(OpenOptions::new().write(true).open(path))
}

fn create(path: &str) -> Observed {
    Observed::of(OpenOptions::new().write(true).create_new(true).open(path))
}

fn through_dots(scene: &Scene) -> Observed {
    open(format!("/work/../../../../../../..{}", scene.canary))
}

fn through_a_link(scene: &Scene) -> Observed {
    symlink(&scene.canary, "/work/link").map_or_else(|error| Observed::of::<()>(Err(error)), |()| open("/work/link"))
}

fn through_a_relative_link(scene: &Scene) -> Observed {
    let target = format!("../../../../../..{}", scene.canary);
    symlink(target, "/work/link").map_or_else(|error| Observed::of::<()>(Err(error)), |()| open("/work/link"))
}

/// A link of a link of a directory, entered step by step: the view is checked at every step.
fn beside_the_workspace(_: &Scene) -> Observed {
    let tried = symlink("/work/..", "/work/up").and_then(|()| fs::metadata("/work/up/given"));
    Observed::of(tried)
}

fn of_process(scene: &Scene, file: &str) -> Observed {
    open(format!("/proc/{}/{file}", scene.process))
}

fn of_init(file: &str) -> Observed {
    open(format!("/proc/1/{file}"))
}

/// On a host these are other people's homes; here there is one, and it is empty.
fn homes(_: &Scene) -> Observed {
    let names = |at: &str| fs::read_dir(at).map(|entries| entries.flatten().map(|entry| entry.file_name()).collect());
    let homes: io::Result<Vec<_>> = names("/home");
    let own: io::Result<Vec<_>> = names("/home/agent");
    match (homes, own) {
        (Ok(homes), Ok(own)) if homes == ["agent"] && own.is_empty() => Observed::Nothing("nothing"),
        other => Observed::Escaped(format!("{other:?}")),
    }
}

/// A covered file is the null device or an empty directory.
fn masked(path: &str) -> Observed {
    let Ok(meta) = fs::metadata(path) else { return Observed::Nothing("nothing") };
    let null = meta.file_type().is_char_device() && meta.rdev() == libc::makedev(1, 3);
    let empty = meta.is_dir() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if null || empty { Observed::Nothing("nothing") } else { Observed::Escaped(format!("{meta:?}")) }
}

fn all_masked(paths: &[&str]) -> Observed {
    let seen = paths.iter().map(|path| masked(path)).find(|seen| matches!(seen, Observed::Escaped(_)));
    seen.unwrap_or(Observed::Nothing("nothing"))
}

/// Mounts name where they come from. Those of the cage do; others of the host must not be there.
fn mounts_of_the_host(scene: &Scene) -> Observed {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points: Vec<_> = mounts.lines().filter_map(|line| line.split(' ').nth(4)).collect();
    let foreign = ["/sys", "/boot", "/run", "/var", "/root"].iter().find(|place| points.contains(place));
    match foreign {
        Some(place) => Observed::Escaped(format!("{place} is mounted")),
        None if points.is_empty() || mounts.contains(&scene.canary) => Observed::Escaped(mounts),
        None => Observed::Nothing("nothing"),
    }
}

fn hard_link(from: &str) -> Observed {
    Observed::of(fs::hard_link(from, "/work/hard"))
}

fn chmod_given(_: &Scene) -> Observed {
    call(libc::SYS_fchmodat, &[libc::AT_FDCWD.into(), address(GIVEN_TEXT), 0o600])
}

/// Whoever owns a setting: the part of the tree they are in is read-only besides.
fn chmod_setting(_: &Scene) -> Observed {
    call(libc::SYS_fchmodat, &[libc::AT_FDCWD.into(), address(c"/proc/sys/kernel/core_pattern"), 0o666])
}

fn retime_given(_: &Scene) -> Observed {
    call(libc::SYS_utimensat, &[libc::AT_FDCWD.into(), address(GIVEN_TEXT), 0, 0])
}

fn mark_given(_: &Scene) -> Observed {
    call(libc::SYS_setxattr, &[address(GIVEN_TEXT), address(c"user.mark"), address(c"x"), 1, 0])
}

fn truncate_given(_: &Scene) -> Observed {
    call(libc::SYS_truncate, &[address(GIVEN_TEXT), 5])
}

fn map_given(protection: i32) -> Observed {
    let file = File::open(format!("{GIVEN}/text"));
    Observed::of(file.and_then(|file| raw::map(4_096, protection, libc::MAP_SHARED, file.as_raw_fd())))
}

/// Pages of a file in a pipe must not be written through the pipe.
fn dirty_pipe(_: &Scene) -> Observed {
    let tried = || -> io::Result<()> {
        let given = File::open(format!("{GIVEN}/text"))?;
        let (mut reader, writer) = io::pipe()?;
        io::Write::write_all(&mut &writer, &[b'.'; 4_096])?;
        reader.read_exact(&mut [0; 4_096])?;
        returned(libc::SYS_splice, &[given.as_raw_fd().into(), 0, writer.as_raw_fd().into(), 0, 1, 0])?;
        io::Write::write_all(&mut &writer, b"overwritten")
    };
    unchanged(tried())
}

/// A private mapping may be written through /proc/self/mem, and then is a copy.
fn dirty_cow(_: &Scene) -> Observed {
    use std::os::unix::fs::FileExt;
    let tried = || -> io::Result<()> {
        let given = File::open(format!("{GIVEN}/text"))?;
        let at = raw::map(4_096, libc::PROT_READ, libc::MAP_PRIVATE, given.as_raw_fd())?;
        OpenOptions::new().write(true).open("/proc/self/mem")?.write_all_at(b"overwritten", at as u64)
    };
    unchanged(tried())
}

fn unchanged(tried: io::Result<()>) -> Observed {
    match (tried, fs::read_to_string(format!("{GIVEN}/text")).as_deref()) {
        (Ok(()), Ok("text of the host\n")) => Observed::Nothing("unchanged"),
        other => Observed::Escaped(format!("{other:?}")),
    }
}

fn rewrite_stdin(_: &Scene) -> Observed {
    let file = OpenOptions::new().write(true).custom_flags(libc::O_TRUNC).open("/proc/self/fd/0");
    Observed::of(file.and_then(|mut file| io::Write::write(&mut file, b"x")))
}

fn open_by_handle(_: &Scene) -> Observed {
    // The root of most file systems is number 2, and 1 the type of handles of 32-bit numbers.
    let handle: [u32; 4] = [8, 1, 2, 0];
    call(libc::SYS_open_by_handle_at, &[libc::AT_FDCWD.into(), address(&handle), 0])
}

fn rename_over_a_library(_: &Scene) -> Observed {
    Observed::of(fs::write("/work/new", "").and_then(|()| fs::rename("/work/new", "/usr/lib/os-release")))
}

/// Swaps a directory for a link while it is being walked; the kernel resolves inside the view in any case.
fn swap_while_walking(scene: &Scene) -> Observed {
    let target = path(&scene.canary);
    let tried = (0..200).map(|_| {
        let _ = fs::remove_file("/work/swap");
        symlink("/tmp", "/work/swap")?;
        let _ = fs::remove_file("/work/swap");
        symlink(target.to_str().expect("text"), "/work/swap")?;
        File::open("/work/swap")
    });
    Observed::of_any(tried)
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // What is not in view.
    attempt("canary_by_path", "open a file of the host", Barrier::View, "ENOENT", |scene| open(&scene.canary)),
    attempt("canary_through_dots", "the same, climbing from the workspace", Barrier::View, "ENOENT", through_dots),
    attempt("canary_through_a_link", "the same, by a link", Barrier::View, "ENOENT", through_a_link),
    attempt(
        "canary_by_relative_link",
        "the same, by a climbing link",
        Barrier::View,
        "ENOENT",
        through_a_relative_link,
    ),
    attempt("canary_while_swapping", "the same, racing a link", Barrier::View, "ENOENT", swap_while_walking),
    attempt("canary_by_own_root", "the same, from /proc/self/root", Barrier::View, "ENOENT", |scene| {
        open(format!("/proc/self/root{}", scene.canary))
    }),
    attempt("canary_by_own_directory", "the same, from /proc/self/cwd", Barrier::View, "ENOENT", |scene| {
        open(format!("/proc/self/cwd/../../../../..{}", scene.canary))
    }),
    attempt("canary_by_descriptor", "the same, from /dev/fd", Barrier::View, "ENOENT or ENOTDIR", |scene| {
        open(format!("/dev/fd/1/../../..{}", scene.canary))
    }),
    attempt("canary_hard_link", "link it into the workspace", Barrier::View, "ENOENT", |scene| {
        hard_link(&scene.canary)
    }),
    attempt("beside_the_workspace", "leave the workspace upwards", Barrier::View, "ENOENT", beside_the_workspace),
    attempt("passwords", "open /etc/shadow", Barrier::View, "ENOENT", |_| open("/etc/shadow")),
    attempt("keys_of_root", "open the home of root", Barrier::View, "ENOENT", |_| open("/root/.ssh")),
    attempt("homes", "look at other homes", Barrier::View, "nothing", homes),
    attempt("logs", "open logs of the host", Barrier::View, "ENOENT", |_| open("/var/log")),
    attempt("boot", "open what the host starts from", Barrier::View, "ENOENT", |_| open("/boot")),
    attempt("credentials", "open usual places of credentials", Barrier::View, "ENOENT", |_| {
        open_any(&["/etc/machine-id", "/etc/ssh", "/etc/krb5.keytab", "/etc/sudoers", "/var/lib", "/root/.netrc"])
    }),
    attempt("sysfs_tree", "open /sys", Barrier::View, "ENOENT", |_| open("/sys")),
    attempt("release_agent", "open what a control group starts", Barrier::View, "ENOENT", |_| {
        open_any(&["/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup"])
    }),
    attempt("debug_and_trace", "open debugging of the kernel", Barrier::View, "ENOENT", |_| {
        open_any(&["/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf", "/sys/kernel/security"])
    }),
    attempt("mounts_of_the_host", "find mounts of the host", Barrier::View, "nothing", mounts_of_the_host),
    // Processes as files.
    attempt("root_of_process_1", "open /proc/1/root", Barrier::HiddenProcesses, "ENOENT", |_| of_init("root")),
    attempt("directory_of_process_1", "open /proc/1/cwd", Barrier::HiddenProcesses, "ENOENT", |_| of_init("cwd")),
    attempt("files_of_process_1", "open /proc/1/fd", Barrier::HiddenProcesses, "ENOENT", |_| of_init("fd")),
    attempt("memory_of_process_1", "open /proc/1/mem", Barrier::HiddenProcesses, "ENOENT", |_| of_init("mem")),
    attempt("variables_of_process_1", "open /proc/1/environ", Barrier::HiddenProcesses, "ENOENT", |_| {
        of_init("environ")
    }),
    attempt("mappings_of_process_1", "open /proc/1/maps", Barrier::HiddenProcesses, "ENOENT", |_| of_init("maps")),
    attempt("program_of_process_1", "open /proc/1/exe", Barrier::HiddenProcesses, "ENOENT", |_| of_init("exe")),
    attempt("namespaces_of_process_1", "open /proc/1/ns", Barrier::HiddenProcesses, "ENOENT", |_| of_init("ns/user")),
    attempt("root_of_a_host_process", "open its /proc/…/root", Barrier::PidNamespace, "ENOENT", |scene| {
        of_process(scene, "root")
    }),
    attempt("variables_of_a_host_process", "open its /proc/…/environ", Barrier::PidNamespace, "ENOENT", |scene| {
        of_process(scene, "environ")
    }),
    attempt("memory_of_a_host_process", "open its /proc/…/mem", Barrier::PidNamespace, "ENOENT", |scene| {
        of_process(scene, "mem")
    }),
    // What is in view, read-only.
    attempt("overwrite_a_program", "open one for writing", Barrier::Permissions, "EACCES or EROFS", |_| {
        open_to_write("/usr/bin/env")
    }),
    attempt("add_a_program", "create one", Barrier::ReadOnly, "EROFS", |_| create("/usr/bin/canary")),
    attempt("overwrite_itself", "open /proc/self/exe for writing", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/proc/self/exe")
    }),
    attempt("preload_a_library", "create /etc/ld.so.preload", Barrier::ReadOnly, "EROFS", |_| {
        create("/etc/ld.so.preload")
    }),
    attempt("become_root_by_passwd", "open /etc/passwd for writing", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/etc/passwd")
    }),
    attempt("add_to_the_root", "create a file in /", Barrier::ReadOnly, "EROFS", |_| create("/canary")),
    attempt("add_to_devices", "create a file in /dev", Barrier::ReadOnly, "EROFS", |_| create("/dev/canary")),
    attempt("replace_a_library", "rename over one", Barrier::OtherMount, "EXDEV or EROFS", rename_over_a_library),
    attempt("hard_link_a_program", "link one into the workspace", Barrier::OtherMount, "EXDEV", |_| {
        hard_link("/usr/bin/env")
    }),
    attempt("open_given_file", "open a read-only file for writing", Barrier::ReadOnly, "EROFS", |_| {
        open_to_write("/opt/given/text")
    }),
    attempt("truncate_given_file", "truncate it", Barrier::ReadOnly, "EROFS", truncate_given),
    attempt("chmod_given_file", "change its mode", Barrier::ReadOnly, "EROFS", chmod_given),
    attempt("retime_given_file", "change its time", Barrier::ReadOnly, "EROFS", retime_given),
    attempt("mark_given_file", "give it an attribute", Barrier::ReadOnly, "EROFS", mark_given),
    attempt("remove_given_file", "remove it", Barrier::ReadOnly, "EROFS", |_| {
        Observed::of(fs::remove_file("/opt/given/text"))
    }),
    attempt("hard_link_given_file", "link it into the workspace", Barrier::OtherMount, "EXDEV", |_| {
        hard_link("/opt/given/text")
    }),
    attempt("map_given_file", "map it shared and writable", Barrier::ReadOnly, "EACCES", |_| {
        map_given(libc::PROT_WRITE)
    }),
    attempt("dirty_pipe", "write its pages through a pipe", Barrier::ReadOnly, "unchanged", dirty_pipe),
    attempt("dirty_cow", "write its pages through own memory", Barrier::ReadOnly, "unchanged", dirty_cow),
    attempt("rewrite_stdin", "write to the given input", Barrier::Seal, "EPERM", rewrite_stdin),
    // Behind the directories.
    attempt("open_by_handle", "open a file by number", Barrier::Seccomp("open_by_handle_at"), "EPERM", open_by_handle),
    attempt("name_to_handle", "ask for the number of a file", Barrier::Seccomp("name_to_handle_at"), "EPERM", |_| {
        call(libc::SYS_name_to_handle_at, &[-1, 0, 0, 0, 0])
    }),
    // Settings and secrets of the kernel.
    attempt("core_pattern", "name a program that root runs", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/proc/sys/kernel/core_pattern")
    }),
    attempt("modprobe", "name a program the kernel runs", Barrier::Permissions, "EACCES or ENOENT", |_| {
        open_to_write("/proc/sys/kernel/modprobe")
    }),
    attempt("address_randomisation", "switch it off", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/proc/sys/kernel/randomize_va_space")
    }),
    attempt("overcommit", "let memory run out", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/proc/sys/vm/overcommit_memory")
    }),
    attempt("binary_formats", "register a program as interpreter", Barrier::Permissions, "EACCES or ENOENT", |_| {
        open_to_write("/proc/sys/fs/binfmt_misc/register")
    }),
    attempt("network_settings", "forward packets", Barrier::Permissions, "EACCES", |_| {
        open_to_write("/proc/sys/net/ipv4/ip_forward")
    }),
    attempt("chmod_a_setting", "open kernel settings to all", Barrier::ReadOnly, "EROFS", chmod_setting),
    attempt("sysrq", "open the machine's off switch", Barrier::Mask, "nothing", |_| masked("/proc/sysrq-trigger")),
    attempt("kernel_memory", "read memory of the kernel", Barrier::Mask, "nothing", |_| masked("/proc/kcore")),
    attempt("kernel_messages", "read its messages", Barrier::Mask, "nothing", |_| masked("/proc/kmsg")),
    attempt("kernel_addresses", "read its addresses", Barrier::Mask, "nothing", |_| masked("/proc/kallsyms")),
    attempt("keys", "list keys of the user", Barrier::Mask, "nothing", |_| {
        all_masked(&["/proc/keys", "/proc/key-users"])
    }),
    attempt("kernel_command_line", "read how the host was booted", Barrier::Mask, "nothing", |_| {
        masked("/proc/cmdline")
    }),
    attempt("disks", "list and time disks of the host", Barrier::Mask, "nothing", |_| {
        all_masked(&["/proc/partitions", "/proc/diskstats", "/proc/scsi"])
    }),
    attempt("drivers", "list drivers and interrupts", Barrier::Mask, "nothing", |_| {
        all_masked(&["/proc/modules", "/proc/interrupts", "/proc/acpi", "/proc/asound", "/proc/config.gz"])
    }),
    attempt("activity", "watch timers of the host", Barrier::Mask, "nothing", |_| {
        all_masked(&["/proc/timer_list", "/proc/latency_stats", "/proc/sched_debug", "/proc/timer_stats"])
    }),
];
