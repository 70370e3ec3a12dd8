/** Vectors in a table of a SQLite database that belongs to the caller. */

import { anything } from '../given.ts'
import { jsonIn, jsonText } from '../stores/json.ts'
import { checkedTable, type SqlDatabase, sqlOf, sqlOptions } from '../stores/sql.ts'
import { floatsIn } from './keyed-vectors.ts'
import { nearest } from './similarity.rules.ts'
import { checkedCount, checkedVector, type VectorMatch, type VectorMetadata, type VectorStore } from './vectors.ts'

type Row = { id: string; text: string; metadata: string }

/**
 * All vectors of the namespace that the filter takes are compared: by the database where it has loaded the extension `sqlite-vec`, and here otherwise.
 * It is neither opened nor closed here, and no table is made: run `schema()` once.
 * @param options.table letters, digits and underscores, no digit at the beginning
 * @throws LadderError LADDER_CONFIG for what is no name of a table
 */
export const sqliteVectors = (database: SqlDatabase, options: { table?: string } = {}): VectorStore => {
  const { table = 'ladder_vectors' } = sqlOptions<typeof options>(database, options, { table: anything }, 'sqliteVectors')
  const vectors = checkedTable(table)
  const sql = sqlOf(database)
  let compares = false
  /** The extension may be loaded later than this is made. */
  const comparesItself = (): boolean => {
    try {
      compares ||= sql.get('SELECT vec_version()') !== undefined
    } catch {
      // It has no such function.
    }
    return compares
  }
  return {
    async upsert(items, { namespace }) {
      const rows = items.map(({ id, text, metadata, vector }) => ({
        id,
        text,
        metadata: jsonText(metadata, 'metadata'),
        vector: checkedVector(vector),
      }))
      sql.atomically(() => {
        for (const { id, text, metadata, vector } of rows)
          sql.run(
            `INSERT OR REPLACE INTO ${vectors} (namespace, id, text, metadata, dimensions, vector) VALUES (?, ?, ?, ?, ?, ?)`,
            namespace,
            id,
            text,
            metadata,
            vector.length,
            bytesOf(vector),
          )
      })
    },
    async query(vector, { k, namespace, filter = {} }) {
      const [asked, count] = [checkedVector(vector), checkedCount(k)]
      const { condition, values } = conditionOf(filter)
      const where = `namespace = ? AND dimensions = ?${condition}`
      if (!comparesItself()) {
        const rows = sql.all<Row & { vector: Uint8Array }>(
          `SELECT id, text, metadata, vector FROM ${vectors} WHERE ${where}`,
          namespace,
          asked.length,
          ...values,
        )
        return nearest(
          rows.map(({ vector: bytes, ...row }) => ({ ...itemOf(row), vector: floatsIn(bytes) })),
          asked,
          { k: count },
        )
      }
      return sql
        .all<Row & { similarity: number }>(
          `SELECT id, text, metadata, coalesce(1 - vec_distance_cosine(vector, ?), 0) AS similarity FROM ${vectors}
           WHERE ${where} ORDER BY similarity DESC, id LIMIT ?`,
          bytesOf(asked),
          namespace,
          asked.length,
          ...values,
          count,
        )
        .map(({ similarity, ...row }): VectorMatch => ({ ...itemOf(row), similarity }))
    },
    async delete(ids, { namespace }) {
      sql.atomically(() => {
        for (const id of ids) sql.run(`DELETE FROM ${vectors} WHERE namespace = ? AND id = ?`, namespace, id)
      })
    },
    async clear({ namespace }) {
      sql.run(`DELETE FROM ${vectors} WHERE namespace = ?`, namespace)
    },
    schema: () => `CREATE TABLE IF NOT EXISTS ${vectors} (
  namespace TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
  dimensions INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (namespace, id)
);
`,
  }
}

const bytesOf = (vector: Float32Array<ArrayBuffer>): Uint8Array => new Uint8Array(vector.buffer)

const itemOf = ({ id, text, metadata }: Row) => ({ id, text, metadata: jsonIn(metadata, 'metadata') as VectorMetadata })

/** Keys and values are parameters: a text is never part of the statement. */
const conditionOf = (filter: VectorMetadata): { condition: string; values: (string | number)[] } => {
  const parts = Object.entries(filter).map(([key, value]) => {
    if (typeof value === 'string') return { condition: "type = 'text' AND value = ?", values: [key, value] }
    if (typeof value === 'number') return { condition: "type IN ('integer', 'real') AND value = ?", values: [key, value] }
    return { condition: `type = '${String(value)}'`, values: [key] }
  })
  return {
    condition: parts.map(({ condition }) => ` AND EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND ${condition})`).join(''),
    values: parts.flatMap(({ values }) => values),
  }
}
