/** The rest of a result that a request showed only in part. It is on the bench where one was cut, whatever tools an agent has. */
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import { readOutputName } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'

const charsMax = 12_000

/** `{ ref, offset?, limit? }` → `{ text, offset, total, next? }`, in UTF-16 units. */
export const readOutputTool = tool({
  name: readOutputName,
  description:
    'Reads what was left out of a long tool result. Give the ref that the shortened result names, and the offset of the first character to read.',
  input: z.object({
    ref: z.string().min(1).max(4000),
    offset: z.int().min(0).default(0),
    limit: z.int().min(1).max(charsMax).default(charsMax).describe(`characters; default ${charsMax}`),
  }),
  execute: async ({ ref, offset, limit }, { outputOf }) => {
    const text = await outputOf?.(ref)
    if (text === undefined)
      throw new RuntimeError('not_found', `there is no result "${ref.slice(0, 80)}"`, { hint: 'write the ref as the shortened result names it' })
    const end = Math.min(text.length, offset + limit)
    return { text: text.slice(offset, end).toWellFormed(), offset, total: text.length, ...(end < text.length ? { next: end } : {}) }
  },
  onCrash: 'retry',
})
