/** What a message of a person carries beside its words, for the desk of its session, the publisher of its turn and its tools: read once, and in the journal with it. */
import { z } from 'zod'
import { Delivery } from '../../contracts/channel.ts'
import type { IncomingMessage } from '../../contracts/desk.ts'
import { Origin } from '../../contracts/reply.ts'
import { SkillCommand } from '../../contracts/skill.ts'

/** See directives.rules.ts. */
const Directive = z.looseObject({ name: z.string().max(40) })

export const Annotations = z.strictObject({
  origin: Origin.optional().describe('where it came from'),
  delivery: Delivery.optional().describe('how answers go there'),
  groupHint: z.string().max(2000).optional().describe('what its channel says about groups'),
  thread: z.record(z.string(), z.unknown()).optional().describe('what tools are told of the conversation, by its channel'),
  stamp: z.string().max(160).optional().describe('when it came, as the model is told'),
  ignored: z.literal(true).optional().describe('a stranger gives orders'),
  denied: z.literal(true).optional().describe('by the rules of the operator nothing is said there'),
  gatherMs: z.number().int().min(1).optional().describe('ms in which messages of one sender become one'),
  skill: SkillCommand.optional().describe('the skill that its sender calls'),
  directives: z.array(Directive).max(50).optional().describe('what the sender asked of us rather than of the model'),
})
export type Annotations = z.infer<typeof Annotations>

/** Of one without any there are none. */
export const annotationsOf = ({ annotations }: Pick<IncomingMessage, 'annotations'>): Annotations => annotations ?? {}
