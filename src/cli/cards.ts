/** How tool calls and waiting approvals look in the terminal. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Approval, SessionOutput } from '../contracts/session.ts'
import { printable } from './output.ts'

type ToolEvent = Extract<SessionOutput, { type: 'tool' }>

const widthMax = 120
const short = (value: unknown): string => {
  const text = printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  return text.length > widthMax ? `${text.slice(0, widthMax)}…` : text
}

/** `⚙ calculate {"expression":"17*23"}`, then `✓ calculate {"value":391}`. */
export const toolCard = ({ name, phase, input, output, message }: ToolEvent): string => {
  switch (phase) {
    case 'requested':
      return `  ⚙ ${printable(name)} ${short(input)}`
    case 'progress':
      return `  … ${printable(name)} ${short(message ?? '')}`
    case 'completed':
      return `  ✓ ${printable(name)} ${short(output)}`
    default:
      return `  ✗ ${printable(name)} ${phase.replace('_', ' ')} ${short(output ?? '')}`
  }
}

export const approvalQuestion = ({ name, input, why }: Approval): string =>
  why === 'in_doubt'
    ? `nobody knows whether ${printable(name)} ${short(input)} ran before the crash: run it again?`
    : `may ${printable(name)} run with ${short(input)}?`

/** Where nobody can be asked. */
export const approvalNeeded = (sessionKey: string, approval: Approval): RuntimeError =>
  new RuntimeError(approval.why === 'in_doubt' ? 'tool_in_doubt' : 'unsupported', `a person has to decide: ${approvalQuestion(approval)}`, {
    hint: `decide in a terminal with: statecast chat --session ${sessionKey}   (or POST /rpc/approvals.resolve with callId '${approval.callId}', attempt ${approval.attempt} and inputHash '${approval.inputHash}'); the turn waits until then`,
  })
