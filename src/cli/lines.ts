/** Lines of a stream, each kept only as far as it could be used. */

/**
 * Ends with `\n` or `\r\n`; the last line needs neither. What goes beyond `charsMax` of one line is dropped, so a line without an end costs
 * no memory: whoever gets `charsMax` characters and more knows that it is too long.
 */
export async function* linesOf(stream: AsyncIterable<Buffer | string>, charsMax: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let line = ''
  const keep = (text: string) => {
    if (line.length < charsMax) line += text.slice(0, charsMax - line.length)
  }
  const take = (): string => {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    return whole
  }
  for await (const chunk of stream) {
    const parts = (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })).split('\n')
    for (const [index, part] of parts.entries()) {
      keep(part)
      if (index < parts.length - 1) yield take()
    }
  }
  keep(decoder.decode())
  if (line !== '') yield take()
}
