/** What people see of what a model says, where that is not all of it: brought along by the extension that knows its words for people. */

import type { References } from './references.ts'

/** @property heartbeat no one asked: the agent checked whether there is something to say @property references what the directives of the text refer to @property partial it was stopped */
export type Said = { heartbeat?: boolean | undefined; references?: References | undefined; partial?: boolean | undefined }

export type ShownText = {
  /** @returns what of a finished text is to be seen; empty where nothing is. Of one that was stopped, the same as right before */
  finished(text: string, said?: Said): string
  /** @returns what of a text that is still being written is to be seen: nothing of what may turn out to be hidden */
  growing(text: string): string
  /** Whether it is to be seen that an agent has looked and found nothing to say. */
  showsHeartbeats(agent: string): boolean
}

/** Where nobody says otherwise, people see what the model has said. */
export const allShown: ShownText = { finished: (text) => text, growing: (text) => text, showsHeartbeats: () => true }
