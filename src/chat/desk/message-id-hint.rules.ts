/** The hint that gives the model the channel's id of a message, so that its answer can reply to that message. */

/** Brackets and line ends inside an id would hide where the hint ends. */
export const messageIdHint = (id: string): string => `[message id: ${id.replace(/[[\]\s]+/g, ' ').trim()}]`
