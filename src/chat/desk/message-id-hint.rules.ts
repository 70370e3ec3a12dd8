/** How the model is told the id that a channel gave a message, so that an answer can point at it. */

/** Brackets and line ends inside an id would hide where the hint ends. */
export const messageIdHint = (id: string): string => `[message id: ${id.replace(/[[\]\s]+/g, ' ').trim()}]`
