/** `statecast trace`: the journal of one actor, one event a line. */
import { setTimeout as pause } from 'node:timers/promises'
import type { TraceEntry } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ModelCallOutput } from '../contracts/model-call.ts'
import type { TracePage } from '../runtime/index.ts'
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { onInterrupt } from './interrupt.ts'
import { exitCodes, note, print, printable, printJson, stateText } from './output.ts'

export type TraceOptions = Globals & { follow?: boolean; from?: number; timing?: boolean }

/** A journal is followed by asking again: works for every kind of actor, and misses nothing. */
const askEveryMs = 250

export const trace = async (options: TraceOptions, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  const ended = new AbortController()
  const stopListening = onInterrupt(() => ended.abort())
  try {
    return await withAddress(key, async ({ kind, id }) => {
      let from = options.from ?? 1
      let setAside = false
      for (;;) {
        const page = await client.command<TracePage>('trace.read', { kind, id, from, limit: 1000 })
        for (const entry of page.entries) {
          tellEntry(options, entry)
          if (entry.event === 'quarantined' || entry.event === 'revived') setAside = entry.event === 'quarantined'
        }
        if (page.damage) throw damaged(page.damage)
        from = page.next ?? Math.max(from, page.seq + 1)
        if (page.next !== null) continue
        if (setAside && !options.json) note(`quarantined: once the cause is fixed, ${hintCommand(options, 'revive', key)} resumes it`)
        setAside = false
        if (!options.follow) return exitCodes.fine
        if (client.url === undefined) {
          note('no node is running on this data, so nothing more will happen: start one with statecast up')
          return exitCodes.fine
        }
        await pause(askEveryMs, undefined, { signal: ended.signal })
      }
    })
  } catch (error) {
    if (ended.signal.aborted) return exitCodes.interrupted
    throw error
  } finally {
    stopListening()
    await client.close()
  }
}

export const tellEntry = ({ json }: Globals, entry: TraceEntry): void => {
  if (json) printJson(entry)
  else print(line(entry))
}

/** What stands before it has been shown. */
const damaged = ({ seq, error }: NonNullable<TracePage['damage']>): RuntimeError =>
  RuntimeError.from({ ...error, message: `from commit ${seq} on: ${error.message}` })

/** Which model was asked, who said so, and where its credential came from. */
const chosenIn = (detail: TraceEntry['detail']): string[] => {
  const chosen = (detail as { data?: Partial<ModelCallOutput> } | undefined)?.data?.chosen
  if (chosen === undefined) return []
  const { model, source, credential } = chosen
  const why = [source && `by ${source}`, credential && `credential from ${credential}`].filter(Boolean).join(', ')
  return [`asked ${printable(model)}${why === '' ? '' : ` (${why})`}`]
}

/** Which extensions have changed what the model said, or kept it from people. */
const outgoingIn = (detail: TraceEntry['detail']): string[] => {
  const { outgoing = [] } = (detail as { data?: Partial<ModelCallOutput> } | undefined)?.data ?? {}
  return outgoing.map(({ extension, did, reason }) => `${did} by ${printable(extension)}${reason === undefined ? '' : ` (${printable(reason)})`}`)
}

/** `4 2026-…Z /turn#1/model#2 resolved → /: awaiting-input` */
const line = ({ seq, at, actor, event, states, error, detail }: TraceEntry): string =>
  [
    `${seq}`,
    new Date(at).toISOString(),
    printable(actor),
    printable(event),
    ...chosenIn(detail),
    ...outgoingIn(detail),
    ...(error ? [`error ${error.code}: ${printable(error.message)}`] : []),
    ...(states && Object.keys(states).length > 0
      ? [
          `→ ${Object.entries(states)
            .map(([path, state]) => `${printable(path)}: ${printable(stateText(state))}`)
            .join(', ')}`,
        ]
      : []),
  ].join(' ')
