/** What somebody sends to a run, looked at before it is sent: the run would take what does not fit for a failure, and ignore what nobody waits for. */
import { LadderError } from './errors.ts'
import { fitted, type Schema } from './schema.ts'

/** A step that waits for events of a type. */
export type Awaiting = { type: string; step: string; schema: Schema | undefined }

/** What a run is told that stands in another one: each passes it on to those inside of it. */
export const tellEvent = 'run.tell'
type TellEvent = { type: typeof tellEvent; event: { type: string } }

/** What is sent to a run inside: the event, which a step of its own may wait for, and then what it passes on itself. */
export const toldInside = (told: { type: string }): readonly { type: string }[] => [eventIn(told), told]
export const eventIn = (told: { type: string }): { type: string } => (told as TellEvent).event

/** @throws LadderError SCHEMA_VALIDATION_FAILED where no step waits for such an event, or where it fits none of those that do */
export const checkAwaited = async (name: string, awaits: readonly Awaiting[], event: { type: string }): Promise<void> => {
  const type = String((event as { type?: unknown } | null | undefined)?.type).slice(0, 80)
  const takers = awaits.filter((one) => one.type === type)
  if (takers.length === 0)
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `no step of '${name}' waits for '${type}'`, {
      hint: awaits.length === 0 ? `none waits for anything: write { name: 'paid', waitFor: 'paid' }` : `steps wait for ${typesOf(awaits).join(', ')}`,
      context: { type },
    })
  const { type: _, ...given } = event
  const refusals: LadderError[] = []
  for (const { step, schema } of takers)
    try {
      if (schema) await fitted(schema, given, `the event '${type}' for the step '${step}'`, { step })
      return
    } catch (thrown) {
      if (!(thrown instanceof LadderError)) throw thrown
      refusals.push(thrown)
    }
  const { code, message, context } = refusals[0] as LadderError
  throw new LadderError(code, message, { context, hint: 'nothing was sent: the run waits on' })
}

const typesOf = (awaits: readonly Awaiting[]): string[] => [...new Set(awaits.map(({ type }) => type))]
