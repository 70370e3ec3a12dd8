/** Marks the counted turns in the output and in the subjects of their process. */

/** Printed before and after them. The trace of the disk contains what is printed as well (`test/crash/disk.c`). */
export const marks = { begin: 'begin\n', end: 'end\n' }
/** Subjects on NATS contain the name of the session. */
export const sessionPrefix = 'counted-'
