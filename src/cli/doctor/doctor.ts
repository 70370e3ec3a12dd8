/** `statecast doctor`: looks for what could keep Statecast from working, and says what to do about it. */

import { exitCodes, print, printable, printJson } from '../output.ts'
import { printTable } from '../table.ts'
import { type DoctorOptions, examine } from './checks.ts'
import type { Finding } from './finding.ts'

const marks: Record<Finding['status'], string> = { ok: 'ok  ', warn: 'warn', bad: 'BAD ' }

export const doctor = async (options: DoctorOptions): Promise<number> => {
  let broken = false
  for await (const finding of examine(options)) {
    broken ||= finding.status === 'bad'
    if (options.json) printJson(finding)
    else {
      print(`${marks[finding.status]}  ${finding.check}: ${printable(finding.message)}`)
      if (finding.rows) printRows(finding.rows)
      if (finding.hint) print(`      → ${printable(finding.hint)}`)
    }
  }
  return broken ? exitCodes.failed : exitCodes.fine
}

const printRows = (rows: NonNullable<Finding['rows']>): void => {
  const names = Object.keys(rows[0] ?? {})
  printTable(
    ['    ', ...names],
    rows.map((row) => ['    ', ...names.map((name) => printable(String(row[name] ?? '-')))]),
  )
}
