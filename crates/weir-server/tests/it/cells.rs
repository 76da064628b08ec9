//! Several databases behind one server, as an operator meets them. Needs a PostgreSQL: `.ci/postgres run -- COMMAND…`
//! starts one and tells the command where it is.

use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};
use weir_core::{EntryKind, Origin, ProjectKey, Reference, Scope, TenantId, UserId};
use weir_records::{
    Audience, Author, Body, HostId, Kept, Log as _, LogicalTime, Position, Readers, Record, RecordId, TextKey,
};
use weir_team::{Bridge, Cells, PostgresOptions};

/// The databases: that of the directory, and the cells.
const NAMES: [&str; 3] = ["directory", "one", "two"];

/// The databases of a test and the files with their addresses. They are dropped with this.
struct World {
    folder: TempDir,
    prefix: String,
    bridge: Bridge,
}

#[expect(clippy::disallowed_methods, reason = "the environment says where the server is")]
fn postgres() -> String {
    std::env::var("WEIR_POSTGRES").expect("run this with `.ci/postgres run --`")
}

impl World {
    /// Makes a directory with two cells, and a tenant in the first.
    fn new() -> Self {
        let prefix = format!("weir_{}", HostId::random().unwrap());
        let world = Self { folder: tempfile::tempdir().unwrap(), prefix, bridge: Bridge::start().unwrap() };
        for name in NAMES {
            world.sql("postgres", &format!("CREATE DATABASE {}_{name}", world.prefix));
            std::fs::write(world.folder.path().join(name), world.address(name)).unwrap();
        }
        for name in &NAMES[1..] {
            world.run(&["cells", "--add", name, "--database", &format!("@{name}")]);
        }
        world
    }

    fn address(&self, name: &str) -> String {
        postgres().replace("///postgres?", &format!("///{}_{name}?", self.prefix))
    }

    /// Runs statements in a database, and returns the rows.
    fn sql(&self, name: &str, sql: &str) -> Vec<String> {
        let address = if name == "postgres" { postgres() } else { self.address(name) };
        self.bridge.block_on(async {
            let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
            tokio::spawn(connection);
            let messages = client.simple_query(sql).await.unwrap();
            let rows = messages.iter().filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            });
            rows.map(|row| (0..row.len()).map(|at| row.get(at).unwrap_or("-")).collect::<Vec<_>>().join("|")).collect()
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the program itself is tested")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir-server"));
        command.args(arguments).args(["--directory", "@directory"]).current_dir(self.folder.path());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that succeeds, and returns what it prints.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let done = self.output(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Opens the log as a server does.
    fn open(&self) -> Arc<Cells> {
        let options = |address: &str| {
            let mut options = PostgresOptions::parse(address)?;
            options.role = Some("weir_app".into());
            Ok(options)
        };
        let addresses = NAMES.map(|name| (format!("@{name}"), self.address(name)));
        let read = move |wanted: &str| options(&addresses.iter().find(|(file, _)| file == wanted).unwrap().1);
        let directory = options(&self.address("directory")).unwrap();
        Arc::new(Cells::open(&directory, &self.bridge, Arc::new(read)).unwrap())
    }

    /// Returns the cells that let the tenant write.
    fn owners(&self) -> Vec<&'static str> {
        let here = "SELECT FROM weir.tenants WHERE name = 'acme' AND state = 'here'";
        NAMES[1..].iter().copied().filter(|name| !self.sql(name, here).is_empty()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for name in NAMES {
            self.sql("postgres", &format!("DROP DATABASE IF EXISTS {}_{name} WITH (FORCE)", self.prefix));
        }
    }
}

#[test]
fn an_operator_adds_cells_and_moves_a_tenant() {
    let world = World::new();
    let token = world.run(&["init", "ana", "--tenant", "acme", "--cell", "one"]);
    assert!(token.starts_with("weir_"), "{token}");
    world.run(&["init", "eve", "--tenant", "umbrella"]);
    assert!(world.run(&["invite", "ben", "--tenant", "acme"]).starts_with("weir_"));
    let listed =
        "one: 1 tenant, @one\n  acme generation 1, settled\ntwo: 1 tenant, @two\n  umbrella generation 1, settled\n";
    assert_eq!(world.run(&["cells"]), listed);
    let moved = world.run(&["move", "acme", "--to", "two"]);
    assert!(moved.starts_with("moved `acme` to `two`: 0 records; writing paused for "), "{moved}");
    let data: serde_json::Value = serde_json::from_str(&world.run(&["cells", "--json"])).unwrap();
    assert_eq!(data["cells"][1]["tenants"][0]["tenant"], "acme", "{data}");
    assert_eq!(data["cells"][1]["tenants"][0]["state"], "settled", "{data}");
    let tokens = world.run(&["list", "--tenant", "acme"]);
    assert!(tokens.contains("ana") && tokens.contains("ben"), "{tokens}");
    let again = world.output(&["move", "acme", "--to", "two"]);
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("`acme` is in the cell `two`, and no move has begun"), "{said}");
    let undone = world.output(&["move", "acme", "--undo"]);
    assert_eq!(undone.status.code(), again.status.code());
}

fn ana() -> Scope {
    let api = ProjectKey("api".into());
    Scope { tenant: TenantId("acme".into()), user: UserId("ana".into()), ..Scope::project(api) }
}

fn note(id: RecordId) -> Record {
    let kept = Kept {
        reference: Reference::from_bits(id.index),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: format!("note {}", id.index),
        source: None,
        note: None,
        text: TextKey::of(&id.index.to_le_bytes()),
        bytes: 8,
    };
    let Scope { tenant, project, user, .. } = ana();
    Record {
        id,
        time: LogicalTime { millis: 1_700_000_000_000, count: 0 },
        tenant,
        project,
        author: Author { user, client: String::new() },
        audience: Audience::Team,
        body: Body::Kept(Box::new(kept)),
    }
}

/// Writes single notes until it is over, and returns how many were acknowledged.
fn write(log: &Cells, is_over: &AtomicBool, refused: &AtomicU64) -> (HostId, u64) {
    let host = HostId::random().unwrap();
    for index in 0.. {
        if is_over.load(Ordering::SeqCst) {
            return (host, index);
        }
        while let Err(error) = log.append(&ana(), &[note(RecordId { host, index })]) {
            assert!(error.kind.may_pass(), "{error}");
            refused.fetch_add(1, Ordering::SeqCst);
            wait(Duration::from_millis(20));
        }
    }
    unreachable!()
}

#[expect(clippy::disallowed_methods, reason = "the moment of a fault is a guess on purpose")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

/// Returns a number below a bound.
fn draw(below: u64) -> u64 {
    getrandom::u64().unwrap() % below
}

/// What goes wrong while a tenant is moved.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The process of the move is killed.
    Mover,
    /// A database ends its connections, and takes new ones after a second.
    Database(&'static str),
}

const FAULTS: [Fault; 4] = [Fault::Mover, Fault::Database("one"), Fault::Database("two"), Fault::Database("directory")];

impl Fault {
    fn strike(self, world: &World, mover: &mut Child) {
        match self {
            Self::Mover => mover.kill().unwrap(),
            Self::Database(name) => {
                let name = format!("{}_{name}", world.prefix);
                world.sql("postgres", &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
                let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
                world.sql("postgres", &end);
                wait(Duration::from_secs(1));
                world.sql("postgres", &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
            }
        }
    }
}

/// Writes records of one host before there is any fault, and returns the host.
fn fill(world: &World, records: u64) -> HostId {
    let host = HostId::random().unwrap();
    for first in (0..records).step_by(1_000) {
        let some: Vec<Record> = (first..first + 1_000).map(|index| note(RecordId { host, index })).collect();
        world.open().append(&ana(), &some).unwrap();
    }
    host
}

/// Lets faults strike at random moments of moves to and fro, under writers, and finishes each move or takes it back.
#[expect(clippy::print_stderr, reason = "the figures are what this is for")]
fn check(moves: usize, records: u64) {
    let world = World::new();
    world.run(&["init", "ana", "--tenant", "acme", "--cell", "one"]);
    let host = fill(&world, records);
    let (servers, is_over, refused) = ([world.open(), world.open()], AtomicBool::new(false), AtomicU64::new(0));
    let mut ends = [0, 0, 0];
    let written: Vec<(HostId, u64)> = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (log, is_over, refused) = (&servers[writer % 2], &is_over, &refused);
                threads.spawn(move || write(log, is_over, refused))
            })
            .collect();
        for number in 0..moves {
            let (fault, to) = (FAULTS[number % FAULTS.len()], NAMES[1 + (number + 1 + number / 8) % 2]);
            let home = world.sql("directory", "SELECT cell FROM weir_directory.tenants WHERE name = 'acme'");
            let to = if home[0] == to { NAMES[3 - NAMES.iter().position(|name| *name == to).unwrap()] } else { to };
            let mut mover = world
                .command(&["move", "acme", "--to", to])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            wait(Duration::from_millis(draw(2_500)));
            fault.strike(&world, &mut mover);
            let is_done = mover.wait().unwrap().success();
            let between = world.owners();
            assert!(between.len() <= 1, "{fault:?}: {between:?}");
            let undoes = !is_done && draw(2) == 0 && world.output(&["move", "acme", "--undo"]).status.success();
            if !is_done && !undoes {
                // The process may have been killed after its last step.
                let finished = world.output(&["move", "acme", "--to", to]);
                let said = String::from_utf8_lossy(&finished.stderr).into_owned();
                assert!(finished.status.success() || said.contains("no move has begun"), "{fault:?}: {said}");
            }
            ends[if is_done { 0 } else { 1 + usize::from(undoes) }] += 1;
            let home = world.sql("directory", "SELECT cell || ' ' || state FROM weir_directory.tenants");
            assert_eq!(
                home,
                world.owners().iter().map(|name| format!("{name} settled")).collect::<Vec<_>>(),
                "{fault:?}"
            );
        }
        is_over.store(true, Ordering::SeqCst);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let all = read_all(&world.open());
    assert!(all.iter().map(|(position, _)| position.0).eq(1..=all.len() as u64), "positions have holes");
    for (host, count) in written.iter().copied().chain([(host, records)]) {
        let mine: Vec<u64> = all.iter().filter(|(_, id)| id.host == host).map(|(_, id)| id.index).collect();
        assert!(mine.iter().copied().eq(0..count), "{count} were acknowledged, and {} are there", mine.len());
    }
    let acknowledged: u64 = written.iter().map(|(_, count)| count).sum();
    eprintln!(
        "{moves} moves of {records} records with a fault each: {} ended well, {} were finished and {} taken back; \
         {acknowledged} records acknowledged meanwhile, 0 lost, 0 twice; {} calls refused and repeated; always one owner",
        ends[0],
        ends[1],
        ends[2],
        refused.into_inner(),
    );
}

fn read_all(log: &Cells) -> Vec<(Position, RecordId)> {
    let (mut found, mut after) = (Vec::new(), Position(0));
    loop {
        let batch = log.read_since(&ana(), after, 1_000, Readers::Scope).unwrap();
        found.extend(batch.records.into_iter().map(|stored| (stored.position, stored.record.id)));
        after = batch.next;
        if after == batch.head {
            return found;
        }
    }
}

#[test]
fn a_move_that_is_killed_leaves_one_owner_and_loses_nothing() {
    check(2, 1_000);
}

/// Prints the figures of docs/results/2026-11-19-cells.md.
#[test]
fn nightly_faults_at_random_moments_leave_one_owner_and_lose_nothing() {
    check(20, 5_000);
}
