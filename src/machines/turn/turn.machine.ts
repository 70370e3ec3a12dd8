import type { TurnOutput } from '../../contracts/turn.ts'
import { begin, flushInput, loopInput, output } from './turn.context.ts'
import { turnSetup } from './turn.setup.ts'

const beginnings = [
  { guard: 'flushDue', target: 'flushing', actions: 'askForNotes' },
  { target: 'running', actions: 'admit' },
] as const
const endings = [{ guard: 'hasFailed', target: 'failed' }, { guard: 'wasCancelled', target: 'cancelled' }, { target: 'completed' }] as const
const delivered = endings.map((ending) => ({ ...ending, actions: 'noteLost' as const }))

/**
 * One accepted input up to its outcome: the agent loop, and what is done around it.
 *
 * | state      | on                  | guard        | next                   | does                                      |
 * | ---------- | ------------------- | ------------ | ---------------------- | ----------------------------------------- |
 * | admission  |                     | needsRoom    | waiting                | its node runs only so many turns at once  |
 * | waiting    | steer               |              |                        | one more message to begin with            |
 * | waiting    | cancel              |              | finalising             |                                           |
 * | admission, waiting | lane.granted | flushDue    | flushing               | tells the agent to take notes             |
 * | admission, waiting | lane.granted |             | running                | puts the messages in the transcript       |
 * | flushing   | loop done           | wasStopped   | finalising             |                                           |
 * | flushing   | loop done           |              | running                | puts the messages in the transcript, also where it failed |
 * | flushing   | steer               |              |                        | one more message to begin with            |
 * | running    | steer, forget, approve, cancel, configure |           |                        | hands it to the loop                      |
 * | running    | stream.start, .end, .tool |             |                   | hands it to the pipeline, which is there then |
 * | running.answering | tool.waiting |              | running.awaiting-input | tells the session                         |
 * | running.answering | compaction.started |        | running.compacting     | tells the session: no steering meanwhile  |
 * | running.answering | after runTimeout |          |                        | the loop is told that its time is up      |
 * | running    | after wallTime      |              |                        | likewise                                  |
 * | running    | loop done           |              | finalising             |                                           |
 * | finalising |                     | hasPipeline  | delivering             | tells the session: no steering any more   |
 * | delivering | cancel, after runTimeout |         |                        | nothing more is sent                      |
 * | finalising, delivering | stream done | hasFailed, wasCancelled | failed, cancelled |                                     |
 * | finalising, delivering | stream done |          | completed              |                                           |
 */
export const turnMachine = turnSetup.createMachine({
  id: 'turn',
  description: 'One accepted input up to its outcome.',
  context: ({ input }) => begin(input),
  output: ({ event }) => (event as unknown as { output: TurnOutput }).output,
  initial: 'admission',
  states: {
    admission: {
      description: 'Is there something to be done first?',
      entry: 'openPipeline',
      always: [{ guard: 'needsRoom', target: 'waiting' }, ...beginnings],
    },
    waiting: {
      description: 'So many turns run at once; this one is next, or one of the next.',
      entry: 'enterLane',
      on: {
        'lane.granted': beginnings.map(({ actions, ...rest }) => ({ ...rest, actions: ['sayInside', actions] as const })),
        steer: { actions: 'joinPrompt' },
        cancel: 'finalising',
      },
    },
    flushing: {
      description: 'The context is nearly full: the agent takes durable notes, and nobody else hears of it.',
      invoke: {
        id: 'flush',
        src: 'loop',
        input: ({ context }) => flushInput(context),
        onDone: [
          {
            guard: { type: 'wasStopped', params: ({ event }) => ({ flush: event.output }) },
            target: 'finalising',
            actions: { type: 'takeNotes', params: ({ event }) => ({ flush: event.output }) },
          },
          { target: 'running', actions: [{ type: 'takeNotes', params: ({ event }) => ({ flush: event.output }) }, 'admit'] },
        ],
      },
      on: {
        steer: { actions: 'joinPrompt' },
        approve: { actions: 'tellFlush' },
        cancel: { actions: 'tellFlush' },
        'tool.waiting': { actions: 'tellSession' },
        'tool.decided': { actions: 'tellSession' },
        'compaction.started': { actions: 'tellSession' },
        'compaction.ended': { actions: 'tellSession' },
      },
      after: { runTimeout: { actions: { type: 'expireFlush', params: { why: 'runTimeout' } } } },
    },
    running: {
      description: 'The agent loop works, or waits for a person.',
      invoke: {
        id: 'loop',
        src: 'loop',
        input: ({ context }) => loopInput(context),
        onDone: { target: 'finalising', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
      },
      on: {
        steer: { actions: 'tellLoop' },
        approve: { actions: 'tellLoop' },
        cancel: { actions: 'tellLoop' },
        configure: { actions: 'tellLoop' },
        forget: { actions: 'tellLoop' },
        'stream.start': { actions: 'tellPipeline' },
        'stream.end': { actions: 'tellPipeline' },
        'stream.tool': { actions: 'tellPipeline' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellSession'] },
        'tool.decided': { actions: ['endWaiting', 'tellSession'] },
        'compaction.started': { target: '.compacting', actions: 'tellSession' },
      },
      after: { wallTime: { actions: { type: 'expire', params: { why: 'wallTime' } } } },
      initial: 'answering',
      states: {
        answering: { after: { runTimeout: { actions: { type: 'expire', params: { why: 'runTimeout' } } } } },
        'awaiting-input': {
          description: 'At least one call waits for a person: that takes as long as it takes.',
          tags: 'waiting',
          always: { guard: 'nobodyWaits', target: 'answering' },
        },
        compacting: {
          description: 'Old history becomes a summary.',
          on: { 'compaction.ended': { target: 'answering', actions: 'tellSession' } },
        },
      },
    },
    finalising: {
      description: 'All is said: what do users get of it?',
      always: [{ guard: 'hasPipeline', target: 'delivering' }, ...endings],
    },
    delivering: {
      description: 'The last of it is on its way.',
      entry: ['sayDelivering', 'finishPipeline'],
      on: { 'xstate.done.actor.stream': delivered, cancel: { actions: 'stopPipeline' } },
      // A channel that never answers shall not hold the conversation.
      after: { runTimeout: { actions: 'stopPipeline' } },
    },
    completed: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'completed' } },
      output: ({ context }) => output(context, 'completed'),
    },
    failed: { type: 'final', entry: { type: 'announceEnd', params: { status: 'failed' } }, output: ({ context }) => output(context, 'failed') },
    cancelled: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'cancelled' } },
      output: ({ context }) => output(context, 'cancelled'),
    },
  },
})
