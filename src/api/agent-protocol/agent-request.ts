/** What callers of the agent protocol send: text, or a JSON envelope. */
import { z } from 'zod'
import { type ErrorBody, RuntimeError } from '../../contracts/errors.ts'
import { parseInput, parseJson } from '../../contracts/parse.ts'
import { statusOf } from '../error-status.ts'

/** As the endpoint announces it; both in one place, so that they agree. */
export const requestMax = { text: '1MB', bytes: 1024 * 1024 }

/** Fields that we do not know are those of a later version. */
const Envelope = z.object({ prompt: z.string(), attachments: z.array(z.unknown()).optional() })

const openingBrace = /^[\t\n\r ]*\{/

/** @returns what is said, never empty @throws RuntimeError bad_request, too_large, unsupported (attachments) */
export const promptIn = (data: Uint8Array): string => {
  if (data.length > requestMax.bytes)
    throw new RuntimeError('too_large', `a prompt may have ${requestMax.bytes} bytes, this one has ${data.length}`, { hint: 'send less at a time' })
  const text = textIn(data)
  if (!openingBrace.test(text)) return filled(text)
  const { prompt, attachments = [] } = parseInput(
    Envelope,
    parseJson(data, 'envelope', 'send {"prompt":"…"}, or plain text that does not begin with {'),
  )
  if (attachments.length > 0)
    throw new RuntimeError('unsupported', 'attachments are not taken here', {
      field: 'attachments',
      hint: 'the endpoint says so with attachments_ok: send what matters as text',
    })
  return filled(prompt)
}

const textIn = (data: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data)
  } catch (cause) {
    throw new RuntimeError('bad_request', 'the prompt is not UTF-8', { cause, hint: 'send text in UTF-8' })
  }
}

const filled = (prompt: string): string => {
  if (prompt.trim() === '') throw new RuntimeError('bad_request', 'the prompt must not be empty', { field: 'prompt', hint: 'say something' })
  return prompt
}

/** All that the protocol knows. */
const statuses = new Set([400, 401, 403, 404, 409, 429, 500])
const nearest: Partial<Record<ErrorBody['code'], number>> = { too_large: 400, unsupported: 400, overloaded: 429, provider_rate_limit: 429 }

export const protocolStatus = (error: ErrorBody): number => {
  const status = nearest[error.code] ?? statusOf(error)
  return statuses.has(status) ? status : 500
}
