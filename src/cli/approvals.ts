/** `statecast approvals`: the tool calls that wait for a person, and how to answer each. */
import type { Waiting, WaitingApproval, WaitingRun } from '../api/index.ts'
import { silenceText, spanText } from '../contracts/approval.rules.ts'
import { approvalQuestion, approveCommand, callName } from './cards.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'

export const approvals = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    // A node of an earlier build lists no runs.
    type Listed = Omit<Waiting, 'runs'> & { runs?: WaitingRun[] }
    const { approvals: waiting, runs = [], unreadable } = await client.command<Listed>('approvals.list', {})
    if (options.json) {
      for (const approval of waiting) printJson({ ...approval, call: callName(approval.sessionKey, approval) })
      for (const run of runs) printJson(run)
    } else if (waiting.length + runs.length === 0) note('nothing waits for a person')
    else {
      for (const [index, approval] of waiting.entries()) for (const line of linesOf(approval, options, index === 0)) print(line)
      for (const [index, run] of runs.entries()) for (const line of runLinesOf(run, waiting.length + index === 0)) print(line)
    }
    if (unreadable.length > 0)
      note(
        `cannot be read, see ${hintCommand(options, 'doctor')}: ${unreadable
          .slice(0, 10)
          .map((key) => printable(key))
          .join(', ')}${unreadable.length > 10 ? ' …' : ''}`,
      )
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const linesOf = (approval: WaitingApproval, options: Globals, first: boolean): string[] => [
  ...(first ? [] : ['']),
  `${printable(approval.sessionKey)}: ${approvalQuestion(approval, argumentsMax)}`,
  ...timesOf(approval),
  `  ${approveCommand(approval.sessionKey, approval, options)}   (--deny refuses it)`,
]

/** A person who approves has to see what: much more of it than where calls are shown in passing. */
const argumentsMax = 4000

const timesOf = (approval: Pick<WaitingApproval, 'at' | 'deadline' | 'onTimeout'>): string[] => {
  const { at, deadline } = approval
  const now = Date.now()
  return [
    ...(at === null ? [] : [`  since ${new Date(at).toISOString()} (${spanText(now - at)})`]),
    ...(deadline === undefined ? [] : [`  until ${new Date(deadline).toISOString()} (${silenceText(approval, now)})`]),
  ]
}

/** Programs decide about calls of runs; a person finds the run by its name. */
const runLinesOf = (run: WaitingRun, first: boolean): string[] => [
  ...(first ? [] : ['']),
  `run ${printable(run.actor)}: ${approvalQuestion(run, argumentsMax)}`,
  ...timesOf(run),
  `  decide(${JSON.stringify(run.runId)}, { callId: ${JSON.stringify(run.callId)}, decision: 'approve' }) of its executable, or the command ladder.decide`,
]
