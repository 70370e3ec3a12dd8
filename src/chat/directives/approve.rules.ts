/** Tool calls that wait for a person, on a channel: how they are asked about there, and what `/approve` answers. Pure. */
import { silenceText } from '../../contracts/approval.rules.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Origin } from '../../contracts/reply.ts'
import type { SessionEvent } from '../../contracts/session.ts'
import type { Approval } from '../../contracts/turn.ts'

/** Which call, by its code, and what is said to it. */
export type Verdict = { code?: string; decision: 'once' | 'always' | 'deny' }
export type Decision = Extract<SessionEvent, { type: 'approve' }>

const words: Record<string, Verdict['decision']> = {
  once: 'once',
  yes: 'once',
  allow: 'once',
  'allow-once': 'once',
  always: 'always',
  'allow-always': 'always',
  deny: 'deny',
  no: 'deny',
}

/** `/approve CODE once`, or without the code where only one call waits. */
export const verdictIn = (argument: string): Verdict | undefined => {
  const [first = '', second, ...more] = argument.toLowerCase().split(/\s+/)
  const decision = words[second ?? first]
  if (decision === undefined || more.length > 0) return undefined
  return { decision, ...definedOf({ code: second === undefined ? undefined : first }) }
}

/** Short enough to be typed. Each attempt at a call is a question of its own (FNV-1a). */
const codeOf = ({ callId, attempt }: Pick<Approval, 'callId' | 'attempt'>): string => {
  let hash = 0x811c9dc5
  for (const char of `${callId}#${attempt}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(36).padStart(7, '0')
}

const inputCharsMax = 500
const shown = (input: unknown): string => {
  const text = JSON.stringify(input) ?? ''
  if (text === '{}') return ''
  return `: ${text.length <= inputCharsMax ? text : `${text.slice(0, inputCharsMax).toWellFormed()} … (${text.length - inputCharsMax} characters more)`}`
}
const named = (approval: Approval): string => `${approval.name}${shown(approval.input)}`

/** A message stands for long, so it counts from when it was sent. */
const unanswered = (approval: Approval): string => {
  const silence = approval.at === undefined ? undefined : silenceText(approval, approval.at)
  return silence === undefined ? '' : ` Without an answer: ${silence}.`
}

/** What people on a channel are told of a call that waits for one of them. */
export const questionText = (approval: Approval): string =>
  [
    approval.why === 'in_doubt'
      ? `A crash cut a tool off, and nobody knows whether it has run. May it run again? ${named(approval)}`
      : `May this tool run? ${named(approval)}`,
    `Answer /approve ${codeOf(approval)} once, always or deny.${unanswered(approval)}`,
  ].join('\n')

type Answered = { line: string; decision?: Decision }

/** @param invalid what was written instead of a verdict */
export const decide = (
  { value, invalid }: { value?: Verdict | undefined; invalid?: string | undefined },
  approvals: readonly Approval[],
  origin: Origin | undefined,
): Answered => {
  const waiting = approvals.map((one) => `/approve ${codeOf(one)} once|always|deny for ${named(one)}`)
  const list = waiting.length === 0 ? 'No tool call waits for approval.' : `Waiting: ${waiting.join('\n')}`
  if (invalid !== undefined) return { line: `Approval: '${invalid}' is not an answer; say once, always or deny. ${list}` }
  if (value === undefined || approvals.length === 0) return { line: list }
  if (origin?.approves === false) return { line: 'Approval: you may not decide about tool calls.' }
  const { code, decision } = value
  const fitting = approvals.filter((one) => code === undefined || codeOf(one) === code || one.callId.toLowerCase() === code)
  const [approval] = fitting
  if (approval === undefined) return { line: `Approval: no call '${code}' waits. ${list}` }
  if (fitting.length > 1) return { line: `Approval: more than one call waits. ${list}` }
  const { callId, inputHash, attempt } = approval
  const who = origin?.sender ?? origin?.to
  return {
    line: `${approval.name}: ${decision === 'deny' ? 'denied' : decision === 'always' ? 'allowed from now on in this conversation' : 'allowed once'}.`,
    decision: {
      type: 'approve',
      callId,
      inputHash,
      attempt,
      decision: decision === 'deny' ? 'deny' : 'approve',
      ...definedOf({ remember: decision === 'always' ? ('session' as const) : undefined, by: who && `${origin?.channel}: ${who}`.slice(0, 200) }),
    },
  }
}
