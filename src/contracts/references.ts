/**
 * What the directives in an answer refer to, as far as it exists: files that may be sent and messages that may be answered (OC-78). The model call
 * records it with its text, so that the stream, the reply and the history agree about what is a directive and what is text.
 */

/** @property files paths relative to the workspace @property messages ids that channels gave their messages */
export type References = { files: string[]; messages: string[] }

export const noReferences: References = { files: [], messages: [] }

/** Those of two texts. */
export const joinReferences = (before: References, more: References): References => ({
  files: [...before.files, ...more.files],
  messages: [...before.messages, ...more.messages],
})
