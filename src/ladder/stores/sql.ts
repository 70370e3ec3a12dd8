/** SQLite databases of a caller, who opens and closes them and makes their tables. */
import { LadderError, wordsOf } from '../errors.ts'
import { type KindsOf, optionsIn } from '../given.ts'

type SqlValue = string | number | bigint | Uint8Array | null
type SqlRow = Record<string, unknown>

/** What is used of one: `DatabaseSync` of `node:sqlite`, and others that are called the same way. */
export interface SqlDatabase {
  prepare(sql: string): {
    run(...values: SqlValue[]): { changes: number | bigint }
    get(...values: SqlValue[]): unknown
    all(...values: SqlValue[]): unknown[]
  }
}

type Sql = {
  /** @returns how many rows it has changed */
  run(sql: string, ...values: SqlValue[]): number
  get<Row = SqlRow>(sql: string, ...values: SqlValue[]): Row | undefined
  all<Row = SqlRow>(sql: string, ...values: SqlValue[]): Row[]
  /** All of it, or nothing; inside of a transaction of the caller too. */
  atomically<Result>(work: () => Result): Result
}

/** @throws LadderError LADDER_CONFIG for what is no database, or says what means nothing */
export const sqlOptions = <Options extends object>(database: unknown, options: Options, kinds: KindsOf<Options>, maker: string): Options => {
  if (typeof (database as SqlDatabase | null | undefined)?.prepare !== 'function')
    throw new LadderError('LADDER_CONFIG', `the database of ${maker}() has no prepare`, {
      hint: "give one of 'node:sqlite': new DatabaseSync('sessions.db')",
    })
  return optionsIn<Options>(options, kinds, { who: `${maker}()`, code: 'LADDER_CONFIG' })
}

/** @throws LadderError LADDER_CONFIG for what could be more than the name of a table */
export const checkedTable = (table: string): string => {
  if (typeof table === 'string' && /^[A-Za-z_]\w{0,62}$/.test(table)) return table
  throw new LadderError('LADDER_CONFIG', `'${String(table).slice(0, 80)}' is no name of a table`, {
    hint: 'use letters, digits and underscores, and no digit at the beginning',
  })
}

/** Statements are prepared once. What the database says against one comes as STORE_FAILED. */
export const sqlOf = (database: SqlDatabase): Sql => {
  const statements = new Map<string, ReturnType<SqlDatabase['prepare']>>()
  const asked = <Result>(sql: string, ask: (statement: ReturnType<SqlDatabase['prepare']>) => Result): Result => {
    try {
      const statement = statements.get(sql) ?? database.prepare(sql)
      statements.set(sql, statement)
      return ask(statement)
    } catch (cause) {
      throw failed(cause)
    }
  }
  const run: Sql['run'] = (sql, ...values) => asked(sql, (statement) => Number(statement.run(...values).changes))
  return {
    run,
    get: <Row>(sql: string, ...values: SqlValue[]) => asked(sql, (statement) => statement.get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: SqlValue[]) => asked(sql, (statement) => statement.all(...values) as Row[]),
    atomically(work) {
      run('SAVEPOINT ladder')
      try {
        const result = work()
        run('RELEASE ladder')
        return result
      } catch (error) {
        run('ROLLBACK TO ladder')
        run('RELEASE ladder')
        throw error
      }
    },
  }
}

const failed = (cause: unknown): LadderError =>
  new LadderError('STORE_FAILED', `the database says: ${wordsOf(cause)}`, {
    cause,
    hint: /no such (?:table|column)/.test(wordsOf(cause))
      ? 'run what schema() of the store returns, once and by hand'
      : 'see whether the database is open and can be written; nothing was lost',
  })
