//! Attempts to use up the machine: each is bounded here too, far above the limit that must stop it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::raw::{self, address, call, returned};
use crate::scene::Scene;

const MIB: usize = 1 << 20;

/// Keeps taking until it is refused, or until the bound says that nothing refuses.
fn until_refused<T>(bound: usize, mut take: impl FnMut(usize) -> io::Result<T>) -> Observed {
    let mut taken = Vec::new();
    for round in 0..bound {
        match take(round) {
            Ok(more) => taken.push(more),
            Err(error) => return Observed::of::<()>(Err(error)),
        }
    }
    Observed::Escaped(format!("{bound} were given"))
}

fn forks(_: &Scene) -> Observed {
    until_refused(200, |_| raw::idle_child())
}

fn threads(_: &Scene) -> Observed {
    let wait = || std::thread::sleep(std::time::Duration::from_secs(60));
    until_refused(200, |_| std::thread::Builder::new().stack_size(64 << 10).spawn(wait))
}

/// Children that end and are not looked after stay as entries in the table of processes.
fn zombies(_: &Scene) -> Observed {
    until_refused(200, |_| returned(libc::SYS_clone, &[libc::SIGCHLD.into()]))
}

/// Asking costs nothing; using does.
fn memory_at_once(_: &Scene) -> Observed {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let mapped = raw::map(1 << 30, libc::PROT_READ | libc::PROT_WRITE, flags, -1);
    Observed::of(mapped.map(|at| raw::touch(at, 1 << 30)))
}

fn memory_by_pieces(_: &Scene) -> Observed {
    until_refused(64, |_| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let at = raw::map(16 * MIB, libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
        raw::touch(at, 16 * MIB);
        Ok(())
    })
}

fn locked_memory(_: &Scene) -> Observed {
    let pages = vec![0_u8; MIB];
    call(libc::SYS_mlock, &[address(pages.as_slice()), MIB as i64])
}

fn lock_everything(_: &Scene) -> Observed {
    call(libc::SYS_mlockall, &[i64::from(libc::MCL_CURRENT | libc::MCL_FUTURE)])
}

fn open_files(_: &Scene) -> Observed {
    until_refused(5_000, |_| File::open("/dev/null"))
}

fn pipes(_: &Scene) -> Observed {
    until_refused(5_000, |_| io::pipe())
}

fn pipe_size(_: &Scene) -> Observed {
    let (_reader, writer) = io::pipe().expect("a pipe");
    call(libc::SYS_fcntl, &[writer.as_raw_fd().into(), libc::F_SETPIPE_SZ.into(), 64 << 20])
}

/// Files of the allowed size, one after the other.
fn fill(directory: &str) -> Observed {
    let megabyte = vec![1; MIB];
    until_refused(400, |round| fs::write(format!("{directory}/{round}"), &megabyte))
}

fn inodes(_: &Scene) -> Observed {
    until_refused(200_000, |round| File::create(format!("/home/agent/{round}")).map(drop))
}

fn directories(_: &Scene) -> Observed {
    until_refused(200_000, |round| fs::create_dir(format!("/dev/shm/{round}")))
}

fn large_file(_: &Scene) -> Observed {
    let mut file = File::create("/work/large").expect("a file");
    let megabyte = vec![1; MIB];
    until_refused(8, |_| file.write_all(&megabyte))
}

fn large_file_deaf(scene: &Scene) -> Observed {
    raw::ignore(libc::SIGXFSZ);
    large_file(scene)
}

fn allocate_file(_: &Scene) -> Observed {
    raw::ignore(libc::SIGXFSZ);
    let file = File::create("/work/large").expect("a file");
    call(libc::SYS_fallocate, &[file.as_raw_fd().into(), 0, 0, 1 << 33])
}

fn burn(_: &Scene) -> Observed {
    let mut number = 1_u64;
    loop {
        number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

fn burn_deaf(scene: &Scene) -> Observed {
    raw::ignore(libc::SIGXCPU);
    burn(scene)
}

fn output(mut to: impl Write) -> Observed {
    let line = [b'.'; 4_096];
    match (0..10_000).try_for_each(|_| to.write_all(&line)) {
        Ok(()) => Observed::Escaped("all of it was taken".into()),
        Err(error) => Observed::of::<()>(Err(error)),
    }
}

/// Above the hard limit of each resource the cage limits. Memory and processes are not limited per process where a
/// control group does it.
fn raise_limits(_: &Scene) -> Observed {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let resources = [
        Resource::Cpu,
        Resource::Data,
        Resource::Nproc,
        Resource::Nofile,
        Resource::Fsize,
        Resource::Core,
        Resource::Memlock,
        Resource::Msgqueue,
    ];
    let limited = resources.into_iter().filter(|each| getrlimit(*each).maximum.is_some());
    let wanted = || Rlimit { current: Some(1 << 20), maximum: Some(1 << 62) };
    Observed::of_any(limited.map(|each| setrlimit(each, wanted()).map_err(io::Error::from)))
}

fn message_queue(_: &Scene) -> Observed {
    // Flags, messages, bytes of each, messages waiting.
    let attributes = [0_i64, 10, 8_192, 0, 0, 0, 0, 0];
    let flags = i64::from(libc::O_CREAT | libc::O_RDWR);
    call(libc::SYS_mq_open, &[address(c"canary"), flags, 0o600, address(&attributes)])
}

fn realtime(_: &Scene) -> Observed {
    let priority = 50_i32;
    call(libc::SYS_sched_setscheduler, &[0, libc::SCHED_FIFO.into(), address(&priority)])
}

fn nice(_: &Scene) -> Observed {
    call(libc::SYS_setpriority, &[libc::PRIO_PROCESS.into(), 0, -20])
}

fn disk_priority(_: &Scene) -> Observed {
    const REALTIME: i64 = 1 << 13;
    call(libc::SYS_ioprio_set, &[1, 0, REALTIME])
}

fn spare_me(_: &Scene) -> Observed {
    Observed::of(fs::write("/proc/self/oom_score_adj", "-1000"))
}

/// A crash must neither write a file nor start the host's crash handler.
fn core_dump(_: &Scene) -> Observed {
    match raw::in_child(|| std::process::abort()) {
        Ok(status) if libc::WIFSIGNALED(status) && !libc::WCOREDUMP(status) => Observed::Nothing("no core"),
        other => Observed::Escaped(format!("{other:?}")),
    }
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    attempt("forks", "fork for ever", Barrier::Tree("processes"), "limit Processes or EAGAIN", forks),
    attempt("threads", "start threads for ever", Barrier::Tree("processes"), "limit Processes or EAGAIN", threads),
    attempt("zombies", "leave dead children", Barrier::Tree("processes"), "limit Processes or EAGAIN", zombies),
    attempt("memory_at_once", "take 1 GiB", Barrier::Tree("memory"), "limit Memory or ENOMEM", memory_at_once),
    attempt(
        "memory_by_pieces",
        "take memory for ever",
        Barrier::Tree("memory"),
        "limit Memory or ENOMEM",
        memory_by_pieces,
    ),
    attempt(
        "locked_memory",
        "keep memory from being swapped",
        Barrier::Limit("locked memory"),
        "ENOMEM",
        locked_memory,
    ),
    attempt("lock_everything", "the same for all to come", Barrier::Limit("locked memory"), "ENOMEM", lock_everything),
    attempt("open_files", "open files for ever", Barrier::Limit("open files"), "EMFILE", open_files),
    attempt("pipes", "make pipes for ever", Barrier::Limit("open files"), "EMFILE", pipes),
    attempt("pipe_size", "make a pipe of 64 MiB", Barrier::Capabilities, "EPERM", pipe_size),
    attempt("fill_tmp", "fill /tmp", Barrier::ScratchSize, "limit Memory or limit Disk", |_| fill("/tmp")),
    attempt("fill_home", "fill the home", Barrier::ScratchSize, "limit Disk", |_| fill("/home/agent")),
    attempt("fill_shared_memory", "fill /dev/shm", Barrier::ScratchSize, "limit Disk", |_| fill("/dev/shm")),
    attempt("inodes", "make empty files for ever", Barrier::ScratchSize, "limit Disk", inodes),
    attempt("directories", "make directories for ever", Barrier::ScratchSize, "limit Disk", directories),
    attempt("large_file", "write a large file", Barrier::Limit("file size"), "limit FileBytes", large_file),
    attempt("large_file_deaf", "the same, ignoring the signal", Barrier::Limit("file size"), "EFBIG", large_file_deaf),
    attempt("allocate_file", "reserve 8 GiB of disk", Barrier::Limit("file size"), "EFBIG", allocate_file),
    attempt("processor", "compute for ever", Barrier::Limit("processor time"), "limit Cpu", burn),
    attempt(
        "processor_deaf",
        "the same, ignoring the signal",
        Barrier::Limit("processor time"),
        "limit Cpu",
        burn_deaf,
    ),
    attempt("output", "write 40 MB of output", Barrier::Monitor, "limit Output", |_| output(io::stdout())),
    attempt("errors", "the same as errors", Barrier::Monitor, "limit Output", |_| output(io::stderr())),
    attempt("raise_limits", "raise every limit", Barrier::Limit("hard limits"), "EPERM", raise_limits),
    attempt("message_queue", "keep messages in the kernel", Barrier::Limit("queues"), "EMFILE", message_queue),
    attempt("realtime", "run before everyone", Barrier::Capabilities, "EPERM", realtime),
    attempt("nice", "run before others", Barrier::Capabilities, "EACCES or EPERM", nice),
    attempt("disk_priority", "use disks before others", Barrier::Capabilities, "EPERM", disk_priority),
    attempt("spare_me", "be the last when memory runs out", Barrier::Capabilities, "EACCES", spare_me),
    attempt("core_dump", "make root handle a crash", Barrier::Limit("core size"), "no core", core_dump),
];
