/** Commits in short: what the timeline draws and the list of events says, without folding anything. */
import { claimWord } from '../../../../src/actors/index.ts'
import type { ActorPath, AnyEvent, Commit, Input } from '../../../../src/contracts/journal.ts'
import { isRecord } from '../../../../src/contracts/record.rules.ts'
import { parentPath } from '../rules/lanes.rules.ts'
import type { Mark, MarkKind, Row } from './protocol.ts'

const wordsMax = 160
const results: Record<string, [MarkKind, string]> = {
  'xstate.promise.resolve': ['result', 'done'],
  'xstate.promise.reject': ['error', 'error'],
  'xstate.observable.next': ['result', 'next'],
  'xstate.observable.complete': ['result', 'done'],
  'xstate.observable.error': ['error', 'error'],
}

type Told = Record<string, unknown>
const textIn = (value: unknown, key: string): string | undefined => {
  const found = isRecord(value) ? value[key] : undefined
  return typeof found === 'string' && found !== '' ? found : undefined
}
const brief = (text: string): string => (text.length > wordsMax ? `${text.slice(0, wordsMax).toWellFormed()}…` : text)

/** Takes commits in their order: a later one is named by an earlier. */
export class Rows {
  /** Tools that a model asked for last, by the actor whose call it was. */
  readonly #calls = new Map<ActorPath, string[]>()
  #before: Commit | undefined

  take(commit: Commit): Row {
    const { seq, at, epoch, writer, states, crash, quarantine } = commit
    const claim = claimWord(commit, this.#before)
    // A host that stops in good order releases what is working. One that was at rest is claimed with its next message or timer, and nothing tells how its host ended.
    const killed = claim === 'taken over' && commit.inputs.every((input) => 'from' in input)
    this.#before = commit
    const marks = [...commit.inputs.map((input) => this.#mark(input)), ...(commit.refused ?? []).map(({ input, error }) => refusal(input, error))]
    if (crash) marks.push({ actor: '/', kind: 'error', event: 'crashed', words: brief(crash.message) })
    if (quarantine) marks.push({ actor: '/', kind: 'error', event: 'quarantined', words: brief(quarantine.message) })
    if (commit.revived) marks.push({ actor: '/', kind: 'message', event: 'revived', words: '' })
    if (marks.length === 0) marks.push(quiet(commit, claim))
    const names = this.#namesIn(states)
    const ended = endedIn(commit.notes ?? [])
    const begun = commit.inputs.flatMap((input) => ('event' in input && input.event.type === 'message' ? (textIn(input.event, 'id') ?? []) : []))
    return {
      seq,
      at,
      epoch,
      writer,
      marks,
      states,
      ...(killed && { killed }),
      ...(commit.released && { released: true as const }),
      ...(crash && { crash }),
      ...(quarantine && { quarantine }),
      ...(commit.refused && { refused: commit.refused.map(({ error }) => error) }),
      ...(names && { names }),
      ...(ended.length > 0 && { ended }),
      ...(begun.length > 0 && { begun }),
    }
  }

  #mark(input: Input): Mark {
    if ('timer' in input) return { actor: '/', kind: 'timer', event: 'timer', words: `number ${input.timer}` }
    const { event } = input
    if (!('from' in input)) return { actor: input.to, kind: 'message', event: event.type, words: wordsOf(event) }
    const [kind, name] = results[event.type] ?? ['result', event.type]
    const { data } = event
    if (isRecord(data) && data.kind === 'model') this.#calls.set(parentPath(input.from) ?? '/', callsIn(data).map(nameOfCall))
    return { actor: input.from, kind, event: name, words: resultWords(data ?? event) }
  }

  #namesIn(states: Row['states']): Row['names'] {
    const names: Record<ActorPath, string> = {}
    for (const path of Object.keys(states)) {
      const [, index] = /\/tool-(\d+)#\d+$/.exec(path) ?? []
      const name = index === undefined ? undefined : this.#calls.get(parentPath(path) ?? '/')?.[Number(index)]
      if (name) names[path] = name
    }
    return Object.keys(names).length > 0 ? names : undefined
  }
}

const refusal = (input: Input, error: { message: string }): Mark => ({
  actor: 'to' in input ? input.to : '/',
  kind: 'error',
  event: `refused ${'event' in input ? input.event.type : 'timer'}`,
  words: brief(error.message),
})

const quiet = ({ create, released, writer }: Commit, claim = 'claimed'): Mark => ({
  actor: '/',
  kind: 'timer',
  event: create ? 'created' : released ? 'released' : claim,
  words: `by ${writer}`,
})

const callsIn = (data: Told): Told[] => (Array.isArray(data.calls) ? data.calls.filter(isRecord) : [])
const nameOfCall = (call: Told): string => textIn(call, 'name') ?? ''

const resultWords = (data: unknown): string => {
  if (data instanceof Error) return brief(data.message)
  if (!isRecord(data)) return typeof data === 'string' ? brief(data) : data === undefined ? '' : brief(JSON.stringify(data) ?? '')
  if (data.kind === 'model') {
    const calls = callsIn(data).map(nameOfCall)
    const text = textIn(data, 'text')
    if (calls.length > 0) return brief(`${text ? `“${text}” and ` : ''}asks for ${calls.join(', ')}`)
    return text ? brief(`“${text}”`) : ''
  }
  if (data.kind === 'tool') return brief(`${textIn(data, 'name') ?? 'tool'}: ${plainWords(data.output)}`)
  return brief(textIn(data, 'message') ?? plainWords(data))
}

const plainWords = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value)?.slice(0, wordsMax * 2) ?? ''))

const wordsOf = (event: AnyEvent): string => {
  const text = textIn(event, 'text') ?? textIn(event, 'message')
  if (text) return brief(`“${text}”`)
  if (event.type === 'approve') {
    const by = textIn(event, 'by')
    return `${event.decision === 'deny' ? 'denied' : 'allowed'}${by ? ` by ${by}` : ''}`
  }
  const { type: _, ...rest } = event
  return Object.keys(rest).length === 0 ? '' : brief(plainWords(rest))
}

/** A run is over where its outcome is noted. */
const endedIn = (notes: readonly AnyEvent[]): string[] =>
  notes.flatMap(({ type, ended }) => (type === 'transcript' && Array.isArray(ended) ? ended.flatMap((one) => textIn(one, 'runId') ?? []) : []))
