/** Input from outside against its schema, with the field at fault in the error. */
import type { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'

/** @throws RuntimeError bad_request, too_large */
export const parseInput = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.map(String) ?? []
  const field = issue?.code === 'unrecognized_keys' ? [...path, issue.keys[0]].join('.') : path.join('.')
  const tooLarge = issue?.code === 'too_big' && issue.origin === 'string'
  throw new RuntimeError(
    tooLarge ? 'too_large' : 'bad_request',
    parsed.error.issues.map(({ path: at, message }) => (at.length > 0 ? `${at.join('.')}: ${message}` : message)).join('; '),
    {
      ...(field ? { field } : {}),
      hint: issue?.code === 'unrecognized_keys' ? 'leave the field out, or correct its name' : 'see docs/reference/messages.md',
    },
  )
}
