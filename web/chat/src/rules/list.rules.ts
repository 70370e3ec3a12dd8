/** The list of conversations: its groups, and what is found in it. */
import type { Conversation } from '../model.ts'
import { isToday } from './format.rules.ts'

export type Group = { name: string; conversations: Conversation[] }

export const groupsOf = (conversations: readonly Conversation[], words: string, now: number): Group[] => {
  const found = conversations.filter((one) => has(one.title, words) || has(one.words ?? '', words))
  const groups: Group[] = [
    { name: 'Needs you', conversations: found.filter((one) => one.needsYou) },
    { name: 'Today', conversations: found.filter((one) => !one.needsYou && (one.at === undefined || isToday(one.at, now))) },
    { name: 'Earlier', conversations: found.filter((one) => !one.needsYou && one.at !== undefined && !isToday(one.at, now)) },
  ]
  return groups.filter((group) => group.conversations.length > 0)
}

const has = (text: string, words: string): boolean => text.toLowerCase().includes(words.trim().toLowerCase())

/** A text in which the words that were looked for are told apart. */
export const markedIn = (text: string, words: string): { text: string; hit: boolean }[] => {
  const sought = words.trim().toLowerCase()
  const at = sought === '' ? -1 : text.toLowerCase().indexOf(sought)
  if (at < 0) return [{ text, hit: false }]
  const end = at + sought.length
  return [
    { text: text.slice(0, at), hit: false },
    { text: text.slice(at, end), hit: true },
    { text: text.slice(end), hit: false },
  ].filter((part) => part.text !== '')
}

/** What a state means to somebody who looks at it: it runs, it waits for a person, it failed, or nothing goes on. */
export type Mood = 'run' | 'wait' | 'fail' | 'rest'

export const moodOf = (state: string): Mood => {
  if (/^running\b.*\bawaiting-input$/.test(state)) return 'wait'
  if (/^(?:failed|quarantined)\b/.test(state)) return 'fail'
  return /^(?:idle|awaiting-input|completed|cancelled|closed)\b/.test(state) ? 'rest' : 'run'
}
