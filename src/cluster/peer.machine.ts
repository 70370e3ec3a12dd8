import { fromPromise, setup } from 'xstate'
import { notProvided } from '../actors/not-provided.setup.ts'

/** @property revision of its last word, which is late */
type PeerInput = { node: string; revision: number }
type PeerOutput = { gone: boolean }

/**
 * One suspicion about another node, whose last sign of life is late. The server knows at once that a killed process no longer listens; a busy or frozen one still
 * does, and keeps its place until its record expires. A broken link looks like a kill until the client reconnects, half a second later: hence two questions.
 */
export const peerMachine = setup({
  types: { input: {} as PeerInput, context: {} as PeerInput, output: {} as PeerOutput },
  actors: {
    /** Whether anybody listens where the node does; it need not answer. */
    listens: fromPromise<boolean, PeerInput>(notProvided),
  },
  guards: { listens: (_, { listens }: { listens: boolean }) => listens },
  delays: { comeBack: 750 },
}).createMachine({
  id: 'peer',
  description: 'One suspicion about another node whose word is late: it has hung up, or it is there.',
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'listens',
        input: ({ context }) => context,
        onDone: [{ guard: { type: 'listens', params: ({ event }) => ({ listens: event.output }) }, target: 'there' }, { target: 'doubted' }],
        onError: 'there',
      },
    },
    doubted: {
      description: 'Nobody listens. A client whose link broke is back within this time.',
      after: { comeBack: 'askingAgain' },
    },
    askingAgain: {
      invoke: {
        src: 'listens',
        input: ({ context }) => context,
        onDone: [{ guard: { type: 'listens', params: ({ event }) => ({ listens: event.output }) }, target: 'there' }, { target: 'gone' }],
        onError: 'there',
      },
    },
    there: { type: 'final', output: { gone: false } },
    gone: { type: 'final', output: { gone: true } },
  },
  output: ({ event }) => (event as unknown as { output: PeerOutput }).output,
})
