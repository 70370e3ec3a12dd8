/** The JSON Schema of a tool that others wrote, as what checks its input here. */
import { z } from 'zod'
import type { Tool } from '../contracts/tool.ts'

/** Its server checks the input itself; checked here too, a model learns in words of the schema what does not fit. */
export const checkerOf = (jsonSchema: Record<string, unknown>): Tool['input'] => {
  let checker: z.ZodType
  try {
    checker = z.fromJSONSchema(jsonSchema)
  } catch {
    // More than zod can express, such as if/then/else.
    checker = z.looseObject({})
  }
  // What was approved and hashed is what is sent: no default of the schema is filled in on the way.
  return z.unknown().superRefine((value, context) => {
    for (const { path, message } of checker.safeParse(value).error?.issues ?? []) context.addIssue({ code: 'custom', path: [...path], message })
  })
}
