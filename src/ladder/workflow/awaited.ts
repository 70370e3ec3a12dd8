/** What somebody sends to a run, looked at before it is sent: the run would take what does not fit for a failure, and ignore what nobody waits for. */
import { LadderError } from '../errors.ts'
import { fitted } from '../schema.ts'
import type { AnyStep, AnyWorkflow } from './definition.ts'

type Waiting = Extract<AnyStep, { waitFor: unknown }>

/** @throws LadderError SCHEMA_VALIDATION_FAILED where no step waits for such an event, or where it fits none of those that do */
export const checkAwaited = async ({ name, steps }: AnyWorkflow, event: { type: string }): Promise<void> => {
  const type: unknown = event?.type
  const waiting = steps.filter((step): step is Waiting => 'waitFor' in step)
  const takers = waiting.filter((step) => step.waitFor === type)
  if (takers.length === 0)
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `no step of '${name}' waits for '${String(type).slice(0, 80)}'`, {
      hint:
        waiting.length === 0 ? 'none waits for anything: give one waitFor' : `its steps wait for ${waiting.map((step) => step.waitFor).join(', ')}`,
      context: { type: String(type).slice(0, 80) },
    })
  const { type: _, ...given } = event
  const refusals: LadderError[] = []
  for (const { name: step, schema } of takers)
    try {
      if (schema) await fitted(schema, given, `the event '${String(type)}' for the step '${step}'`, { step })
      return
    } catch (thrown) {
      if (!(thrown instanceof LadderError)) throw thrown
      refusals.push(thrown)
    }
  const { code, message, context } = refusals[0] as LadderError
  throw new LadderError(code, message, { context, hint: 'nothing was sent: the run waits on' })
}
