/** A conversation that a page has open: the effects of its chart, and what a page asks of it. */
import { createActor, fromPromise, waitFor } from 'xstate'
import type { ConversationEvent, HistoryRead } from './conversation.context.ts'
import { conversationMachine } from './conversation.machine.ts'

/** What a page does when the chart says so. The signal aborts when nobody wants the result any more. */
type ConversationEffects = {
  /** @param atLeast messages that were known, of which none is to be missing */
  readNewest(atLeast: number, signal: AbortSignal): Promise<HistoryRead>
  readEarlier(signal: AbortSignal): Promise<HistoryRead>
  look(signal: AbortSignal): Promise<void>
}

export type OpenConversation = {
  tell(event: ConversationEvent): void
  /** Older messages stand before those that are known. */
  readonly hasEarlier: boolean
  readonly readsEarlier: boolean
  /** The run that somebody has stopped, until it has ended. */
  readonly stopping: string | undefined
  /** Resolves when the session has been looked at as it is from now on, or is not looked at any more. */
  looked(): Promise<void>
  close(): void
}

/** @param changed called after each change */
export const openConversation = (effects: ConversationEffects, changed: () => void): OpenConversation => {
  const actor = createActor(
    conversationMachine.provide({
      actors: {
        readNewest: fromPromise(({ input, signal }) => effects.readNewest(input.messages, signal)),
        readEarlier: fromPromise(({ signal }) => effects.readEarlier(signal)),
        look: fromPromise(({ signal }) => effects.look(signal)),
      },
    }),
  )
  actor.subscribe(changed)
  actor.start()
  return {
    tell: (event) => actor.send(event),
    get hasEarlier() {
      return actor.getSnapshot().context.more
    },
    get readsEarlier() {
      return actor.getSnapshot().matches({ history: 'readingEarlier' })
    },
    get stopping() {
      return actor.getSnapshot().context.stopping
    },
    looked: async () => {
      actor.send({ type: 'look' })
      // One that was closed does not look any more.
      await waitFor(actor, (snapshot) => snapshot.matches({ session: 'resting' })).catch(() => undefined)
    },
    close: () => actor.stop(),
  }
}
