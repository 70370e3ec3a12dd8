/** `statecast approvals`: the tool calls that wait for a person, and how to answer each. */
import type { WaitingApproval } from '../api/index.ts'
import { approvalQuestion, approveCommand, callName } from './cards.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'

export const approvals = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { approvals: waiting, unreadable } = await client.command<{ approvals: WaitingApproval[]; unreadable: string[] }>('approvals.list', {})
    if (options.json) for (const approval of waiting) printJson({ ...approval, call: callName(approval.sessionKey, approval) })
    else if (waiting.length === 0) note('nothing waits for a person')
    else for (const [index, approval] of waiting.entries()) for (const line of linesOf(approval, options, index === 0)) print(line)
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
  ...(approval.at === null ? [] : [`  since ${new Date(approval.at).toISOString()} (${ago(Date.now() - approval.at)})`]),
  `  ${approveCommand(approval.sessionKey, approval, options)}   (--deny refuses it)`,
]

/** A person who approves has to see what: much more of it than where calls are shown in passing. */
const argumentsMax = 4000

const units: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]
const ago = (ms: number): string => {
  const [unit, size] = units.find(([, size]) => ms >= size) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`
}
