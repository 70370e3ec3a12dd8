/** A reader of server-sent events that is not ours. */

export type Frame = { event: string; id?: string; data: any }

/** Data that is not JSON, such as `[DONE]`, stays text. Comments are skipped. */
export async function* framesIn({ body }: Response): AsyncGenerator<Frame> {
  let rest = ''
  for await (const chunk of (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
      if (fields.data === undefined) continue
      yield {
        event: fields.event ?? '',
        ...(fields.id !== undefined && { id: fields.id }),
        data: fields.data.startsWith('{') ? JSON.parse(fields.data) : fields.data,
      }
    }
  }
}

export const allFramesIn = async (response: Response): Promise<Frame[]> => {
  const frames: Frame[] = []
  for await (const frame of framesIn(response)) frames.push(frame)
  return frames
}
