/** How large files of messages may be, and how many; a page says so before anything is sent. */

/** Decoded bytes of one file. */
export const fileBytesMax = 5_000_000
/** Files of one message. */
export const filesMax = 10
