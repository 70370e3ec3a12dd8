/** The stream of events that an answer arrives in, on its way to the package of the AI SDK that reads it. */
import { repairedEvent } from './usage-repair.ts'

/** Bytes of one line, which is kept until it ends. */
const lineBytesMax = 16 * 1024 * 1024

const newline = 0x0a
const carriageReturn = 0x0d
/** `data:` with a space, the mark, and a carriage return. */
const markBytesMax = 16
const done = Buffer.from('[DONE]')
const isDone = (line: Buffer): boolean => line.includes(done) && /^data: ?\[DONE\]\s*$/.test(line.toString('latin1'))

/** What stands in events that tell how many tokens were used, or have to. */
const usageMarks = ['"usage', '_eval_count"', '"message_start"', '"message_delta"'].map((mark) => Buffer.from(mark))
const tellsUsage = (bytes: Buffer): boolean => usageMarks.some((mark) => bytes.includes(mark))

/**
 * Passes whole lines on, ends a stream of events where one says so, and repairs what is told of the tokens used. Few lines are looked into: most only
 * pass as bytes.
 * @param sign is called for each chunk, also for comments
 */
export const answerEvents = (sign: () => void = () => undefined): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  /** Of the line that has not ended. */
  let begun: Buffer<ArrayBuffer>[] = []
  let begunBytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      sign()
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      const until = Math.max(bytes.lastIndexOf(newline), bytes.lastIndexOf(carriageReturn)) + 1
      const first = begunBytes + (until === 0 ? bytes.length : bytes.indexOf(newline))
      // The reader finds an answer that broke off.
      if (first > lineBytesMax) return controller.terminate()
      if (until > 0) {
        const whole = begun.length === 0 ? bytes.subarray(0, until) : Buffer.concat([...begun, bytes.subarray(0, until)])
        const { lines, isOver } = passed(whole)
        for (const part of lines) controller.enqueue(part)
        // Cancels the connection, too.
        if (isOver) return controller.terminate()
        begun = []
        begunBytes = 0
      }
      if (until === bytes.length) return
      begun.push(bytes.subarray(until))
      begunBytes += bytes.length - until
    },
    flush(controller) {
      for (const part of begun) controller.enqueue(part)
    },
  })
}

/** @param bytes of whole lines @returns what is passed on of them, and whether they say that the answer is over */
const passed = (bytes: Buffer<ArrayBuffer>): { lines: Buffer<ArrayBuffer>[]; isOver: boolean } => {
  const looksForUsage = tellsUsage(bytes)
  if (!looksForUsage && !bytes.includes(done)) return { lines: [bytes], isOver: false }
  const lines: Buffer<ArrayBuffer>[] = []
  let kept = 0
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(newline, from)
    const next = end < 0 ? bytes.length : end + 1
    const line = bytes.subarray(from, next)
    if (line.length <= markBytesMax + 1 && isDone(line)) return { lines: [...lines, bytes.subarray(kept, next)], isOver: true }
    const repaired = looksForUsage && tellsUsage(line) ? repairedLine(line) : undefined
    if (repaired !== undefined) {
      lines.push(bytes.subarray(kept, from), repaired)
      kept = next
    }
    from = next
  }
  return { lines: [...lines, bytes.subarray(kept)].filter(({ length }) => length > 0), isOver: false }
}

const repairedLine = (line: Buffer): Buffer<ArrayBuffer> | undefined => {
  const text = line.toString('utf8')
  const repaired = text.startsWith('data:') ? repairedEvent(text.slice('data:'.length)) : undefined
  return repaired === undefined ? undefined : Buffer.from(`data: ${repaired}\n`)
}
