/** The answer of one run, from its history and from what was heard of it: by id, so that nothing stands there twice. */

import { definedOf } from '../../contracts/defined.ts'
import type { FileRef } from '../../contracts/file.ts'
import type { ChatBlock } from '../../contracts/gateway.ts'
import { addUsage, type Usage } from '../../contracts/message.ts'
import type { AnswerEnd, AnswerEntry, LiveRun, PastPart, PastResult, PastRun, ToolCard, ToolFacts, ViewBlock } from './chat-view.context.ts'
import { callIdOf, numberOf, placeOfCall } from './chat-view.context.ts'
import { share, shareList } from './share.rules.ts'

type Sources = { sessionKey: string; runId: string; past: PastRun | undefined; live: LiveRun | undefined }

/** What the model asked for, by its place in the message. */
type Called = { callId: string; nth: number; name: string; input?: unknown; result?: PastResult }
/** One message of the run, or of somebody who joined it. `place` is among all of them. */
type Piece = { id: string; place: number; words: ViewBlock[]; calls: Map<string, Called> }

export const answerOf = (sources: Sources, before: AnswerEntry | undefined): AnswerEntry => {
  const { runId, past, live } = sources
  const state = live?.state ?? (past?.end ? states[past.end.status] : isPartial(past) ? 'stopped' : 'completed')
  const old = new Map(before?.blocks.map((block) => [block.key, block]))
  const blocks = blocksOf(sources, state === 'running').map((block) => share<ViewBlock>(old.get(block.key), block))
  const shared = shareList(before?.blocks ?? [], blocks)
  const at = Math.min(past?.at ?? Number.POSITIVE_INFINITY, live?.at ?? Number.POSITIVE_INFINITY)
  const entry: AnswerEntry = {
    type: 'answer',
    key: `answer ${runId}`,
    runId,
    state,
    blocks: shared,
    ...endOf(past),
    ...live?.end,
    ...(Number.isFinite(at) ? { at } : {}),
  }
  // Long answers are not compared letter by letter.
  return before?.blocks === shared ? share(before, entry) : entry
}

const states = { completed: 'completed', failed: 'failed', cancelled: 'stopped' } as const

const isPartial = (past: PastRun | undefined): boolean => {
  const last = past?.parts.at(-1)
  return last?.type === 'message' && last.message.partial === true
}

/** As its run says it, or the sums of its messages. */
const endOf = (past: PastRun | undefined): AnswerEnd => {
  if (past?.end) {
    const { model, usage, costUsd, durationMs, error } = past.end
    return definedOf({ model, usage, costUsd, durationMs, error })
  }
  let end: {
    injected?: true | undefined
    label?: string | undefined
    model?: string | undefined
    usage?: Usage | undefined
    costUsd?: number | undefined
    durationMs?: number | undefined
  } = {}
  const sum = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? (a ?? b) : a + b)
  for (const part of past?.parts ?? []) {
    if (part.type !== 'message') continue
    const { model, usage, costUsd, durationMs, injected, label } = part.message
    end = {
      injected,
      label,
      model: model ?? end.model,
      usage: usage && end.usage ? addUsage(end.usage, usage) : (usage ?? end.usage),
      costUsd: sum(end.costUsd, costUsd),
      durationMs: sum(end.durationMs, durationMs),
    }
  }
  return definedOf(end)
}

const blocksOf = (sources: Sources, isRunning: boolean): ViewBlock[] => {
  const { sessionKey, past, live } = sources
  const pieces = new Map<string, Piece>()
  // What the history has of a message is all of it.
  for (const piece of pastPieces(sources, past?.parts ?? [])) pieces.set(piece.id, piece)
  for (const piece of livePieces(sources, live?.content ?? [])) {
    const known = pieces.get(piece.id)
    if (!known) pieces.set(piece.id, piece)
    else for (const [callId, called] of piece.calls) if (!known.calls.has(callId)) known.calls.set(callId, called)
  }
  for (const callId of live?.tools.keys() ?? []) {
    const { messageId, nth } = placeOfCall(sessionKey, callId) ?? { messageId: callId, nth: 1 }
    const piece = pieces.get(messageId) ?? {
      id: messageId,
      place: numberOf(sources.runId, messageId) ?? Number.MAX_SAFE_INTEGER,
      words: [],
      calls: new Map(),
    }
    if (!piece.calls.has(callId)) piece.calls.set(callId, { callId, nth, name: '' })
    pieces.set(messageId, piece)
  }
  return [...pieces.values()]
    .sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1))
    .flatMap(({ words, calls }) => [
      ...words,
      ...[...calls.values()]
        .sort((a, b) => a.nth - b.nth || (a.callId < b.callId ? -1 : 1))
        .map((called) => cardOf(called, live?.tools.get(called.callId), isRunning)),
    ])
}

const pastPieces = ({ sessionKey, runId }: Sources, parts: readonly PastPart[]): Piece[] => {
  const placed = places(runId)
  return parts.map((part) => {
    if (part.type === 'joined') return joinedPiece(part, placed(part.id, true))
    const { id, text, reasoning = '', calls, cut } = part.message
    return {
      id,
      place: placed(id),
      words: [...wordsOf('thinking', id, reasoning, { cut: cut?.reasoning }), ...wordsOf('text', id, text, { cut: cut?.text })],
      calls: new Map(
        calls.map(({ name, input }, index): [string, Called] => {
          const callId = callIdOf(sessionKey, id, index + 1)
          return [callId, { callId, nth: index + 1, name, input, ...definedOf({ result: part.results[index] }) }]
        }),
      ),
    }
  })
}

const livePieces = ({ sessionKey, runId }: Sources, content: readonly ChatBlock[]): Piece[] => {
  const placed = places(runId)
  const pieces = new Map<string, Piece>()
  for (const block of content) {
    const { id } = block
    if (block.type === 'joined') {
      pieces.set(id, joinedPiece(block, placed(id, true)))
      continue
    }
    const piece: Piece = pieces.get(id) ?? { id, place: placed(id), words: [], calls: new Map() }
    pieces.set(id, piece)
    if (block.type === 'tool') {
      const { callId, name } = block
      piece.calls.set(callId, { callId, name, nth: placeOfCall(sessionKey, callId)?.nth ?? piece.calls.size + 1 })
    } else {
      const nth = piece.words.filter(({ type }) => type === block.type).length
      piece.words.push(...(block.type === 'text' ? wordsOf('text', id, block.text, { nth }) : wordsOf('thinking', id, block.thinking, { nth })))
    }
  }
  return [...pieces.values()]
}

/** Messages are numbered by their run; what is not stands behind the one that it came after. */
const places = (runId: string): ((id: string, isJoined?: boolean) => number) => {
  let last = 0
  let between = 0
  return (id, isJoined = false) => {
    const number = isJoined ? undefined : numberOf(runId, id)
    if (number !== undefined) [last, between] = [number, 0]
    else between = (1 + between) / 2
    return last + between
  }
}

type Joined = { id: string; text: string; files?: readonly FileRef[] | undefined; cut?: number | undefined }
const joinedPiece = ({ id, text, files, cut }: Joined, place: number): Piece => ({
  // A message of a person may have any name, also that of an answer.
  id: `joined ${id}`,
  place,
  words: [{ type: 'joined', key: `joined ${id}`, id, text, ...definedOf({ files, cut }) }],
  calls: new Map(),
})

const wordsOf = (
  type: 'thinking' | 'text',
  id: string,
  words: string,
  { nth = 0, cut }: { nth?: number; cut?: number | undefined } = {},
): ViewBlock[] => {
  if (words === '') return []
  const key = `${type} ${id} ${nth}`
  return [type === 'text' ? { type, key, id, text: words, ...definedOf({ cut }) } : { type, key, id, thinking: words, ...definedOf({ cut }) }]
}

/** One that a newer message overtook has not failed. */
const endOfCall = ({ isError, output }: PastResult): ToolCard['state'] => {
  if (!isError) return 'done'
  return (output as { error?: { code?: unknown } } | null)?.error?.code === 'tool_skipped' ? 'skipped' : 'error'
}

const cardOf = ({ callId, name, input, result }: Called, facts: ToolFacts | undefined, isRunning: boolean): ToolCard => {
  const heard = facts?.state?.value
  const ended = heard === undefined || heard === 'running' ? result && endOfCall(result) : heard
  const state = ended ?? (isRunning ? (heard ?? 'called') : 'called')
  const output = facts?.output ? facts.output.value : result?.output
  return {
    type: 'tool',
    key: `tool ${callId}`,
    callId,
    name: name || facts?.name?.value || (result?.name ?? ''),
    state,
    ...definedOf({
      input: facts?.input ? facts.input.value : input,
      progress: state === 'running' ? facts?.progress?.value : undefined,
      output,
      cut: facts?.output ? cutIn(output) : (result?.cut?.output ?? cutIn(output)),
      message: facts?.message?.value,
    }),
  }
}

/** Events say at the end of an output how long it is, where they have cut it. */
const cutIn = (output: unknown): number | undefined => {
  const [, characters] = (typeof output === 'string' && /… \((\d{1,12}) characters in all\)$/.exec(output)) || []
  return characters === undefined ? undefined : Number(characters)
}
