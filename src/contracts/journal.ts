/** What one commit of one root says, and how it is written down. */
import { z } from 'zod'
import type { ErrorBody, ErrorCode } from './errors.ts'
import { errorCodes } from './errors.ts'

/** The path of an actor inside its root: `/` is the root itself, `/turn#2/model#1` the first model call of its second turn. */
export type ActorPath = string

const AnyEvent = z.looseObject({ type: z.string() })
export type AnyEvent = { type: string; [key: string]: unknown }

/** What came in over an edge of the system. Nothing else makes its state. */
export const Input = z.union([
  /** A message from outside, `id` as its sender named it; `renews` is the id under which it was refused before. */
  z.strictObject({ to: z.string(), event: AnyEvent, id: z.string().optional(), renews: z.string().optional(), cause: z.string().optional() }),
  /** What an effect said: to its parent, or to itself when it ended. */
  z.strictObject({ from: z.string(), to: z.string(), event: AnyEvent }),
  /** A timer that fired, by the number it got when it was set. */
  z.strictObject({ timer: z.number().int() }),
])
export type Input =
  | { to: ActorPath; event: AnyEvent; id?: string | undefined; renews?: string | undefined; cause?: string | undefined }
  | { from: ActorPath; to: ActorPath; event: AnyEvent }
  | { timer: number }

const Failure = z.looseObject({ code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]), message: z.string(), retryable: z.boolean() })

/** One frame of the journal: the inputs that were applied together, and what a reader without the machine wants to know. */
export const Commit = z.strictObject({
  v: z.literal(1),
  address: z.string(),
  /** 1, 2, 3 … without a gap, our own count. */
  seq: z.number().int().min(1),
  /** Rises whenever a root is taken into memory or begins anew from its journal; only its claimer writes in an epoch. */
  epoch: z.number().int().min(1),
  writer: z.string(),
  /** ms since the epoch, never earlier than in the commit before. */
  at: z.number(),
  /** CRC-32 of the bytes of the commit before; 0 for the first. */
  prev: z.number().int(),
  create: z.strictObject({ machine: z.string(), signature: z.string(), input: z.unknown().optional() }).optional(),
  claim: z.literal(true).optional(),
  /** In a claim: from here on the actor belongs to this machine, though another one, or another version of it, has recorded what stands before. */
  adopts: z.strictObject({ machine: z.string(), signature: z.string() }).optional(),
  /** Where the chance comes from that this root draws from here on; it stands in the first commit that drew any. */
  seed: z.string().optional(),
  inputs: z.array(Input),
  /** Inputs that made the machine throw: kept, never applied. */
  refused: z.array(z.strictObject({ input: Input, error: Failure })).optional(),
  /** A failure that made the supervisor restart the root from its journal. */
  crash: Failure.optional(),
  quarantine: Failure.optional(),
  revived: z.literal(true).optional(),
  /** Its host let go of it in good order, though it was not done. */
  released: z.literal(true).optional(),
  /** In the first commit of a fork: ms by which it puts off the timers that it took over, since nobody has waited between its origin's commit and this one. */
  later: z.number().min(0).optional(),
  /** Earlier commits of which something that they let out had not happened yet, or not ended well, when this one was written. */
  owed: z.array(z.number().int()).optional(),
  /** The state value of every machine that changed, by path; a status where it ended. */
  states: z.record(z.string(), z.unknown()),
  /** 32 bits of the whole state after this commit; replay must arrive at the same. */
  digest: z.number().int(),
  /** Facts that the machine asked to have written down beside its inputs. */
  notes: z.array(AnyEvent).optional(),
})
export type Commit = Omit<z.infer<typeof Commit>, 'inputs' | 'refused' | 'crash' | 'quarantine' | 'notes'> & {
  inputs: Input[]
  refused?: { input: Input; error: ErrorBody }[] | undefined
  crash?: ErrorBody | undefined
  quarantine?: ErrorBody | undefined
  notes?: AnyEvent[] | undefined
}

/** The sender's proof that an input is durable. */
export type Receipt = {
  seq: number
  at: number
  /** The input had been accepted before; nothing happened this time. */
  duplicate: boolean
  /** What the root emitted while applying this input. */
  emitted: AnyEvent[]
}
