import { emptyDeskRecord } from '../../contracts/session.ts'
import { deskSetup } from './desk.setup.ts'

/**
 * The front desk of a session with people: it looks at each message before the session does. What came before is skipped, an order is carried out and
 * answered without a model, the rest is let in. It lives as a child of the session, and what it says on channels are children of its own.
 */
export const deskMachine = deskSetup.createMachine({
  id: 'desk',
  description: 'What becomes of a message of a person before its session takes it in.',
  context: ({ input }) => ({ key: input.key, record: emptyDeskRecord, activation: 'mention' }),
  on: {
    message: [
      { guard: 'isRepeated', actions: { type: 'skip', params: { reason: 'duplicate' } } },
      { guard: 'isIgnored', actions: { type: 'skip', params: { reason: 'unauthorised' } } },
      { guard: 'saysStop', actions: ['take', 'stop'] },
      { guard: 'wantsMutedReset', actions: 'refuse' },
      { guard: 'saysReset', actions: ['take', 'startOver'] },
      { guard: 'asksAsideMuted', actions: 'refuse' },
      { guard: 'asksAside', actions: ['take', 'askAside'] },
      { guard: 'cannotCompact', actions: ['take', 'sayWhyNot'] },
      { guard: 'saysCompact', actions: ['take', 'compact'] },
      { guard: 'isLateOrder', actions: 'reportStale' },
      { guard: 'isOrder', actions: ['take', 'apply'] },
      { guard: 'isUnmentioned', actions: { type: 'skip', params: { reason: 'unmentioned' } } },
      { guard: 'isMuted', actions: 'refuse' },
      { guard: 'isStale', actions: 'reportStale' },
      { actions: ['take', 'admit'] },
    ],
    refused: { actions: 'forget' },
    accepted: { actions: 'remark' },
    introduced: { actions: 'noteIntroduced' },
    'compaction.ended': { actions: 'answerOrder' },
    'side.answered': { actions: 'sayAside' },
    'xstate.done.actor.*': { actions: 'endSaying' },
  },
})
