/** What a state means to somebody who looks: one colour each, always with a shape. */

/** `clock`: it waits for a time. `rest`: nothing goes on. `gone`: it is not there. */
export type Mood = 'run' | 'wait' | 'doubt' | 'fail' | 'clock' | 'rest' | 'gone'

/** `running.answering`; regions of a parallel state are parted by a comma. */
export const stateText = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return value === undefined ? '' : JSON.stringify(value)
  return Object.entries(value)
    .map(([key, inner]) => {
      const below = stateText(inner)
      return below === '' ? key : `${key}.${below}`
    })
    .join(', ')
}

/** The innermost names: what fits into a narrow span. */
export const leafText = (value: unknown): string =>
  stateText(value)
    .split(', ')
    .map((part) => part.slice(part.lastIndexOf('.') + 1))
    .join(', ')

const ends = /(?:^|\.)(?:done|stopped|completed|cancelled|closed|denied|ended|aborted|finished|succeeded)$/
const fails = /(?:^|[.-])(?:failed|error|quarantined|corrupt|broken)$/
const clocks = /(?:^|\.)(?:retrying|cooling|backing-off|debouncing|pausing|sleeping|delayed)$/
const doubts = /(?:^|\.)(?:in-doubt|reported-in-doubt)$/

/** @param path the root rests where it awaits input, everything else waits for a person there */
export const moodOf = (value: unknown, path = '/'): Mood => {
  if (value === undefined || value === null) return 'gone'
  // A machine of one state.
  if (stateText(value) === '') return 'rest'
  const parts = stateText(value).split(', ')
  if (parts.some((part) => fails.test(part))) return 'fail'
  if (parts.some((part) => doubts.test(part))) return 'doubt'
  if (parts.some((part) => /(?:^|\.)awaiting-input$/.test(part) && (path !== '/' || part.includes('.')))) return 'wait'
  if (parts.some((part) => clocks.test(part))) return 'clock'
  if (parts.every((part) => ends.test(part) || part === 'awaiting-input' || /(?:^|\.)(?:idle|resting|ready)$/.test(part))) return 'rest'
  return 'run'
}

/** Whether it has come to its end, so that its span does. */
export const isOver = (value: unknown): boolean =>
  value === 'done' || value === 'stopped' || value === 'error' || (typeof value === 'string' && ends.test(value))
