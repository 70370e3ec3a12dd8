/** What a session answers to what it cannot do now, whatever its state. */

/** The desk is told what its session is busy with where its context does not say it. */
export const askDesk = <Doing extends 'compacting' | 'resetting'>(doing?: Doing) =>
  ({ guard: 'isForDesk', actions: { type: 'askDesk', params: doing ? { doing } : {} } }) as const

/** What a message meets that cannot be answered now. */
export const acceptForLater = [
  {
    guard: 'queueFull',
    actions: {
      type: 'refuse',
      params: { code: 'overloaded', message: 'too many messages wait in this session', hint: 'wait for the answers, or cancel the run' },
    },
  },
  { actions: ['acceptLater', 'awaitMore'] },
] as const

/** What the model reads now must stay as it is. */
export const injectLater = { actions: { type: 'inject', params: { later: true } } } as const

/** What waits does not count any more: the conversation begins anew, with this message. */
export const beginAgain = {
  target: 'admission',
  actions: [
    'dropQueue',
    { type: 'startOver', params: { reason: 'asked for' } },
    { type: 'acceptNext', params: { status: 'started' } },
    'keepChanges',
  ],
} as const

const noCall = {
  type: 'refuse',
  params: {
    code: 'conflict',
    message: 'no call waits for these results',
    hint: 'give the results of the pendingCalls of the newest run, before anything else is said',
  },
} as const
/** Results are taken where nothing runs, and for calls that wait alone. */
export const refuseResults = { guard: 'hasResults', actions: noCall } as const
export const refuseStray = { guard: 'answersNothing', actions: noCall } as const

export const refuseAside = {
  guard: 'asidesFull',
  actions: {
    type: 'refuse',
    params: { code: 'overloaded', message: 'three side questions of this session are being answered', hint: 'wait for an answer, or stop them' },
  },
} as const

/** Each says why, and what to do instead. */
export const refusals = {
  cancel: [
    { guard: 'endsAside', actions: 'stopAsides' },
    {
      actions: { type: 'refuse', params: { code: 'not_found', message: 'there is no such run to cancel', hint: 'the run may have ended by itself' } },
    },
  ],
  approve: [
    {
      guard: 'wasDecided',
      actions: {
        type: 'refuse',
        params: {
          code: 'already_decided',
          message: 'this call waits for no decision any more',
          hint: 'it was decided before, or its turn was stopped; see the trace for it',
        },
      },
    },
    {
      guard: 'isOtherInput',
      actions: {
        type: 'refuse',
        params: {
          code: 'conflict',
          message: 'the decision is about other arguments than those that wait',
          hint: 'read the approval again and decide about its inputHash',
        },
      },
    },
    {
      actions: { type: 'refuse', params: { code: 'not_found', message: 'no call of this id waits for a decision', hint: 'see `approvals.list`' } },
    },
  ],
  compact: {
    actions: {
      type: 'refuse',
      params: { code: 'session_busy', message: 'the conversation cannot be compacted now', hint: 'wait for the turn to end, or cancel it' },
    },
  },
  close: {
    actions: {
      type: 'refuse',
      params: { code: 'session_busy', message: 'the conversation cannot be closed now', hint: 'wait for the turn to end, or cancel it' },
    },
  },
} as const
