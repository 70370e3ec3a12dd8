/** The commands about journals: reading them, folding them, bringing them here. */
import { z } from 'zod'
import { ForkAnswers, ForkChange } from './fork.ts'
import { maxIdBytes } from './subjects.ts'
import { beingImported } from './transport.ts'

export const SessionKey = z.string().min(1).max(maxIdBytes).describe('key of the session, such as main')
export const Kind = z.string().min(1).max(32).describe('kind of the actor, such as session')
const Seq = z.number().int().min(1)
const Texts = z.number().int().min(10).max(500_000).describe('characters of one text; what is longer is cut; default: 4,000')

export const traceCommands = {
  'machines.get': z
    .strictObject({ kind: Kind.optional() })
    .describe('the charts of a kind of actor and of all machines below it, by their signatures; `root` is that of the kind itself'),
  'trace.read': z
    .strictObject({ kind: Kind.optional(), id: SessionKey, from: Seq.optional(), limit: z.number().int().min(1).max(10_000).optional() })
    .describe('the journal, one entry an input'),
  'trace.spans': z
    .strictObject({
      sessionKey: SessionKey,
      runId: z.string().min(1).max(200).optional().describe('default: all of the session that this node knows'),
    })
    .describe('when a run did what: its stages, its steps, and how long it took to the first token; this node observes it, and keeps its newest 500'),
  'trace.frames': z
    .strictObject({ kind: Kind.optional(), id: SessionKey, from: Seq.optional(), limit: z.number().int().min(1).max(1000).optional() })
    .describe('the journal as it is stored, commits in base64: for replaying it with other machines'),
  'trace.export': z
    .strictObject({ kind: Kind.optional(), id: SessionKey })
    .describe('the journal as a file for others to see and to test with: what people said is taken out, and it leads to the same states'),
  'trace.import': z
    .strictObject({
      kind: Kind.optional(),
      id: SessionKey,
      frames: z.array(z.strictObject({ seq: Seq, bytes: z.base64() })).min(1),
      wakeAt: z
        .number()
        .nullable()
        .refine((at) => at === null || (at >= 0 && at < beingImported), 'must be ms since the epoch, 0 or null')
        .optional()
        .describe(
          'with the last commits, which makes it whole: when it resumes, ms since the epoch; 0 at once, null never. Until then nobody can use it',
        ),
    })
    .describe('imports commits that trace.frames gave elsewhere, in order and from the first'),
  'trace.replay': z
    .strictObject({ kind: Kind.optional(), id: SessionKey, to: Seq.optional() })
    .describe('folds the journal again and compares every state'),
  'trace.fork': z
    .strictObject({
      kind: Kind.optional(),
      id: SessionKey,
      at: Seq.optional().describe('the last commit that both share; default: the newest, or the one before the change'),
      as: SessionKey.describe('its key; nobody may have it'),
      answers: ForkAnswers.optional().describe(
        'where models and tools were given the same, the fork gets what was recorded then (`recorded`, the default), or asks them anew (`live`)',
      ),
      change: ForkChange.optional(),
    })
    .describe(
      'begins another conversation or actor with the commits of this one up to a moment, which are shared and not copied, and lets it run on',
    ),
  'trace.moment': z
    .strictObject({ kind: Kind.optional(), id: SessionKey, seq: Seq, texts: Texts.optional() })
    .describe('the tree of an actor after one of its commits: states, contexts, timers, and the transitions that are possible there'),
  'trace.steps': z
    .strictObject({ kind: Kind.optional(), id: SessionKey, seq: Seq, texts: Texts.optional() })
    .describe('what one commit of an actor did: who began, what was delivered, what each machine decided, and what guards said'),
  'trace.relay': z
    .strictObject({
      kind: Kind.optional(),
      id: SessionKey,
      expiresInMs: z.number().int().min(1000).max(86_400_000).optional().describe('ms; default one hour, a day at most'),
    })
    .describe(
      'makes an address below this node that shows the tree of an actor to whoever has it: a WebSocket as receivers of the Stately inspector read it',
    ),
  'trace.coverage': z
    .strictObject({
      kind: Kind.optional(),
      ids: z.array(SessionKey).min(1).max(100).optional().describe('only these; one alone may be of any length'),
      after: z.string().max(4000).optional().describe('`next` of the answer before'),
      limit: z.number().int().min(1).max(1000).optional().describe('actors that are folded at most; default: 200'),
    })
    .describe('how often states were entered and transitions taken by the actors of a kind, and by which the rare ones'),
}
