/** What the command line writes: answers on stdout, everything else on stderr, and how an error looks. */
import { type ErrorBody, type ErrorCode, isRuntimeError } from '../contracts/errors.ts'
import { shownBody } from '../contracts/redact.ts'
import { leave, streams, surroundings } from './surroundings.ts'

export { stateText } from '../contracts/state-text.ts'

export const exitCodes = { fine: 0, failed: 1, usage: 2, refused: 3, notFound: 4, interrupted: 130 } as const

const usage: readonly ErrorCode[] = ['bad_request', 'too_large']
const refused: readonly ErrorCode[] = ['overloaded', 'rate_limited', 'unauthorised', 'forbidden', 'session_busy', 'locked']

/** The exit code of a command that could not be carried out; a turn that failed is 1, whatever its code. */
export const exitCodeOf = (code: ErrorCode): number => {
  if (usage.includes(code)) return exitCodes.usage
  if (refused.includes(code)) return exitCodes.refused
  return code === 'not_found' ? exitCodes.notFound : exitCodes.failed
}

export const print = (line: string): void => void streams().stdout.write(`${line}\n`)
/** Resolves when the line is out: for answers of any length, which a slow reader would else make us keep. */
export const printed = (line: string): Promise<void> =>
  // Errors are told by the stream itself, see leaveQuietlyWhenNobodyReads.
  new Promise((resolve) => streams().stdout.write(`${line}\n`, (error?: Error | null) => error ?? resolve()))
export const printJson = (value: unknown): void => print(JSON.stringify(value))
/** Beside the answer, for the person who watches. */
export const note = (line: string): void => void streams().stderr.write(`${line}\n`)

/** Controls, and what shows the text behind it in another order: a person would approve something else than runs. */
const moving = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Text from outside without what could move the cursor, change colours, reorder or hide something. @param keep also line breaks */
export const printable = (text: string, keep: 'lines' | 'one line' = 'one line'): string =>
  keep === 'lines'
    ? text.replace(/\r\n?/g, '\n').replace(moving, (c) => (c === '\n' || c === '\t' ? c : '�'))
    : text.replace(/\p{Cc}+/gu, ' ').replace(moving, '�')

/** A word of a command line that a person may copy into a shell. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./][\w@%+=:,./#-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export const hasColour = (stream: { isTTY?: boolean }): boolean => {
  const { NO_COLOR, TERM } = surroundings().env
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
export const dim = (text: string, stream: { isTTY?: boolean } = streams().stderr): string => (hasColour(stream) ? `\u001b[2m${text}\u001b[22m` : text)

/** Writes an error for people on stderr, and with `--json` also as a line for programs. */
export const reportError = (thrown: unknown, { json = false } = {}): ErrorBody => {
  const body = shownBody(thrown)
  note(`error: ${printable(body.message)} [${body.code}]`)
  const hint = body.hint ?? (body.code === 'internal' ? 'this is a defect in Statecast or in the app; STATECAST_DEBUG=1 shows where' : undefined)
  if (hint) note(`hint: ${printable(hint)}`)
  if (surroundings().env.STATECAST_DEBUG === '1' && thrown instanceof Error) {
    note(thrown.stack ?? '')
    if (isRuntimeError(thrown) && thrown.cause instanceof Error) note(`caused by ${thrown.cause.stack}`)
  }
  if (json) printJson({ error: body })
  return body
}

/** `head` and the like close the pipe when they have enough: no reason to complain. What was accepted is durable. */
export const leaveQuietlyWhenNobodyReads = (): void => {
  const { stdout, stderr } = streams()
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return leave(exitCodes.fine)
      throw error
    })
}
