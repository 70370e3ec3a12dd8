/** What a turn beside others and its session say to each other. */
import { assign, type EventObject, sendParent } from 'xstate'
import type { Loaded, Numbered, Placed, Stored } from './beside.context.ts'
import { type Plan, type SessionRun, turned } from './session.context.ts'

type Scope = { context: SessionRun; event: EventObject }
const idOf = ({ turn }: SessionRun): string => turn?.request.id ?? ''

/** Of the turn. */
export const reportActions = {
  askForNumber: sendParent(({ context }: Scope) => {
    const { turnIndex = 0, version = null, signature = '' } = context.turn?.plan ?? {}
    return { type: 'turn.loaded', request: idOf(context), turnIndex, version, signature } satisfies Loaded & { type: string }
  }),
  takeNumber: assign(({ context, event }: Scope) => {
    const { turnIndex, runs, keptFrom } = event as unknown as Numbered
    const plan = { ...(context.turn?.plan as Plan), turnIndex }
    return { ...turned(context, { plan }), ...(runs && { runs }), ...(keptFrom !== undefined && { keptFrom }) }
  }),
  reportPlace: sendParent(
    ({ context }: Scope) =>
      ({ type: 'turn.placed', request: idOf(context), attempt: context.turn?.attempt ?? 1 }) satisfies Placed & { type: string },
  ),
  reportStored: sendParent(({ context }: Scope) => {
    const { runsFrom } = context.turn?.persisted ?? {}
    return { type: 'turn.stored', request: idOf(context), ...(runsFrom !== undefined && { runsFrom }) } satisfies Stored & { type: string }
  }),
} as unknown as Record<string, never>
