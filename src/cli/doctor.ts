/** `statecast doctor`: looks for what could keep Statecast from working, and says what to do about it. */
import { type DoctorOptions, examine } from './doctor.checks.ts'
import type { Finding } from './doctor.finding.ts'
import { exitCodes, print, printable, printJson } from './output.ts'

const marks: Record<Finding['status'], string> = { ok: 'ok  ', warn: 'warn', bad: 'BAD ' }

export const doctor = async (options: DoctorOptions): Promise<number> => {
  let broken = false
  for await (const finding of examine(options)) {
    broken ||= finding.status === 'bad'
    if (options.json) printJson(finding)
    else {
      print(`${marks[finding.status]}  ${finding.check}: ${printable(finding.message)}`)
      if (finding.hint) print(`      → ${printable(finding.hint)}`)
    }
  }
  return broken ? exitCodes.failed : exitCodes.fine
}
