import type { LoopOutput, TurnStatus } from '../../contracts/turn.ts'
import type { Publisher } from './publisher.setup.ts'
import { begin, flushInput, loopInput, output, type TurnContext, understandingInput } from './turn.context.ts'
import { publishing, turnSetup } from './turn.setup.ts'

const beginnings = [
  { guard: 'flushDue', target: 'flushing', actions: 'askForNotes' },
  { guard: 'hasUnread', target: 'understanding' },
  { target: 'running', actions: 'admit' },
] as const
const ended = ({ event }: { event: { output: LoopOutput } }) => ({ answer: event.output })
const kept = ({ context }: { context: TurnContext }) => ({ answer: context.answer })
/** Users have got what they can get. */
const published = [
  { guard: { type: 'hasFailed', params: kept }, target: 'failed', actions: 'takePublished' },
  { guard: { type: 'wasCancelled', params: kept }, target: 'cancelled', actions: 'takePublished' },
  { target: 'completed', actions: 'takePublished' },
] as const

/**
 * One accepted input up to its outcome: the agent loop, and what is done around it.
 */
export const turnMachine = turnSetup.createMachine({
  id: 'turn',
  description: 'One accepted input up to its outcome.',
  context: begin,
  output: ({ context, event }) => output(context, (event as unknown as { output: TurnStatus }).output),
  initial: 'admission',
  on: {
    'xstate.done.actor.publisher': { actions: 'takePublished' },
    'xstate.error.actor.publisher': { actions: 'takePublished', description: 'users may have got nothing, but the turn is over all the same' },
  },
  states: {
    admission: {
      description: 'Is there something to be done first?',
      entry: 'openPublisher',
      always: [{ guard: 'needsRoom', target: 'waiting' }, ...beginnings],
    },
    waiting: {
      description: 'So many turns run at once; this one is next, or one of the next.',
      entry: 'enterLane',
      on: {
        'lane.granted': beginnings.map((row) => ({
          ...row,
          actions: 'actions' in row ? (['sayInside', row.actions] as const) : (['sayInside'] as const),
        })),
        steer: { actions: 'joinPrompt' },
        cancel: 'finalising',
      },
    },
    flushing: {
      description: 'The context is nearly full: the agent takes durable notes, and nobody else hears of it.',
      invoke: {
        id: 'flush',
        src: 'loop',
        input: flushInput,
        onDone: [
          {
            guard: { type: 'wasStopped', params: ({ event }) => ({ flush: event.output }) },
            target: 'finalising',
            actions: 'takeNotes',
          },
          { guard: 'hasUnread', target: 'understanding', actions: 'takeNotes' },
          { target: 'running', actions: ['takeNotes', 'admit'] },
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
    understanding: {
      description: 'Links and media of its messages are looked at, so that the model is told what is in them.',
      invoke: { id: 'understanding', src: 'understanding', input: understandingInput },
      on: {
        understood: { target: 'understood', actions: 'takeUnderstood' },
        steer: { actions: 'joinPrompt' },
        cancel: 'finalising',
      },
    },
    understood: {
      description: 'Is there anything left to be answered?',
      always: [
        { guard: 'wasSpoken', target: 'finalising' },
        { guard: 'hasUnread', target: 'understanding' },
        { target: 'running', actions: 'admit' },
      ],
    },
    running: {
      description: 'The agent loop works, or waits for a person.',
      invoke: {
        id: 'loop',
        src: 'loop',
        input: loopInput,
        onDone: [
          { guard: 'isFollowed', target: 'delivering', actions: 'takeAnswer' },
          { guard: { type: 'hasFailed', params: ended }, target: 'failed', actions: 'takeAnswer' },
          { guard: { type: 'wasCancelled', params: ended }, target: 'cancelled', actions: 'takeAnswer' },
          { target: 'completed', actions: 'takeAnswer' },
        ],
      },
      on: {
        steer: { actions: 'tellLoop' },
        approve: { actions: 'tellLoop' },
        cancel: { actions: 'tellLoop' },
        configure: { actions: 'tellPublisher' },
        forget: { actions: 'tellLoop' },
        'model.started': { actions: 'tellPublisher' },
        'model.ended': { actions: 'tellPublisher' },
        'tool.started': { actions: 'tellPublisher' },
        'tool.ended': { actions: 'tellPublisher' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellSession', 'tellPublisher'] },
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
      description: 'It was stopped before the agent was asked, or there was nothing to ask it.',
      always: [{ guard: 'isFollowed', target: 'delivering' }, { guard: 'wasSpoken', target: 'completed' }, { target: 'cancelled' }],
    },
    delivering: {
      description: 'All is said; the last of it is on its way to users.',
      entry: ['sayDelivering', 'endPublisher'],
      on: { cancel: { actions: 'stopPublisher' }, 'xstate.done.actor.publisher': published, 'xstate.error.actor.publisher': published },
      // A channel that never answers shall not hold the conversation.
      after: { runTimeout: { actions: 'stopPublisher' } },
    },
    completed: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'completed' } },
      output: 'completed',
    },
    failed: { type: 'final', entry: { type: 'announceEnd', params: { status: 'failed' } }, output: 'failed' },
    cancelled: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'cancelled' } },
      output: 'cancelled',
    },
  },
})

/** The same with somebody behind it. */
export const turnWith = (publisher: Publisher) => turnMachine.provide({ actors: { publisher: publisher.logic }, actions: publishing(publisher) })
