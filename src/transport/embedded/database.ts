/** Opens the one SQLite file and sees to its schema. Any SQLite tool can read it. */
import { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import { createPrivately } from './private-file.ts'
import { fromSqlite, salvageHint } from './sqlite-error.ts'

/** Kept in SQLite's `user_version`; raise it with a step in {@link migrate}. */
export const schemaVersion = 5

/**
 * `first` is the lowest sequence kept, so that a truncated front and a lost one can be told apart. A commit touches two pages: of the roots, and the last
 * one of the frames. No index says who wants to be woken: it would be a third, so the main thread keeps that in memory.
 */
const schema3 = `
  CREATE TABLE roots (
    root INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL,
    seq INTEGER NOT NULL, first INTEGER NOT NULL, checksum INTEGER NOT NULL, wake_at INTEGER, at INTEGER NOT NULL,
    proof INTEGER NOT NULL, tail TEXT NOT NULL,
    UNIQUE (kind, id)
  );
  -- In the order of writing; \`groups\` is the count of the group commit that wrote it.
  CREATE TABLE frames (
    place INTEGER PRIMARY KEY, root INTEGER NOT NULL, seq INTEGER NOT NULL, previous INTEGER NOT NULL, checksum INTEGER NOT NULL,
    groups INTEGER NOT NULL, bytes BLOB NOT NULL
  );
  CREATE TABLE places (root INTEGER NOT NULL, first INTEGER NOT NULL, list TEXT NOT NULL, PRIMARY KEY (root, first)) WITHOUT ROWID;
  CREATE TABLE snapshots (root INTEGER PRIMARY KEY, seq INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE inbox (
    row INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
    data BLOB NOT NULL, checksum INTEGER NOT NULL, attempts INTEGER NOT NULL, failures INTEGER NOT NULL, ready_at INTEGER NOT NULL,
    settled_at INTEGER, reason TEXT,
    UNIQUE (subject, id)
  );
  CREATE INDEX inbox_by_state ON inbox (state, settled_at);
  CREATE TABLE counter (groups INTEGER NOT NULL);
  INSERT INTO counter VALUES (0);
  CREATE TABLE registry (revision INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, expires_at INTEGER);
`
/** What version 4 has besides: see `forks.ts`. The origin stands in the row of the last frame that is shared. */
const forksSchema = `
  CREATE TABLE forks (
    root INTEGER NOT NULL, up_to INTEGER NOT NULL, source INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, origin TEXT, proof INTEGER NOT NULL,
    PRIMARY KEY (root, up_to)
  ) WITHOUT ROWID;
  CREATE INDEX forks_by_source ON forks (source);
`

/** What version 5 has besides: how many roots there are with a number of at most `up_to`, and the sum of their numbers. Null where that is to be counted. */
const countSchema =
  'ALTER TABLE counter ADD COLUMN roots INTEGER; ALTER TABLE counter ADD COLUMN numbers INTEGER; ALTER TABLE counter ADD COLUMN up_to INTEGER;'

/** For the writer thread. @throws RuntimeError corrupt_at, unsupported for a newer schema, log_unavailable, log_full */
export const openForWriting = (file: string): DatabaseSync => {
  let database: DatabaseSync | undefined
  try {
    // SQLite gives its side files the mode of the main one, which it would create world-readable.
    createPrivately(file)
    database = new DatabaseSync(file, { timeout: 5_000 })
    migrate(database, file)
    requireWhole(database, file)
    requireRoots(database, file)
    return database
  } catch (error) {
    database?.close()
    throw fromSqlite(error, file)
  }
}

/** Of a connection that writes. The log is emptied when the writer is told to, and not by the commit that makes it long. */
const settings = 'PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 0'

/** A second one that writes, when the first has found everything in order: it waits for nobody. */
export const openBeside = (file: string): DatabaseSync => {
  try {
    const database = new DatabaseSync(file, { timeout: 0 })
    database.exec(settings)
    return database
  } catch (error) {
    throw fromSqlite(error, file)
  }
}

/**
 * Moves pages from the write-ahead log into the database, and keeps nobody from writing meanwhile.
 * @returns how many had to stay, since somebody still reads what was before them; with none the next commit begins the log anew, unless somebody was
 * writing just now
 */
export const checkpoint = (database: DatabaseSync): number => {
  const moved = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
  return moved?.busy === 0 ? Number(moved.log) - Number(moved.checkpointed) : Number.POSITIVE_INFINITY
}

/** For queries beside the writer: with a write-ahead log readers neither wait nor make anybody wait. */
export const openForReading = (file: string): DatabaseSync => {
  try {
    return new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  } catch (error) {
    throw fromSqlite(error, file)
  }
}

/**
 * A damaged index hides what is in its table without a word: a conversation would begin anew, a message never be delivered. Frames are not looked
 * at here, their own checksums tell when they are read; so this takes 0.1 s for 100,000 roots, whatever they have said.
 */
const requireWhole = (database: DatabaseSync, file: string): void => {
  for (const table of ['roots', 'places', 'forks', 'inbox', 'registry']) {
    const [found] = database.prepare(`PRAGMA integrity_check(${table})`).all()
    const verdict = String(found?.integrity_check)
    if (verdict === 'ok') continue
    throw new RuntimeError('corrupt_at', `${file} is damaged: ${verdict}`, { hint: salvageHint(file), data: { table } })
  }
  requireColumns(database, file)
}

/** SQLite finds a column whose name changed its case, and gives its values that name. @throws RuntimeError corrupt_at */
const requireColumns = (database: DatabaseSync, file: string): void => {
  const columns = `SELECT m.name AS name, group_concat(c.name) AS columns FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY m.name`
  const model = new DatabaseSync(':memory:')
  model.exec(`${schema3} ${forksSchema} ${countSchema}`)
  const found = new Map(
    database
      .prepare(columns)
      .all()
      .map(({ name, columns: names }) => [name, names]),
  )
  const wrong = model
    .prepare(columns)
    .all()
    .find(({ name, columns: names }) => found.get(name) !== names)
  model.close()
  if (wrong === undefined) return
  const table = String(wrong.name)
  throw new RuntimeError('corrupt_at', `${file} is damaged: the columns of ${table} have other names`, { hint: salvageHint(file), data: { table } })
}

/** Counts all roots that there are. It writes nothing where the count stands. */
export const countRoots = (database: DatabaseSync): void =>
  database.exec(`
    UPDATE counter SET roots = found.roots, numbers = found.numbers, up_to = found.up_to
    FROM (SELECT count(*) AS roots, coalesce(sum(root), 0) AS numbers, coalesce(max(root), 0) AS up_to FROM roots) AS found
    WHERE counter.up_to IS NOT found.up_to OR counter.roots IS NOT found.roots OR counter.numbers IS NOT found.numbers
  `)

/**
 * A root whose row is gone leaves no sign in its own journal: a conversation would begin again beside its own frames. So the store counts its roots, at each
 * start and orderly end, and where one is removed. Those that were begun before a kill are counted by the start after it. An older build has not counted:
 * then this one begins to. @throws RuntimeError corrupt_at
 */
const requireRoots = (database: DatabaseSync, file: string): void => {
  const known = database.prepare('SELECT roots, numbers, up_to FROM counter').get()
  const found = database
    .prepare('SELECT count(*) AS roots, coalesce(sum(root), 0) AS numbers FROM roots WHERE root <= ?')
    .get(Number(known?.up_to ?? 0))
  const [roots, before] = [Number(found?.roots), Number(known?.roots)]
  if (known?.roots === null || (before === roots && Number(known?.numbers) === Number(found?.numbers))) countRoots(database)
  else
    throw new RuntimeError('corrupt_at', `${file} has lost journals: it holds ${roots}, and ${before} were there`, {
      hint: `restore a backup; if what is left is what you want, run: sqlite3 ${file} 'UPDATE counter SET roots = NULL'`,
      data: { table: 'roots', found: roots, known: before },
    })
}

/** 0 for a file in which nothing of ours is. */
export const schemaOf = (database: DatabaseSync): number => Number(database.prepare('PRAGMA user_version').get()?.user_version)

const migrate = (database: DatabaseSync, file: string): void => {
  // Read before anything is changed: a newer file must stay as it is.
  const found = schemaOf(database)
  if (found > schemaVersion)
    throw new RuntimeError('unsupported', `${file} was written by a newer version: its schema is ${found}, this build knows up to ${schemaVersion}`, {
      hint: 'run the newer version of statecast, or give another folder',
      data: { found, known: schemaVersion },
    })
  if (found !== 0 && found < 3)
    throw new RuntimeError('unsupported', `${file} was written by an older version: its schema is ${found}, this build reads ${schemaVersion}`, {
      hint: 'give another folder; what is needed of this one goes with it: statecast export with the version that wrote it, then statecast import',
      data: { found, known: schemaVersion },
    })
  database.exec(`PRAGMA journal_mode = WAL; ${settings}`)
  if (found < schemaVersion)
    database.exec(
      `BEGIN IMMEDIATE; ${found === 0 ? schema3 : ''} ${found < 4 ? forksSchema : ''} ${countSchema} PRAGMA user_version = ${schemaVersion}; COMMIT`,
    )
}
