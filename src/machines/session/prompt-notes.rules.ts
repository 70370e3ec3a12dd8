/** What a prompt says besides the words of its sender. */
import { defaultTokens, type Tokens } from '../../contracts/reply.ts'
import { localTime } from './local-time.rules.ts'

/** Something that happened outside the conversation: a model was switched, a job has finished. `at` in ms since the epoch. */
type SystemEvent = { at: number; text: string; source?: 'heartbeat' }

type PromptNotes = {
  /** Somebody stopped the last run. */
  aborted?: boolean
  events?: readonly SystemEvent[]
  /** The last line. */
  hint?: string | undefined
  /** For the times of events; default: UTC. */
  timeZone?: string | undefined
  tokens?: Tokens
}

export const abortedNote = 'Note: your last answer was stopped by the user before it was complete. What you had begun may be half done.'

/** The prompt as the model reads it: notes, then events, then the text, then the hint. */
export const withNotes = (text: string, { aborted, events = [], hint = '', timeZone, tokens }: PromptNotes): string => {
  const lines = eventLines(events, timeZone, tokens)
  const parts = [aborted ? abortedNote : '', lines.join('\n'), text].filter((part) => part !== '').join('\n\n')
  return hint === '' || parts === '' ? parts + hint : `${parts}\n${hint}`
}

/** `System [2026-01-05 14:03:22 UTC]: the model is now x/y`, one line per event that is no noise of heartbeats. */
export const eventLines = (events: readonly SystemEvent[], timeZone = 'UTC', tokens: Tokens = defaultTokens): string[] =>
  events.filter((event) => !isNoise(event, tokens)).map(({ at, text }) => `System [${timeStamp(at, timeZone)}]: ${text.replace(/\s+/g, ' ').trim()}`)

const timeStamp = (at: number, timeZone: string): string => {
  const { year, month, day, hour, minute, second } = localTime(at, timeZone)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)} ${timeZone}`
}

/** Nothing, or what a heartbeat leaves behind: its acknowledgement, also in markup, or that one was due. */
const isNoise = ({ text, source }: SystemEvent, tokens: Tokens): boolean => {
  const bare = text.replace(/<[^<>]*>|[*_`~\s]/g, '').replace(/[.!]$/, '')
  const token = tokens.heartbeat.replace(/[*_`~\s]/g, '')
  return source === 'heartbeat' || bare === '' || bare === token || /^heartbeat (?:poll|wake)\b/i.test(text.trim())
}
