/** How large files of messages may be, and how many; a page says so before anything is sent. */

/** Decoded bytes of one file. */
export const fileBytesMax = 5_000_000
/** What to do about a larger one. */
export const smallerFile = 'make it smaller (a smaller picture, fewer pages), or put it into the workspace of the agent, whose tools can read it'
/** Files of one message. */
export const filesMax = 10
