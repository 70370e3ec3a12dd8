/** Text of a stream: whole, or its lines, each kept only as far as it could be used. */
import { RuntimeError } from '../contracts/errors.ts'

/**
 * Ends with `\n` or `\r\n`; the last line needs neither. What goes beyond `charsMax` of one line is dropped, so a line without an end costs
 * no memory: a reader that gets `charsMax` characters and more knows that it is too long.
 * @throws RuntimeError bad_request for what is not UTF-8
 */
export async function* linesOf(stream: AsyncIterable<Buffer>, charsMax: number): AsyncGenerator<string> {
  let line = ''
  const keep = (text: string) => {
    if (line.length < charsMax) line += text.slice(0, charsMax - line.length)
  }
  const take = (): string => {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    return whole
  }
  for await (const text of decoded(stream)) {
    const parts = text.split('\n')
    for (const [index, part] of parts.entries()) {
      keep(part)
      if (index < parts.length - 1) yield take()
    }
  }
  if (line !== '') yield take()
}

/** What is not text would reach the model as other characters than were meant. @throws RuntimeError bad_request */
export async function* decoded(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of stream) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new RuntimeError('bad_request', 'the input is not UTF-8', { cause, field: 'stdin', hint: 'convert it, for example with iconv -t utf-8' })
  }
}
