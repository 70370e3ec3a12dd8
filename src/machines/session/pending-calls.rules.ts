/** Calls that wait for their client: what its results are matched with, and what becomes of those that nobody answers. */
import type { ClientTool, PendingCall } from '../../contracts/client-tools.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ToolMessage } from '../../contracts/message.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { AcceptedMessage, SessionEvent } from '../../contracts/session.ts'
import type { Prompt } from '../../contracts/turn.ts'

export type Pending = { calls: PendingCall[]; tools?: ClientTool[] }

/** Results that are none of a call that waits. */
export const answersNothing = (pending: Pending | undefined, event: { type: string }): boolean => {
  if (event.type !== 'message') return false
  const { toolResults } = event as Extract<SessionEvent, { type: 'message' }>
  return toolResults?.some(({ callId }) => !pending?.calls.some((call) => call.callId === callId)) === true
}

/** Each call that waited is closed before anything else is said: with its result, or with an error. */
export const resumed = (pending: Pending | undefined, { toolResults, greeting }: AcceptedMessage): Pick<Prompt, 'results' | 'mute'> => {
  if (pending === undefined) return {}
  const results = pending.calls.map(({ callId, modelCallId, name }): ToolMessage => {
    const given = toolResults?.find((one) => one.callId === callId)
    const message = { role: 'tool' as const, callId: modelCallId, name }
    return given ? { ...message, output: given.output, isError: given.isError === true } : { ...message, output: nobody, isError: true }
  })
  return { results, ...definedOf({ mute: toolResults && greeting ? (true as const) : undefined }) }
}
const nobody = { error: { code: 'tool_lost', message: 'the client that runs this tool gave no result' } }

/** Who gives results still has the tools. */
export const withClientTools = (profile: Profile, { toolResults }: AcceptedMessage, pending: Pending | undefined): Profile =>
  toolResults && pending?.tools && profile.clientTools === undefined ? { ...profile, clientTools: pending.tools } : profile

type Wishes = Pick<Profile, 'clientTools' | 'toolChoice' | 'format'>

/** A message with tools of its own, or a form of its answer, needs a turn that has them. */
export const wantsOtherTools = (wanted: Wishes, running: Wishes): boolean =>
  (wanted.clientTools !== undefined && wanted.clientTools.length > 0 && differ(wanted.clientTools, running.clientTools)) ||
  differ(wanted.toolChoice, running.toolChoice) ||
  differ(wanted.format, running.format)

const differ = (one: unknown, other: unknown): boolean => one !== other && JSON.stringify(one) !== JSON.stringify(other)

/** How a message is queued beside a turn that runs: what it wants of its own that turn would not have. */
export const modeBeside = (wanted: Profile, running: Profile | undefined): Profile['queueMode'] =>
  (wanted.queueMode === 'steer' || wanted.queueMode === 'steer-backlog') && running && wantsOtherTools(wanted, running)
    ? 'followup'
    : wanted.queueMode
