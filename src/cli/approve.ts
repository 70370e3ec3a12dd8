/** `statecast approve`: a person's decision about one tool call. */

import type { WaitingApproval } from '../api/index.ts'
import { type Client, followRun } from '../client/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { withSession } from './address.ts'
import { printAnswer } from './answer.ts'
import { approvalNeeded, approveCommand, callName, progressText, shortText } from './cards.ts'
import { connect } from './connect.ts'
import { followedFrom } from './follow.ts'
import type { Options } from './globals.ts'
import type { Place } from './hint.ts'
import { dim, exitCodes, note, print, printable, printJson } from './output.ts'

type ApproveOptions = Options<{ deny?: boolean; always?: boolean; note?: string; by: string; wait?: boolean }>

export const approve = async (options: ApproveOptions, key: string, call: string): Promise<number> => {
  // Only the conversation that is decided about goes on.
  const client = await connect(options, { look: true })
  try {
    const waiting = await withSession(key, async (sessionKey) => (await listOf(client, sessionKey)).approvals)
    const approval = chosen(waiting, key, call, options)
    const { sessionKey, callId, inputHash, attempt } = approval
    const decision = options.deny ? 'deny' : 'approve'
    const decide = (): Promise<{ seq: number }> =>
      client.command('approvals.resolve', {
        sessionKey,
        callId,
        inputHash,
        attempt,
        decision,
        ...definedOf({ remember: options.always && !options.deny ? 'session' : undefined }),
        by: options.by,
        note: options.note,
      })
    const line = `${decision === 'approve' ? 'approved' : 'refused'}: ${printable(approval.name)} ${shortText(approval.input)}`
    // Without a node the call runs in this process, which therefore must not end before it.
    if (options.wait || client.url === undefined) {
      if (!options.json) note(line)
      return await untilAnswered(client, options, approval, waiting, decide)
    }
    const { seq } = await decide()
    if (options.json) printJson({ sessionKey, callId, decision, seq })
    else print(line)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const listOf = (client: Client, sessionKey: string): Promise<{ approvals: WaitingApproval[] }> => client.command('approvals.list', { sessionKey })

/** The id alone is not enough where a call was asked about again: a yes to the first attempt is none to the second. */
const chosen = (waiting: WaitingApproval[], key: string, call: string, place: Place): WaitingApproval => {
  const named = waiting.find((approval) => call === callName(approval.sessionKey, approval) || (call === approval.callId && approval.attempt === 1))
  if (named) return named
  const again = waiting.find((approval) => [callName(approval.sessionKey, { ...approval, attempt: 1 }), approval.callId].includes(call))
  if (again)
    throw new RuntimeError('conflict', 'this call is asked about again: nobody knows whether it ran before a crash', {
      field: 'call',
      hint: `to run it again: ${approveCommand(again.sessionKey, again, place)}   (--deny tells the model that nobody knows)`,
    })
  throw new RuntimeError('not_found', `no call '${call.slice(0, 200)}' of '${key.slice(0, 80)}' waits for a person`, {
    field: 'call',
    hint:
      waiting.length === 0
        ? 'nothing waits there: it may have been decided already'
        : `it may have been decided already; what waits: ${waiting.map((one) => callName(one.sessionKey, one)).join(', ')}`,
  })
}

/** Follows the turn to its answer, or to where it waits for a person again. */
const untilAnswered = async (
  client: Client,
  options: ApproveOptions,
  approval: WaitingApproval,
  waiting: WaitingApproval[],
  decide: () => Promise<unknown>,
): Promise<number> => {
  const { sessionKey, callId, runId } = approval
  const { json = false } = options
  const followed = await followRun(client, { sessionKey, runId, resume: decide }, followedFrom(options))
  const others = new Map(waiting.filter((one) => one.callId !== callId).map((one) => [one.callId, one as Omit<WaitingApproval, 'at'>]))
  let settled = false
  return printAnswer(followed, {
    json,
    hear: (event) => {
      const progress = event.type === 'tool' && event.phase === 'requested' ? undefined : progressText(event)
      if (progress !== undefined && !json) note(dim(progress))
      if (event.type === 'approval' && event.callId !== callId) others.set(event.callId, { sessionKey, ...event })
      if (event.type === 'decided') others.delete(event.callId)
      if (event.type === 'tool' && event.callId === callId && event.phase !== 'requested' && event.phase !== 'progress') settled = true
      if (!settled || others.size === 0) return false
      for (const other of others.values())
        note(`${approvalNeeded(sessionKey, other, options).message}\n  ${approveCommand(sessionKey, other, options)}`)
      return true
    },
    interrupt: async () => {
      // A node goes on without us; in this process the turn is stopped rather than torn apart.
      if (client.url === undefined) await client.command('chat.abort', { sessionKey }).catch(() => undefined)
      followed.stop()
    },
  })
}
