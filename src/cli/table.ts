/** Columns for people. */
import { print } from './output.ts'

const widthMax = 60

/** Each column as wide as its widest cell, up to a bound; what is longer pushes the rest of its own line. */
export const printTable = (head: string[], rows: string[][]): void => {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => Math.min(widthMax, row[column]?.length ?? 0))))
  for (const row of all)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
