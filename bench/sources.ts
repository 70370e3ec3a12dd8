/** Which sources figures are of: what they say is true of these alone. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a reader has to know of figures that are of other sources than those beside them. */
export const changedSince = 'The sources have changed since'

const folder = join(import.meta.dirname, '../src')

/** A fingerprint of `src/`: of the names and contents of all its files. */
export const sourcesOf = (root = folder): string => {
  const hash = createHash('sha256')
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    hash
      .update(`${path.slice(root.length).replaceAll('\\', '/')}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}
