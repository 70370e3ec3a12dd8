/** How much of a trace is seen at once: commits are columns of one width, and a long trace is looked at through a window. */

export type Window = {
  /** px a commit. */
  perCommit: number
  /** The commit at the left edge, with fractions. */
  first: number
}

/** A column in which a mark and the beginning of a name can be read; the widest that is of use. */
const roomy = 28
const widest = 96
/** Beyond so many columns there is a strip of the whole trace above the lanes. */
export const stripFrom = 200

/** The whole trace, where its columns are wide enough; else as much of its end as can be read. */
export const fitted = (head: number, width: number): Window => {
  const whole = width / (Math.max(12, head) + 0.4)
  if (head <= stripFrom && whole >= 9) return { perCommit: Math.min(widest, whole), first: 1 }
  return atRest({ perCommit: roomy, first: head }, head, width)
}

/** Nothing is seen of what lies before the first commit, and little of what lies behind the last. */
export const atRest = ({ perCommit, first }: Window, head: number, width: number): Window => {
  const last = head + 1.4 - width / perCommit
  return { perCommit, first: Math.max(1, Math.min(first, last)) }
}

/** Moved by as little as brings the commit into sight. */
export const showing = (window: Window, seq: number, head: number, width: number): Window => {
  const columns = width / window.perCommit
  if (seq < window.first) return atRest({ ...window, first: seq - columns * 0.15 }, head, width)
  if (seq + 1 > window.first + columns) return atRest({ ...window, first: seq + 1 - columns * 0.85 }, head, width)
  return atRest(window, head, width)
}

/** @param x px from the left edge that stay where they are */
export const zoomed = ({ perCommit, first }: Window, by: number, x: number, head: number, width: number): Window => {
  const least = Math.min(roomy, width / (head + 1.4))
  const next = Math.max(least, Math.min(widest, perCommit * by))
  return atRest({ perCommit: next, first: first + x / perCommit - x / next }, head, width)
}

export const panned = (window: Window, commits: number, head: number, width: number): Window =>
  atRest({ ...window, first: window.first + commits }, head, width)

export const xOf = ({ perCommit, first }: Window, seq: number): number => (seq - first) * perCommit

export const seqAt = ({ perCommit, first }: Window, x: number): number => Math.floor(first + x / perCommit)
