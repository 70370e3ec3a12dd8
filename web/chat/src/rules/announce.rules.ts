/** What a screen reader says of a change: once, in a sentence, and never the text of an answer while it is written. */
import type { Answer, AskBlock, ChatView } from '../model.ts'
import { textOfAnswer } from './turns.rules.ts'

export type Announcement = { polite?: string; assertive?: string }

export const announced = (before: ChatView, after: ChatView): Announcement => {
  if (before.current.key !== after.current.key) return {}
  const question = asksIn(after).find((ask) => !asksIn(before).some((old) => old.approval.callId === ask.approval.callId))
  if (question) return { assertive: `A question: ${question.approval.name} waits for you. Alt A goes to it.` }
  const net = connectionSays(before, after)
  if (net) return { polite: net }
  const now = answersIn(after).at(-1)
  const old = answersIn(before).find(({ id }) => id === now?.id)
  if (!now) return {}
  if (!old) return now.state === 'running' && !before.current.loading ? { polite: 'Answering' } : {}
  if (now.state !== old.state) return { polite: endOf(now) }
  const failed = now.blocks.find(
    (block) =>
      block.type === 'tool' &&
      block.state === 'error' &&
      old.blocks.some((was) => was.type === 'tool' && was.callId === block.callId && was.state !== 'error'),
  )
  return failed?.type === 'tool' ? { polite: `${failed.name} failed` } : {}
}

const answersIn = ({ current }: ChatView): Answer[] => current.entries.filter((entry) => entry.kind === 'answer')
const asksIn = (view: ChatView): AskBlock[] =>
  answersIn(view).flatMap(({ blocks }) => blocks.filter((block) => block.type === 'ask' && block.decided === undefined)) as AskBlock[]

const isLeaving = ({ connection }: ChatView): boolean => connection.state === 'connected' && connection.leaving === true

const connectionSays = (before: ChatView, after: ChatView): string | undefined => {
  const [was, is] = [before.connection.state, after.connection.state]
  if (isLeaving(after) && !isLeaving(before)) return 'The node is shutting down'
  if (was === is) return undefined
  if (is === 'lost') return 'The connection is gone'
  return is === 'connected' && was === 'lost' ? 'Connected again' : undefined
}

const endOf = (answer: Answer): string => {
  if (answer.state === 'aborted') return 'Stopped'
  if (answer.state === 'error') return `The turn failed: ${answer.error?.message ?? 'no reason was given'}`
  const words = textOfAnswer(answer).split(/\s+/).filter(Boolean).length
  return `Answer complete, ${words} ${words === 1 ? 'word' : 'words'}`
}
