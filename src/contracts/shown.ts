/** What people see of what a model says, where that is not all of it: brought along by the extension that knows its words for people. */

/** @property heartbeat nobody has asked: the agent has looked whether there is something to say */
type Said = { heartbeat?: boolean | undefined }

export type ShownText = {
  /** @returns what of a finished text is to be seen; empty where nothing is */
  finished(text: string, said?: Said): string
  /** @returns what of a text that is still being written is to be seen: nothing of what may turn out to be hidden */
  growing(text: string): string
  /** Whether it is to be seen that an agent has looked and found nothing to say. */
  showsHeartbeats(agent: string): boolean
}

/** Where nobody says otherwise, people see what the model has said. */
export const allShown: ShownText = { finished: (text) => text, growing: (text) => text, showsHeartbeats: () => true }
