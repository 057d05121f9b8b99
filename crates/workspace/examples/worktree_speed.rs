//! Measures worktrees beside git itself, interleaved in one run, and prints JSON.
//!
//! ```text
//! cargo run --release -p placet-workspace --example worktree_speed -- [files] [changed] [rounds]
//! ```
//!
//! A repository of 100,000 files is made below the temporary directory and removed afterwards. Times are medians; a ratio
//! is the median of the ratios of each round, in which both are measured one right after the other, so that a busy machine
//! slows down both.
#![expect(clippy::print_stdout, reason = "it prints its result")]

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use placet_sandbox::{Exit, Layers, Profile, Request, launch};
use placet_workspace::{ObjectId, Plan, Repository, Worktree, remove_run};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FILES_PER_DIRECTORY: usize = 100;

fn main() -> Result<()> {
    placet_sandbox::helper_entry();
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (files, changed) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(2_000));
    let rounds = numbers.next().unwrap_or(5);
    let root = std::env::temp_dir().join(format!("placet-worktree-speed-{}", std::process::id()));
    let measured = Bench::new(&root, files).and_then(|bench| bench.run(changed, rounds));
    remove_run(&root)?;
    println!("{}", serde_json::to_string_pretty(&measured?)?);
    Ok(())
}

struct Bench {
    root: PathBuf,
    repository: Repository,
    base: ObjectId,
    files: usize,
}

impl Bench {
    fn new(root: &Path, files: usize) -> Result<Self> {
        fs::create_dir_all(root)?;
        git(root, &["init", "--quiet", "-b", "main"])?;
        import(root, files)?;
        let repository = Repository::find(root)?;
        let base = repository.resolve("main")?;
        Ok(Self { root: root.to_owned(), repository, base, files })
    }

    fn run(&self, changed: usize, rounds: usize) -> Result<serde_json::Value> {
        let started = Instant::now();
        let layered = self.repository.add_layered(&self.plan("first")?)?;
        let first_layered_ms = ms(started);
        let in_cage = status_in_cage(&layered, rounds + 1)?;
        let mut starts = Starts::default();
        for round in 0..rounds {
            self.start(round, &mut starts)?;
        }
        let worktree = self.repository.add(&self.plan("work")?)?;
        self.change(&worktree, changed)?;
        let mut looks = Looks::default();
        for _ in 0..rounds {
            self.look(&worktree, &mut looks)?;
        }
        let found = worktree.differences(&self.base)?;
        let (git_ms, layered_ms) = (median(&starts.git), median(&starts.layered));
        Ok(serde_json::json!({
            "files": self.files, "changed": changed, "rounds": rounds, "differences": found.len(),
            "git_worktree_add_ms": git_ms, "plain_start_ms": median(&starts.plain),
            "plain_ratio": median_ratio(&starts.plain, &starts.git),
            "first_layered_start_ms": first_layered_ms,
            "layered_start_ms": layered_ms, "layered_times_faster": median_ratio(&starts.git, &starts.layered),
            "git_status_and_diff_ms": median(&looks.git), "differences_ms": median(&looks.ours),
            "differences_ratio": median_ratio(&looks.ours, &looks.git),
            "layered_first_status_in_cage_ms": in_cage[0], "layered_status_in_cage_ms": median(&in_cage[1..]),
            "plain_status_ms": median(&looks.status),
            "plain_disk_bytes": starts.plain_bytes, "layered_disk_bytes": starts.layered_bytes,
        }))
    }

    /// One start of each kind, one after the other, and each removed again. Who is first finds the disk idle, so they
    /// take turns.
    fn start(&self, round: usize, starts: &mut Starts) -> Result<()> {
        if round.is_multiple_of(2) {
            self.start_by_git(round, starts)?;
            self.start_plain(round, starts)?;
        } else {
            self.start_plain(round, starts)?;
            self.start_by_git(round, starts)?;
        }
        let started = Instant::now();
        let layered = self.repository.add_layered(&self.plan(&format!("layered-{round}"))?)?;
        starts.layered.push(ms(started));
        starts.layered_bytes = disk_bytes(&layered)?;
        Ok(())
    }

    fn start_by_git(&self, round: usize, starts: &mut Starts) -> Result<()> {
        let path = self.root.join(".worktrees/by-git");
        let started = Instant::now();
        git(
            &self.root,
            &["worktree", "add", "--quiet", "-b", &format!("by-git-{round}"), &path.display().to_string()],
        )?;
        starts.git.push(ms(started));
        git(&self.root, &["worktree", "remove", "--force", &path.display().to_string()])
    }

    fn start_plain(&self, round: usize, starts: &mut Starts) -> Result<()> {
        let started = Instant::now();
        let plain = self.repository.add(&self.plan(&format!("plain-{round}"))?)?;
        starts.plain.push(ms(started));
        starts.plain_bytes = disk_bytes(&plain)?;
        Ok(fs::remove_dir_all(plain.path())?)
    }

    /// Half of the changes is committed, the rest is of every other kind.
    fn change(&self, worktree: &Worktree, changed: usize) -> Result<()> {
        let step = (self.files / changed.max(1)).max(1);
        for (count, number) in (0..self.files).step_by(step).take(changed).enumerate() {
            let file = directory(&worktree.path(), number).join(format!("file-{number}.txt"));
            match count % 4 {
                0 => fs::remove_file(file)?,
                1 => fs::write(file.with_extension("new"), "new\n")?,
                2 | 3 => fs::write(file, "changed\n")?,
                _ => {}
            }
            if count == changed / 2 {
                git(&worktree.path(), &["add", "-A"])?;
                git(&worktree.path(), &["commit", "--quiet", "-m", "half"])?;
            }
        }
        Ok(())
    }

    fn look(&self, worktree: &Worktree, looks: &mut Looks) -> Result<()> {
        let started = Instant::now();
        git(&worktree.path(), &["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=traditional"])?;
        looks.status.push(ms(started));
        git(&worktree.path(), &["diff", "--name-status", "-z", &format!("{}..HEAD", self.base)])?;
        looks.git.push(ms(started));
        let started = Instant::now();
        worktree.differences(&self.base)?;
        looks.ours.push(ms(started));
        Ok(())
    }

    fn plan(&self, name: &str) -> Result<Plan> {
        Ok(Plan {
            name: name.parse()?,
            path: self.root.join(".worktrees/bench").join(name),
            branch: format!("bench/{name}").parse()?,
            base: self.base.clone(),
        })
    }
}

#[derive(Default)]
struct Starts {
    git: Vec<f64>,
    plain: Vec<f64>,
    layered: Vec<f64>,
    plain_bytes: u64,
    layered_bytes: u64,
}

#[derive(Default)]
struct Looks {
    /// The first part of what git does.
    status: Vec<f64>,
    git: Vec<f64>,
    ours: Vec<f64>,
}

/// One commit with all files, straight into a pack: the main checkout itself stays empty.
fn import(root: &Path, files: usize) -> Result<()> {
    let mut importing =
        Command::new("git").args(["fast-import", "--quiet"]).current_dir(root).stdin(Stdio::piped()).spawn()?;
    let mut stream = std::io::BufWriter::new(importing.stdin.take().ok_or("no input")?);
    write!(stream, "commit refs/heads/main\ncommitter bench <bench@bench> 1700000000 +0000\ndata 4\nbase\n")?;
    for number in 0..files {
        let text = format!("{number} of {files}\n").repeat(20);
        let path = directory(Path::new(""), number).join(format!("file-{number}.txt"));
        write!(stream, "M 100644 inline {}\ndata {}\n{text}\n", path.display(), text.len())?;
    }
    drop(stream);
    if importing.wait()?.success() { Ok(()) } else { Err("git fast-import failed".into()) }
}

/// How long `git status` takes in a cage above a fresh layered worktree, each time.
fn status_in_cage(worktree: &Worktree, times: usize) -> Result<Vec<f64>> {
    let profile = Profile::builtin("code_development").ok_or("no profile")?;
    let mut measured = Vec::new();
    for _ in 0..times {
        let cage = worktree.cage();
        let script = "a=$(date +%s%N); test -z \"$(git status --porcelain)\" || exit 1; b=$(date +%s%N); echo $(( (b - a) / 1000 ))";
        let request = Request::new(["sh", "-c", script])
            .workspace(Layers::new(cage.lower, cage.upper, cage.work))
            .layer(Layers::new(&cage.git_lower, cage.git_upper, cage.git_work), cage.git_lower);
        let request = cage.variables.into_iter().fold(request, |request, (name, value)| request.env(name, value));
        let (outcome, output) = launch(&profile, request)?.collect()?;
        if outcome.exit != Exit::Code(0) {
            return Err(format!("git status in the cage: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        measured.push(String::from_utf8_lossy(&output.stdout).trim().parse::<f64>()? / 1000.0);
    }
    Ok(measured)
}

fn directory(root: &Path, number: usize) -> PathBuf {
    let leaf = number / FILES_PER_DIRECTORY;
    root.join(format!("d{:03}/e{:03}", leaf / 10, leaf % 10))
}

/// Everything of one worktree but what it shares.
fn disk_bytes(worktree: &Worktree) -> Result<u64> {
    Ok(worktree.disk_bytes()?)
}

fn git(directory: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@bench",
            "-c",
            "gc.auto=0",
            "-c",
            "maintenance.auto=false",
        ])
        .args(arguments)
        .current_dir(directory)
        .stdout(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("git {arguments:?} failed").into()) }
}

fn ms(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn median_ratio(these: &[f64], those: &[f64]) -> f64 {
    let ratios: Vec<f64> = these.iter().zip(those).map(|(this, that)| this / that).collect();
    median(&ratios)
}
