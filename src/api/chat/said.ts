/** Messages of a session that an event names, as those who watch it are told them. */
import { definedOf } from '../../contracts/defined.ts'
import type { ChatEvent, MessageEvent } from '../../contracts/gateway.ts'
import { type AssistantMessage, noUsage, typedText, type UserMessage } from '../../contracts/message.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ShownText } from '../../contracts/shown.ts'
import type { Session } from '../../runtime/index.ts'

/** Messages looked through for what belongs to a run: more than a turn has. */
export const messagesMax = 500

const messageOf = async (session: Session, id: string): Promise<UserMessage | undefined> => {
  const waiting = (await session.waiting()).find((message) => message.id === id)
  if (waiting) return waiting
  const said = await session.history({ limit: messagesMax })
  return said.findLast((message): message is UserMessage => message.role === 'user' && message.id === id)
}

/** A message that was taken in; nothing for what is asked beside the conversation. */
export const messageEvent = async (
  session: Session,
  { id, runId, status }: Extract<SessionOutput, { type: 'accepted' }>,
  timestamp: number,
): Promise<MessageEvent | undefined> => {
  if (status === 'side') return undefined
  const message = await messageOf(session, id)
  return { sessionKey: session.key, id, runId, status, timestamp, ...definedOf({ text: message && typedText(message), files: message?.files }) }
}

/** A message that was put into the conversation, as the one event that there is of it; nothing where it is gone by now. */
export const injectedEvent = async (
  session: Session,
  runId: string,
  { at, shown }: { at: number; shown: ShownText },
): Promise<ChatEvent | undefined> => {
  const said = await session.history({ limit: messagesMax })
  const message = said.findLast((one): one is AssistantMessage => one.role === 'assistant' && one.injected === true && one.id === `${runId}:1`)
  if (!message) return undefined
  const { id, label } = message
  const text = shown.finished(message.text, { heartbeat: false })
  return {
    runId,
    sessionKey: session.key,
    seq: 1,
    state: 'final',
    message: { role: 'assistant', content: [{ type: 'text', id, text }], timestamp: at },
    injected: true,
    ids: [],
    usage: noUsage,
    stopReason: 'injected',
    ...definedOf({ label }),
  }
}
