import { assign, fromCallback, fromPromise, raise, setup } from 'xstate'
import { notProvided } from '../../../../src/actors/not-provided.setup.ts'
import type { ErrorBody } from '../../../../src/contracts/errors.ts'
import { errorBody } from '../../../../src/contracts/errors.ts'
import type { Looked } from '../fold/protocol.ts'
import { comparedWith, isWanted, type LookInput, type Subject, type ViewingContext, type ViewingEvent } from './viewing.context.ts'

const bounded = (seq: number, head: number): number => Math.max(1, Math.min(seq, head))

/** What the page looks at: which journal, which moment of it, and whether it goes along with what is new. */
export const viewingMachine = setup({
  types: { context: {} as ViewingContext, events: {} as ViewingEvent },
  actors: {
    /** Reads the journal of what is open and hears what is new in it, as long as there is a connection. */
    read: fromCallback<ViewingEvent, { subject: Subject; from: number }>(() => void notProvided()),
    /** The tree at a moment, and what its commit did. */
    look: fromPromise<Looked, LookInput>(notProvided),
  },
  guards: {
    isKnown: ({ context: { seq, head } }) => seq >= 1 && seq <= head,
    isOvertaken: ({ context }, { looked }: { looked: Looked }) => !isWanted(looked, context),
    isOutdated: ({ context }) => context.seq >= 1 && context.seq <= context.head && !isWanted(context.looked, context),
    wantsHead: ({ context }) => context.seq === 0,
    isAhead: ({ context }) => context.seq > context.head,
    isNothing: (_, { isEmpty }: { isEmpty: boolean }) => isEmpty,
    hasCome: (_, { first }: { first: Subject | undefined }) => first !== undefined,
    isOpen: ({ context }) => context.subject !== undefined,
  },
  actions: {
    /** Opens what came first, as if somebody had chosen it. */
    openFirst: (_, _params: { first: Subject | undefined }) => void notProvided(),
    begin: assign(({ context: { compares } }, { subject, seq }: { subject: Subject; seq: number | undefined }) => ({
      subject,
      // A commit that was pinned says nothing of another journal.
      compares: typeof compares === 'number' ? ('before' as const) : compares,
      seq: seq ?? 0,
      head: 0,
      fresh: 0,
      looked: undefined,
      error: undefined,
      corrupt: undefined,
    })),
    takeHead: assign(({ context }, { head }: { head: number }) => ({ head, fresh: context.fresh + (context.head === 0 ? 0 : head - context.head) })),
    takeHeadAlong: assign((_, { head }: { head: number }) => ({ head, seq: head, fresh: 0 })),
    goTo: assign(({ context }, { seq }: { seq: number }) => ({ seq: bounded(seq, context.head) })),
    goToHead: assign(({ context }) => ({ seq: context.head, fresh: 0 })),
    compareWith: assign((_, { with: compares }: { with: ViewingContext['compares'] }) => ({ compares })),
    show: assign((_, { looked }: { looked: Looked }) => ({ looked, error: undefined })),
    showError: assign((_, { error }: { error: ErrorBody }) => ({ error })),
    showDamage: assign(({ context }, { seq, error }: { seq: number; error: ErrorBody }) => ({
      corrupt: { seq, error },
      seq: context.seq >= seq ? Math.max(1, seq - 1) : context.seq,
    })),
    wantLook: raise({ type: 'again' }),
  },
}).createMachine({
  id: 'viewing',
  description: 'What the inspector looks at: which journal, which moment of it, and whether it goes along with what is new.',
  context: { subject: undefined, seq: 0, head: 0, fresh: 0, compares: 'before', looked: undefined, error: undefined, corrupt: undefined },
  type: 'parallel',
  on: {
    open: {
      target: ['.journal.deciding', '.moment.none', '.place.deciding'],
      actions: { type: 'begin', params: ({ event: { subject, seq } }) => ({ subject, seq }) },
    },
  },
  states: {
    link: {
      initial: 'away',
      states: { away: { on: { connected: 'here' } }, here: { on: { disconnected: 'away' } } },
    },
    journal: {
      initial: 'none',
      on: {
        disconnected: { guard: 'isOpen', target: '.away' },
        corrupt: { target: '.damaged', actions: [{ type: 'showDamage', params: ({ event: { seq, error } }) => ({ seq, error }) }, 'wantLook'] },
        unreadable: { target: '.unreadable', actions: { type: 'showError', params: ({ event: { error } }) => ({ error }) } },
      },
      states: {
        none: {
          description: 'Nothing is open.',
          initial: 'unlisted',
          states: {
            unlisted: {
              on: {
                listed: [
                  { guard: { type: 'isNothing', params: ({ event: { isEmpty } }) => ({ isEmpty }) }, target: 'empty' },
                  { target: 'choosing' },
                ],
              },
            },
            empty: {
              description: 'There is nothing to choose: the first session that comes is opened.',
              on: {
                listed: [
                  {
                    guard: { type: 'hasCome', params: ({ event: { first } }) => ({ first }) },
                    target: 'choosing',
                    actions: { type: 'openFirst', params: ({ event: { first } }) => ({ first }) },
                  },
                  { guard: { type: 'isNothing', params: ({ event: { isEmpty } }) => ({ isEmpty }) } },
                  { target: 'choosing' },
                ],
              },
            },
            choosing: { description: 'Somebody chooses from the list.' },
          },
        },
        deciding: { always: 'reading' },
        away: { description: 'What is known is still shown.', on: { connected: 'reading' } },
        reading: {
          description: 'Pages of the journal come in, and then what is new.',
          invoke: { src: 'read', input: ({ context: { subject, head } }) => ({ subject: subject as Subject, from: head + 1 }) },
          initial: 'catchingUp',
          states: { catchingUp: { on: { read: 'whole' } }, whole: {} },
        },
        damaged: { description: 'What stands before the damage is sound.' },
        unreadable: {
          description: 'There is no such journal, or its address is none at all.',
          on: { connected: { guard: 'isOpen', target: 'reading' } },
        },
      },
    },
    place: {
      initial: 'deciding',
      states: {
        deciding: { always: [{ guard: 'wantsHead', target: 'live' }, { target: 'standing' }] },
        live: {
          description: 'Goes along with the head.',
          on: {
            grown: { actions: [{ type: 'takeHeadAlong', params: ({ event: { head } }) => ({ head }) }, 'wantLook'] },
            seek: { target: 'standing', actions: [{ type: 'goTo', params: ({ event: { seq } }) => ({ seq }) }, 'wantLook'] },
          },
        },
        standing: {
          description: 'Nothing moves by itself; what is new is counted.',
          on: {
            grown: { actions: [{ type: 'takeHead', params: ({ event: { head } }) => ({ head }) }, 'wantLook'] },
            seek: { actions: [{ type: 'goTo', params: ({ event: { seq } }) => ({ seq }) }, 'wantLook'] },
            live: { target: 'live', actions: ['goToHead', 'wantLook'] },
            // A link to a moment that the journal does not have.
            read: { guard: 'isAhead', target: 'live', actions: ['goToHead', 'wantLook'] },
          },
        },
      },
    },
    moment: {
      initial: 'none',
      on: { compare: { actions: [{ type: 'compareWith', params: ({ event }) => ({ with: event.with }) }, 'wantLook'] } },
      states: {
        none: { on: { again: { guard: 'isKnown', target: 'looking' } } },
        looking: {
          description: 'The tree is folded up to the moment. What was asked for before is let go when somebody goes elsewhere.',
          invoke: {
            src: 'look',
            input: ({ context }) => ({ subject: context.subject as Subject, seq: context.seq, before: comparedWith(context) }),
            onDone: [
              {
                guard: { type: 'isOvertaken', params: ({ event }) => ({ looked: event.output }) },
                target: 'looking',
                reenter: true,
                actions: { type: 'show', params: ({ event }) => ({ looked: event.output }) },
              },
              { target: 'shown', actions: { type: 'show', params: ({ event }) => ({ looked: event.output }) } },
            ],
            onError: { target: 'failed', actions: { type: 'showError', params: ({ event }) => ({ error: errorBody(event.error) }) } },
          },
          on: { seek: { target: 'looking', reenter: true } },
        },
        shown: { on: { again: { guard: 'isOutdated', target: 'looking' } } },
        failed: { description: 'What the journal itself says is shown.', on: { again: { guard: 'isKnown', target: 'looking' } } },
      },
    },
  },
})
