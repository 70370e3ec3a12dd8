/** How tool calls and waiting approvals look in the terminal. */
import { silenceText } from '../contracts/approval.rules.ts'
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import type { SessionOutput } from '../contracts/session.ts'
import type { Approval } from '../contracts/turn.ts'
import type { RunEvent } from '../runtime/index.ts'
import { hintCommand, type Place } from './hint.ts'
import { printable } from './output.ts'

type ToolEvent = Extract<SessionOutput, { type: 'tool' }>

const widthMax = 120
/** An error tells what to do, so more of it is shown. */
const errorMax = 500
/** A value on one line, cut where it gets long. */
export const shortText = (value: unknown, max = widthMax): string => {
  const text = printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  const cut = `${text.slice(0, max)}… (${text.length - max} characters more)`
  return text.length > max && cut.length < text.length ? cut : text
}

/** What a tool returned; an error in words. */
export const resultText = (output: unknown): string => {
  const error = (output as { error?: Partial<ErrorBody> | null } | null | undefined)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return shortText(output)
  return `${shortText(error.message, errorMax)} [${printable(error.code)}]`
}

/** `⚙ calculate {"expression":"17*23"}`, then `✓ calculate {"value":391}`. */
const toolCard = ({ name, phase, input, output, message }: ToolEvent): string => {
  switch (phase) {
    case 'requested':
      return `  ⚙ ${printable(name)} ${shortText(input)}`
    case 'progress':
      return `  … ${printable(name)} ${shortText(message ?? '')}`
    case 'completed':
      return `  ✓ ${printable(name)} ${shortText(output)}`
    default:
      return `  ✗ ${printable(name)} ${phase.replace('_', ' ')}${output === undefined ? '' : `: ${resultText(output)}`}`
  }
}

export const approvalQuestion = ({ name, input, why }: Pick<Approval, 'name' | 'input' | 'why'>, max?: number): string =>
  why === 'in_doubt'
    ? `nobody knows whether ${printable(name)} ${shortText(input, max)} ran before the crash: run it again?`
    : `may ${printable(name)} run with ${shortText(input, max)}?`

/** How `statecast approve` names a call: its id inside of the session, and the attempt where it is asked about again. */
export const callName = (sessionKey: string, { callId, attempt }: Pick<Approval, 'callId' | 'attempt'>): string =>
  `${callId.startsWith(`${sessionKey}/`) ? callId.slice(sessionKey.length + 1) : callId}${attempt > 1 ? `#${attempt}` : ''}`

export const approveCommand = (sessionKey: string, approval: Pick<Approval, 'callId' | 'attempt'>, place: Place): string =>
  hintCommand(place, 'approve', sessionKey, callName(sessionKey, approval))

/** Where nobody can be asked. */
export const approvalNeeded = (sessionKey: string, approval: Approval, place: Place): RuntimeError =>
  new RuntimeError(approval.why === 'in_doubt' ? 'tool_in_doubt' : 'unsupported', `a person has to decide: ${approvalQuestion(approval)}`, {
    hint: `decide with: ${approveCommand(sessionKey, approval, place)}   (--deny refuses it; or in a terminal: ${hintCommand(place, 'chat', sessionKey)}); ${silenceText(approval, Date.now()) ?? 'the turn waits until then'}`,
    data: { callId: approval.callId, attempt: approval.attempt, inputHash: approval.inputHash },
  })

/** What happens while an answer is not there yet: a tool at work, a pause before the next try, another model that is asked. */
export const progressText = (event: RunEvent): string | undefined => {
  switch (event.type) {
    case 'tool':
      return toolCard(event)
    case 'retry':
      return `  (${printable(event.error.message)}; trying again in ${Math.ceil(event.delayMs / 1000)} s)`
    case 'fallback':
      return `  (${fallbackText(event)})`
    default:
      return undefined
  }
}

/** Which model could not answer, why, and which one is asked instead. */
const fallbackText = ({ attempts, model }: Extract<RunEvent, { type: 'fallback' }>): string => {
  const { model: failed = '', reason = '' } = attempts.at(-1) ?? {}
  return `${printable(failed)} cannot answer (${printable(reason)}); asking ${printable(model)}`
}
