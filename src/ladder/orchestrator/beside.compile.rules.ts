/** What the names mean in the chart of a session whose turns run beside each other. */
import { type AnyStateMachine, assign, type EventObject, enqueueActions, setup } from 'xstate'
import { errorBody, wordsOf } from '../errors.ts'
import { actorIn } from '../events.rules.ts'
import { besideChartOf, besideLogic } from './beside.chart.rules.ts'
import {
  answeredBeside,
  begunBeside,
  brokenAnswer,
  hasBegun,
  type Loaded,
  mayBegin,
  numbered,
  numberTold,
  openedBeside,
  type Placed,
  phasesInput,
  placedBeside,
  type SessionBeside,
  type Stored,
  storedBeside,
} from './beside.context.ts'
import { phasesMachine, type SessionParts } from './compile.rules.ts'
import { queueActions, queueGuards } from './queue.rules.ts'
import type { Answer, SessionRequest } from './session.context.ts'
import { type Cancel, outputOf, thrownIn } from './session.events.rules.ts'

type Word = { type: string } & Record<string, unknown>

const saidIn = <Said>(event: EventObject): Said => event as unknown as Said

export const besideMachine = (name: string, parts: SessionParts): AnyStateMachine => {
  const { now } = parts
  return setup({
    types: { context: {} as SessionBeside, input: {} as { sessionId: string }, emitted: {} as Word },
    actors: { [besideLogic]: phasesMachine(name, parts) as never },
    actions: {
      ...queueActions(name, now),
      begin: enqueueActions(({ context, enqueue }) => {
        const [request] = context.queue as readonly [SessionRequest]
        const next = begunBeside(context, now())
        enqueue.assign(next)
        if (request.wants === 'turn')
          enqueue.emit({ type: 'orchestrator.turn.starting', runId: request.id, rootRunId: request.id, sessionId: context.sessionId })
        enqueue.spawnChild(besideLogic as never, {
          id: next.turns?.at(-1)?.actor as never,
          input: phasesInput(context, request, now()) as never,
        })
      }),
      number: enqueueActions(({ context, event, enqueue }) => {
        const loaded = saidIn<Loaded>(event)
        const change = numbered(context, loaded)
        const turn = context.turns.find((one) => one.request.id === loaded.request)
        enqueue.assign(change)
        if (turn) enqueue.sendTo(turn.actor, { type: 'turn.numbered', ...numberTold({ ...context, ...change }, loaded.request) })
      }),
      notePlace: assign(({ context, event }) => placedBeside(context, saidIn<Placed>(event))),
      noteStored: assign(({ context, event }) => storedBeside(context, saidIn<Stored>(event))),
      /** One that is named, or all. */
      passDown: enqueueActions(({ context, event, enqueue }) => {
        const { request } = event as Cancel
        for (const turn of context.turns) if (request === undefined || request === turn.request.id) enqueue.sendTo(turn.actor, event)
      }),
      takeAnswer: assign(({ context, event }) => answeredBeside(context, actorIn(event), outputOf<Answer | undefined>(event))),
      breakTurn: assign(({ context, event }) => {
        const cause = thrownIn(event)
        const error = errorBody('ORCHESTRATOR_FAILED', `a turn of '${name}' failed: ${wordsOf(cause)}`, { cause })
        return answeredBeside(context, actorIn(event), brokenAnswer(context, actorIn(event), error, now()))
      }),
      /** Only those that run are alive. */
      drop: enqueueActions(({ event, enqueue }) => enqueue.stopChild(actorIn(event))),
    },
    guards: {
      ...queueGuards,
      'may begin another': ({ context }) => mayBegin(context),
      'has begun': ({ context }) => hasBegun(context),
      'has no turns': ({ context }) => context.turns.length === 0,
    },
  }).createMachine({
    ...besideChartOf(name),
    context: ({ input }: { input: { sessionId: string } }) => openedBeside(input.sessionId),
  } as never) as unknown as AnyStateMachine
}
