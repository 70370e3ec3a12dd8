/**
 * Whether the log follows its end. That is decided by what a person does and by nothing else: growth, pictures and folding never do, and neither does how
 * far away the end is.
 */
export type FollowEvent =
  /** The wheel, a finger, a key or the scroll bar, towards the beginning. */
  | { type: 'moved-up' }
  /** Something is being marked or looked for. */
  | { type: 'selected' }
  | { type: 'scrolled'; down: boolean; rest: number }
  | { type: 'latest' }
  | { type: 'said' }
  | { type: 'opened' }

/** Less than this from the end is the end, px: positions are rounded. */
const atEnd = 2

export const follows = (following: boolean, event: FollowEvent): boolean => {
  switch (event.type) {
    case 'moved-up':
    case 'selected':
      return false
    case 'scrolled':
      return following || (event.down && event.rest < atEnd)
    case 'latest':
    case 'said':
    case 'opened':
      return true
  }
}
