/** A model that answers at once, in the stream parts of the AI SDK. */

/** Each part when it is asked for. */
const streamOf = (parts) => {
  const rest = parts[Symbol.iterator]()
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = rest.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

const textOf = ({ content }) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''))

/** @param finish the last part, for a reason, as the library wants it @returns the `doStream` of the model */
export const instantStream = ({ deltas, delta, tool }, finish) => {
  function* parts(prompt) {
    const newest = prompt.at(-1)
    yield { type: 'stream-start', warnings: [] }
    if (newest.role === 'user' && textOf(newest) === 'tool') {
      yield { type: 'tool-call', toolCallId: `call-${prompt.length}`, toolName: tool.name, input: JSON.stringify(tool.input) }
      yield finish('tool-calls')
      return
    }
    yield { type: 'text-start', id: 'text' }
    for (let index = 0; index < deltas; index++) yield { type: 'text-delta', id: 'text', delta }
    yield { type: 'text-end', id: 'text' }
    yield finish('stop')
  }
  return async ({ prompt }) => ({ stream: streamOf(parts(prompt)) })
}
