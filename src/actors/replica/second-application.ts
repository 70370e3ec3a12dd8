/**
 * Applies an input a second time, to a copy of the tree as it was before, and compares. Where that leads elsewhere, so would every replay: the actor would be
 * `drift` after its next crash, and nobody could read it any more.
 */
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate'
import { RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, Input } from '../../contracts/journal.ts'
import { decode, encode } from '../journal/codec.ts'
import { wholeSnapshot } from '../journal/snapshots.ts'
import type { Registration } from '../registration.ts'
import { firstDifference, type ValueDifference } from './difference.ts'
import { Replica } from './replica.ts'
import type { Output, ReplicaSnapshot } from './sink.ts'

/** A tree to do it again with. */
export type Twin = () => Replica

/**
 * The tree as it is before an input, to be had once more: from a snapshot, or where none can hold it from the journal.
 * @returns undefined where nobody wants the input looked at
 */
export const twinOf = (
  registration: Registration,
  live: Replica,
  input: Input,
  refold: () => Promise<Replica | undefined>,
): Promise<Twin | undefined> | undefined => {
  const { value } = live.actor.getSnapshot()
  if (!registration.determinismCheck?.wants(`${JSON.stringify(value)} ${nameOf(input)}`)) return undefined
  // As it is now: the live one goes on from here.
  const again = restoredLike(registration, live)
  return (again ? Promise.resolve(again) : refold()).then((twin) => twin && (() => twin))
}

/** @returns undefined where a snapshot would bring back something else: a reference to an actor that has ended, say, or to the parent, is lost in one */
const restoredLike = (registration: Registration, live: Replica): Replica | undefined => {
  const whole = wholeSnapshot(live)
  if (!whole) return undefined
  const snapshot = decode(encode(whole)) as ReplicaSnapshot
  const again = new Replica({ registration, input: undefined, at: live.timers.now, epoch: live.epoch, snapshot })
  return again.failure || stateDifference(live, again) ? undefined : again
}

const nameOf = (input: Input): string => ('timer' in input ? 'a timer' : `'${input.event.type}'`)

/** @returns what is not the same */
export const applyAgain = (
  registration: Registration,
  name: string,
  twin: Twin,
  live: Replica,
  outputs: Output[],
  input?: Input,
): RuntimeError | undefined => {
  const { determinismCheck } = registration
  let again: Replica | undefined
  const calls = determinismCheck?.watch(() => {
    again = twin()
    again.chance.recorded(live.chance.seed)
    if (input) again.apply(input, live.timers.now)
  })
  if (!determinismCheck || !calls || !again) return undefined
  const difference = differenceOf(live, again) ?? outputDifference(outputs, again.takeOutputs())
  if (!difference && calls.length === 0) return undefined
  const error = errorOf(registration, name, live, difference, calls, input)
  determinismCheck.tell(error)
  return determinismCheck.refuses ? error : undefined
}

type Difference = { path: ActorPath; place: string } & Partial<ValueDifference>

const differenceOf = (live: Replica, again: Replica): Difference | undefined => {
  if (again.failure) return { path: '/', place: `fails when it is done again: ${String(again.failure.error)}` }
  if (live.digest() === again.digest()) return undefined
  return stateDifference(live, again) ?? { path: '/', place: 'its state' }
}

const stateDifference = (live: Replica, again: Replica): Difference | undefined => {
  const others = new Map(again.actors())
  for (const [path, ref] of live.actors()) {
    const other = others.get(path)
    if (!other) return { path, place: 'is not there when it is done again' }
    const found = firstDifference(partsOf(ref), partsOf(other), '')
    if (found) return { path, ...found }
  }
  const found = firstDifference(live.timers.persisted(), again.timers.persisted(), 'delays')
  return found && { path: '/', ...found }
}

const partsOf = (ref: AnyActorRef): Record<string, unknown> => {
  const snapshot = ref.getSnapshot() as AnyMachineSnapshot & { input?: unknown }
  const { status, value, context, output, input } = snapshot
  return { status, state: value, context, output, input }
}

const outputDifference = (live: readonly Output[], again: readonly Output[]): Difference | undefined => {
  const told = (output: Output | undefined) => output && { ...output, run: undefined }
  for (let n = 0; n < Math.max(live.length, again.length); n++) {
    const [a, b] = [told(live[n]), told(again[n])]
    const found = firstDifference(a, b, (a ?? b)?.kind ?? 'output')
    if (found) return { path: (a ?? b)?.path ?? '/', ...found }
  }
  return undefined
}

const shown = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80)
  } catch {
    return String(value)
  }
}

const errorOf = (
  { kind }: Registration,
  name: string,
  live: Replica,
  difference: Difference | undefined,
  calls: string[],
  input: Input | undefined,
): RuntimeError => {
  const path = difference?.path ?? '/'
  const { machine, value } = (new Map(live.actors()).get(path)?.getSnapshot() ?? {}) as Partial<AnyMachineSnapshot>
  const when = input ? `on ${nameOf(input)}` : 'when it begins'
  const values = difference?.values && ` is ${shown(difference.values[0])}, and ${shown(difference.values[1])} when it is done again`
  const why = [...(difference ? [`${difference.place}${values ?? ''}`] : []), ...(calls.length > 0 ? [`it calls ${calls.join(', ')}`] : [])]
  const state = value === undefined ? '' : `, in state ${JSON.stringify(value)}`
  return new RuntimeError(
    'not_deterministic',
    `machine '${machine?.id ?? kind}' (${name}${path === '/' ? '' : path}) is not the same every time ${when}${state}: ${why.join('; ')}`,
    {
      hint: `${calls.length === 0 ? 'keep each object in one place of the context, and its id in others; ' : ''}take time from now(), chance from random() and ids from uuid(), all of 'statecast'; or put them into the event, or into the result of an effect`,
      data: { kind, path, event: input ? nameOf(input) : null, state: value ?? null, place: difference?.place ?? null, calls },
    },
  )
}
