/** The states and arrows of a session: the phases of a turn. Nothing of what its author defines is in it, so a session outlives any definition. Plain data. */
import { type SessionRun, summaryInput, summaryRunId, turnInput, turnRunId } from './session.context.ts'

/** Code of the session, by the names of its actors. */
export const loadActor = 'load()'
export const lookActor = 'look()'
export const recallActor = 'recall()'
export const saveActor = 'save()'
export const endActor = 'endsWhen()'
export const lockActor = 'lock()'
export const summariseActor = 'summarise()'
export const applyActor = 'apply()'
export const unlockActor = 'unlock()'
export const renewActor = 'renew()'
export const releaseActor = 'release()'
/** Actors with journals of their own. */
export const turnActor = 'turn'
export const summaryActor = 'summary'

const whole = ({ context }: { context: SessionRun }) => context
const code = (name: string, onDone: readonly object[], onError: object) => ({ invoke: { id: name, src: name, input: whole, onDone, onError } })

const failed = (...actions: string[]) => ({ target: '#failed', actions })
/** Nothing has begun that would have to end by itself. */
const stoppable = { cancel: { guard: 'is under way', ...failed('cancel') } }

const lost = { target: 'free', actions: ['loseLock', 'tellTurnOfLoss'] }
/** A lock of the caller is held by being renewed. */
const leased = {
  initial: 'free',
  states: {
    free: { always: { guard: 'holds a lock', target: 'holding' } },
    holding: { after: { 'a part of the lease': 'renewing' } },
    renewing: code(
      renewActor,
      [
        { guard: 'is renewed', target: 'holding', actions: ['noteLease'] },
        { guard: 'is lost', ...lost },
        // It could not be asked, and is held still.
        { target: 'holding' },
      ],
      lost,
    ),
  },
}

/** Of a turn beside others: the session says which number it has. */
const numbering = {
  entry: ['askForNumber'],
  on: { ...stoppable, 'turn.numbered': { target: 'checking', actions: ['takeNumber', 'tellLoaded'] } },
}

const runningOf = (isApart: boolean) => ({
  initial: 'loading',
  states: {
    loading: {
      ...code(
        loadActor,
        [
          { guard: 'has failed', ...failed('fail') },
          { guard: 'is held', target: 'waiting-for-lock', actions: ['tellHeld', 'waitForLock'] },
          isApart ? { target: 'numbering', actions: ['plan'] } : { target: 'checking', actions: ['plan', 'tellLoaded'] },
        ],
        failed('breakDown'),
      ),
      // The lock may be had by now.
      on: { cancel: { guard: 'is under way', ...failed('cancel', 'noteLease') } },
    },
    /** Of the caller: somebody else has it. */
    'waiting-for-lock': {
      always: { guard: 'has waited enough', ...failed('giveUp') },
      after: { 'until the next try': 'loading' },
      on: stoppable,
    },
    ...(isApart && { numbering }),
    checking: {
      always: [{ guard: 'has drifted', ...failed('refuse') }, { guard: 'is locked', target: 'waiting-for-compaction' }, { target: 'prepared' }],
    },
    'waiting-for-compaction': {
      entry: ['wait', 'tellWaiting'],
      initial: 'pausing',
      on: stoppable,
      states: {
        pausing: { after: { 'a moment': 'looking' } },
        looking: code(lookActor, [{ guard: 'is locked still', target: 'pausing' }, { target: '#prepared' }], { target: '#prepared' }),
      },
    },
    prepared: {
      id: 'prepared',
      always: [
        { guard: 'is to compact', target: '#compacting' },
        { guard: 'has nothing to compact', target: '#settled' },
        { guard: 'recalls', target: 'recalling' },
        { target: 'dispatching', actions: ['tellWindows'] },
      ],
    },
    recalling: {
      ...code(recallActor, [{ target: 'dispatching', actions: ['takeKnown', 'tellWindows'] }], { target: 'dispatching', actions: ['tellWindows'] }),
      on: stoppable,
    },
    dispatching: {
      entry: ['place', 'tellPlace', ...(isApart ? ['reportPlace'] : [])],
      invoke: {
        id: turnActor,
        src: turnActor,
        input: ({ context }: { context: SessionRun }) => ({ id: turnRunId(context), input: turnInput(context) }),
        onDone: [
          { guard: 'is of another request', target: 'dispatching', reenter: true, actions: ['tryNext'] },
          { guard: 'has lost its lock', ...failed() },
          { guard: 'turn has failed', ...failed('takeFailure') },
          { target: 'persisting', actions: ['takeTurn'] },
        ],
        onError: [{ guard: 'has lost its lock', ...failed() }, failed('breakTurn')],
      },
      on: { cancel: { guard: 'is under way', actions: ['tellTurnToStop'] } },
      ...leased,
    },
    persisting: code(
      saveActor,
      [
        { guard: 'has failed', ...failed('fail') },
        { guard: 'asks whether it is over', target: 'ending', actions: storing(isApart) },
        { target: 'stored', actions: storing(isApart) },
      ],
      failed('breakDown'),
    ),
    // The row is there: whatever comes of it, the turn is clean.
    ending: {
      ...code(endActor, [{ target: 'stored', actions: ['takeEnd'] }], { target: 'stored', actions: ['takeEnd'] }),
      after: { 'longest code': { target: 'stored', actions: ['giveUpEnd'] } },
    },
    stored: { always: [{ guard: 'has something to compact', target: '#compacting' }, { target: '#settled' }] },
  },
})
const storing = (isApart: boolean): string[] => ['persist', 'tellPersisted', ...(isApart ? ['reportStored'] : [])]

const skipped = { target: '#compacting.releasing', actions: ['skipCompaction', 'tellSkipped'] }
const compacting = {
  id: 'compacting',
  initial: 'locking',
  on: { cancel: { guard: 'is under way', target: '.releasing', actions: ['skipCompaction', 'tellSkipped'] } },
  states: {
    locking: code(
      lockActor,
      [{ guard: 'has failed', ...skipped }, { guard: 'is locked by others', target: '#settled', actions: ['noteLocked'] }, { target: 'working' }],
      skipped,
    ),
    working: {
      initial: 'choosing',
      states: {
        choosing: { always: [{ guard: 'asks an agent', target: 'asking' }, { target: 'writing' }] },
        asking: {
          entry: ['noteAsked'],
          invoke: {
            id: summaryActor,
            src: summaryActor,
            input: ({ context }: { context: SessionRun }) => ({ id: summaryRunId(context), input: summaryInput(context) }),
            onDone: [
              { guard: 'summary has failed', ...skipped },
              { target: 'made', actions: ['takeSummary', 'tellSuggested'] },
            ],
            onError: skipped,
          },
          // It ends when it is told so, and is left where it does not.
          after: { 'longest compaction': { actions: ['tellSummaryToStop'] }, 'a little longer': skipped },
        },
        writing: {
          ...code(
            summariseActor,
            [
              { guard: 'has failed', ...skipped },
              { target: 'made', actions: ['takeCompaction', 'tellSuggested'] },
            ],
            skipped,
          ),
          after: { 'longest compaction': skipped },
        },
        made: { always: [{ guard: 'is a command', target: '#compacting.releasing' }, { target: 'applying' }] },
        applying: {
          ...code(
            applyActor,
            [
              { guard: 'has failed', ...skipped },
              { guard: 'was applied', target: '#compacting.releasing', actions: ['apply', 'tellApplied'] },
              { target: '#compacting.releasing' },
            ],
            skipped,
          ),
          after: { 'longest compaction': skipped },
        },
      },
    },
    releasing: code(unlockActor, [{ target: '#settled' }], { target: '#settled' }),
  },
}

const released = [
  { guard: 'was settled', target: 'settled', actions: ['noteReleased'] },
  { target: 'failed', actions: ['noteReleased'] },
]

/** @param answered the state after a turn @param isApart other turns of the session may be under way */
export const phasesOf = (answered: string, isApart: boolean) => ({
  running: runningOf(isApart),
  compacting,
  settled: {
    id: 'settled',
    always: [
      { guard: 'holds a lock', target: 'releasing-lock', actions: ['noteSettled'] },
      { guard: 'is a failed command', target: answered, actions: ['answerFailed'] },
      { guard: 'is over', target: answered, actions: ['tellCompleted', 'answerCompleted', 'observe'] },
      { target: answered, actions: ['tellAwaiting', 'answerAwaiting', 'observe'] },
    ],
  },
  failed: {
    id: 'failed',
    always: [
      { guard: 'holds a lock', target: 'releasing-lock' },
      { guard: 'was cancelled', target: answered, actions: ['tellCancelled', 'answerCancelled', 'observe'] },
      { target: answered, actions: ['tellFailed', 'answerFailed', 'observe'] },
    ],
  },
  'releasing-lock': code(releaseActor, released, released),
})

export const chartOf = (name: string) => ({
  id: name,
  initial: 'awaiting-input',
  on: {
    execute: [{ guard: 'is known' }, { actions: ['enqueue'] }],
    cancel: { guard: 'is queued', actions: ['withdraw'] },
  },
  states: {
    'awaiting-input': { always: { guard: 'has requests', target: 'running', actions: ['begin', 'tellStarting'] } },
    ...phasesOf('awaiting-input', false),
  },
})
