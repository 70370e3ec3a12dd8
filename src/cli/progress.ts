/** How far long work has come, on one line of a terminal; nothing where nobody watches. */

import { streams } from './surroundings.ts'

/** ms between two lines. */
const paceMs = 100

type Progress = { tell(line: string): void; end(): void }

export const progressOn = (stream: { isTTY?: boolean; write(text: string): unknown } = streams().stderr): Progress => {
  let told = 0
  let shown = false
  if (!stream.isTTY) return { tell: () => undefined, end: () => undefined }
  return {
    tell(line) {
      const now = performance.now()
      if (now - told < paceMs) return
      told = now
      shown = true
      stream.write(`\r\u001b[K${line}`)
    },
    end() {
      if (shown) stream.write('\r\u001b[K')
    },
  }
}
