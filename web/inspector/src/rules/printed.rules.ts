/** A value as lines of text, each piece by what it is, so that it can be coloured: never as anything but text. */
import { isCut } from '../fold/cut.rules.ts'
import type { CutText } from '../fold/protocol.ts'

export type Piece = { kind: 'plain' | 'key' | 'text' | 'number'; text: string } | { kind: 'cut'; cut: CutText }

/** Lines beyond which nobody reads. */
const linesMax = 300

export type Printed = { pieces: Piece[]; isWhole: boolean }

export const printed = (value: unknown, max = linesMax): Printed => {
  const pieces: Piece[] = []
  let lines = 1
  const say = (kind: 'plain' | 'key' | 'text' | 'number', text: string): void => void pieces.push({ kind, text })
  const line = (depth: number): void => {
    lines++
    say('plain', `\n${'  '.repeat(depth)}`)
  }
  const print = (one: unknown, depth: number): void => {
    if (isCut(one)) {
      pieces.push({ kind: 'cut', cut: one })
      return
    }
    if (typeof one !== 'object' || one === null) {
      say(typeof one === 'string' ? 'text' : 'number', typeof one === 'string' ? JSON.stringify(one) : String(one))
      return
    }
    const entries = Object.entries(one).filter(([, part]) => part !== undefined)
    const [open, close] = Array.isArray(one) ? '[]' : '{}'
    if (entries.length === 0) {
      say('plain', `${open}${close}`)
      return
    }
    const isFlat = widthOf(one, 60) <= 60
    say('plain', `${open}${isFlat && !Array.isArray(one) ? ' ' : ''}`)
    for (const [index, [key, part]] of entries.entries()) {
      if (lines > max) {
        say('plain', ' …')
        break
      }
      if (!isFlat) line(depth + 1)
      if (!Array.isArray(one)) {
        say('key', /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key))
        say('plain', ': ')
      }
      // Signatures and encrypted reasoning are for their provider alone.
      if (key === 'providerMetadata' && !Array.isArray(one)) say('plain', `(${JSON.stringify(part).length} characters for the provider, not shown)`)
      else print(part, depth + 1)
      if (index < entries.length - 1) say('plain', isFlat ? ', ' : ',')
    }
    if (!isFlat) line(depth)
    say('plain', `${isFlat && !Array.isArray(one) ? ' ' : ''}${close}`)
  }
  print(value, 0)
  return { pieces, isWhole: lines <= max }
}

/** Characters that it takes in one line; more than `max` is only said to be more. */
const widthOf = (value: unknown, max: number): number => {
  if (isCut(value)) return max + 1
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let width = 2
  for (const [key, part] of Object.entries(value)) {
    width += (Array.isArray(value) ? 0 : key.length + 2) + widthOf(part, max) + 2
    if (width > max) break
  }
  return width
}
