/** What the caller of one message wants of its answer: JSON of a form, or the call of a function. */
import { z } from 'zod'
import { ClientTool } from './client-tools.ts'

/** JSON in place of text. The provider's own mode enforces it where the model has one; else the instructions describe it. */
export const AnswerFormat = z
  .strictObject({
    schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of the answer; default: any JSON'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
      .optional()
      .describe('for the model'),
    description: z.string().max(4000).optional().describe('for the model'),
    isTold: z.literal(true).optional().describe('the instructions say it already'),
    strict: z.boolean().optional().describe('whether a provider with a strict mode uses it; default false'),
  })
  .describe('the answer is JSON')
export type AnswerFormat = z.infer<typeof AnswerFormat>

/** `required`: the model calls a function in each step. A name: it calls that one. Default: the model decides. */
export const ToolChoice = z
  .union([z.literal('required'), z.strictObject({ name: ClientTool.shape.name })])
  .describe('which function the model must call')
export type ToolChoice = z.infer<typeof ToolChoice>
