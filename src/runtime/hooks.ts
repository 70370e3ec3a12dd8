/** The hooks of extensions: some observe, at once and apart from each other; some change, one after another by their priority. */
import { z } from 'zod'
import type { Environment } from '../contracts/environment.ts'
import { errorBody, messageOf, RuntimeError } from '../contracts/errors.ts'
import type { Outgoing, OutgoingMessage, ToolResult, TurnHooks, TurnPlace } from '../contracts/hooks.ts'
import { parseInput } from '../contracts/parse.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { plainJson } from '../tools/index.ts'

type Told<Type extends SessionOutput['type']> = { session: string } & Extract<SessionOutput, { type: Type }>

/** What each observer is told. */
type Observed = {
  received: Told<'accepted'>
  sent: Told<'final'>
  runEnd: Told<'final' | 'error' | 'aborted'>
  sessionStart: { session: string; reason: string }
  sessionEnd: { session: string; reason: string }
  compaction: Told<'compacted'>
  afterTool: Told<'tool'>
  gatewayStart: Record<string, never>
  gatewayStop: Record<string, never>
}

export const observed: readonly (keyof Observed)[] = [
  'received',
  'sent',
  'runEnd',
  'sessionStart',
  'sessionEnd',
  'compaction',
  'afterTool',
  'gatewayStart',
  'gatewayStop',
]

export type Hooks = {
  /** The higher, the earlier it changes something; default 0. Of equals the extension that is named first is the first. */
  priority?: number
  /** Told of what has happened; what one throws, or does not come to an end with, disturbs nothing. */
  observe?: { [Name in keyof Observed]?: (event: Observed[Name]) => unknown }
  /** What the model is told besides in this turn, after its instructions. It stands in the journal with the first answer. */
  beforeAgent?(turn: TurnPlace): string | undefined | Promise<string | undefined>
  /** What is kept of a result in its place; undefined leaves it. It answers at once: a promise is refused. */
  toolResult?(result: ToolResult): unknown
  /** What people get of what a model says, and what stands in the history; undefined leaves it. Deltas are held back for it. */
  outgoing?(message: OutgoingMessage): OutgoingDecision | undefined | Promise<OutgoingDecision | undefined>
}

/** With `cancel` nothing is sent, and nobody further is asked. */
type OutgoingDecision = { text?: string; reasoning?: string } | { cancel: true; reason?: string }

type Hooked = { name: string; hooks?: Hooks }

/** ms that an observer, and a context of a turn, may take. */
const hookMs = 10_000
const contextCharsMax = 64 * 1024
const outputBytesMax = 1024 * 1024

const textCharsMax = 1024 * 1024
const Decision = z
  .strictObject({
    text: z.string().max(textCharsMax).optional(),
    reasoning: z.string().max(textCharsMax).optional(),
    cancel: z.literal(true).optional(),
    reason: z.string().max(1000).optional(),
  })
  .optional()

const reasonOf = ({ reason }: { reason?: string | undefined }) => (reason === undefined ? {} : { reason })

const notLookedAt = (extension: string, cause: unknown): RuntimeError =>
  new RuntimeError('internal', `the model has answered; the extension '${extension}' failed to look at it: ${messageOf(cause)}`, {
    cause,
    hint: `mend outgoing() of the extension '${extension}'`,
  })

/** @param extensions those that are there at the moment */
export const hooksOf = (extensions: () => readonly Hooked[], { clock, log }: Pick<Environment, 'clock' | 'log'>) => {
  const inOrder = (): (Hooked & { hooks: Hooks })[] => {
    const found: (Hooked & { hooks: Hooks })[] = []
    for (const one of extensions()) if (one.hooks !== undefined) found.push({ ...one, hooks: one.hooks })
    return found.sort((a, b) => (b.hooks.priority ?? 0) - (a.hooks.priority ?? 0))
  }

  const inTime = async <Result>(work: Promise<Result>): Promise<Result> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = clock.setTimeout(() => reject(new RuntimeError('timeout', `it did not end within ${hookMs} ms`)), hookMs)
    return Promise.race([work, promise]).finally(() => clock.clearTimeout(timer))
  }
  const failed = (extension: string, hook: string, error: unknown): void =>
    log.error({ extension, hook, error: errorBody(error) }, 'a hook of an extension failed; the rest goes on without it')

  const tell = <Name extends keyof Observed>(name: Name, event: Observed[Name]): void => {
    for (const one of extensions()) {
      const { [name]: observer } = one.hooks?.observe ?? {}
      if (observer !== undefined) inTime((async () => observer(event))()).catch((error: unknown) => failed(one.name, name, error))
    }
  }

  const textsOf = async (asked: readonly (Hooked & { hooks: Hooks })[], place: TurnPlace): Promise<string | undefined> => {
    const texts: string[] = []
    for (const { name, hooks } of asked)
      try {
        const text = await inTime((async () => hooks.beforeAgent?.(place))())
        if (typeof text === 'string' && text.trim() !== '') texts.push(text.slice(0, contextCharsMax).toWellFormed())
      } catch (error) {
        failed(name, 'beforeAgent', error)
      }
    return texts.length === 0 ? undefined : texts.join('\n\n')
  }

  /** One that is to take something out of a message and fails must not let it pass. */
  const lookedAt = async (asked: readonly (Hooked & { hooks: Hooks })[], { text, reasoning, ...place }: OutgoingMessage): Promise<Outgoing> => {
    const left: Outgoing = { text, reasoning, changes: [] }
    for (const { name: extension, hooks } of asked) {
      const decision = await inTime((async () => hooks.outgoing?.({ ...place, text: left.text, reasoning: left.reasoning }))())
        .then((given) => parseInput(Decision, given, 'outgoing() answers with { text, reasoning }, { cancel: true, reason } or nothing'))
        .catch((cause: unknown) => {
          throw notLookedAt(extension, cause)
        })
      if (decision === undefined) continue
      if (decision.cancel) return { text: '', reasoning: '', changes: [...left.changes, { extension, did: 'cancelled', ...reasonOf(decision) }] }
      const next = { text: decision.text?.toWellFormed() ?? left.text, reasoning: decision.reasoning?.toWellFormed() ?? left.reasoning }
      if (next.text === left.text && next.reasoning === left.reasoning) continue
      Object.assign(left, next)
      left.changes.push({ extension, did: 'changed' })
    }
    return left
  }

  const turn: TurnHooks = {
    beforeAgent() {
      const asked = inOrder().filter(({ hooks }) => hooks.beforeAgent !== undefined)
      return asked.length === 0 ? undefined : (place) => textsOf(asked, place)
    },
    toolResult(result) {
      let { output } = result
      for (const { name, hooks } of inOrder()) {
        if (hooks.toolResult === undefined) continue
        // One that is to take something out of a result and fails must not let it pass.
        try {
          const changed = hooks.toolResult({ ...result, output })
          if (changed instanceof Promise) {
            changed.catch(() => undefined)
            throw new Error('it is asynchronous, and nobody waits for it')
          }
          if (changed !== undefined) output = plainJson(result.tool, changed, outputBytesMax)
        } catch (cause) {
          throw new RuntimeError(
            'tool_output',
            `tool "${result.tool}" has run; the extension '${name}' failed to look at its result: ${messageOf(cause)}`,
            {
              cause,
              hint: `mend toolResult() of the extension '${name}'`,
            },
          )
        }
      }
      return output
    },
    outgoing() {
      const asked = inOrder().filter(({ hooks }) => hooks.outgoing !== undefined)
      return asked.length === 0 ? undefined : (message) => lookedAt(asked, message)
    },
  }

  return {
    turn,
    tell,
    /** Also where nobody has needed it for longer than it is kept. */
    deleted: (session: string): void => tell('sessionEnd', { session, reason: 'deleted' }),
    /** @param first whether it is the first commit of its session */
    hear(session: string, event: SessionOutput, first: boolean): void {
      if (first && event.type === 'accepted') tell('sessionStart', { session, reason: 'new' })
      if (event.type === 'accepted') tell('received', { session, ...event })
      else if (event.type === 'final' || event.type === 'error' || event.type === 'aborted') {
        if (event.type === 'final') tell('sent', { session, ...event })
        tell('runEnd', { session, ...event })
      } else if (event.type === 'compacted') tell('compaction', { session, ...event })
      else if (event.type === 'tool' && event.phase !== 'requested' && event.phase !== 'progress') tell('afterTool', { session, ...event })
      else if (event.type === 'reset') {
        tell('sessionEnd', { session, reason: event.reason })
        tell('sessionStart', { session, reason: event.reason })
      }
    },
  }
}
