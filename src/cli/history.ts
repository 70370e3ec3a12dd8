/** `statecast history`: what was said; what a model thought aloud in tags is in the JSON only. */
import { fileLine } from '../contracts/file.ts'
import type { Message } from '../contracts/message.ts'
import { withSession } from './address.ts'
import { resultText, shortText } from './cards.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { dim, exitCodes, note, print, printable, printJson } from './output.ts'
import { streams } from './surroundings.ts'
import { visible } from './words.ts'

export const history = async (options: Globals & { limit?: number }, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { messages } = await withSession(key, (sessionKey) =>
      client.command<{ messages: Message[] }>('chat.history', { sessionKey, limit: options.limit }),
    )
    if (options.json) messages.forEach(printJson)
    else if (messages.length === 0) note('nothing has been said in it, or not since it started over')
    else for (const [index, message] of messages.entries()) for (const line of linesOf(message, index === 0)) print(line)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

/** `› what was asked`, the calls with what they returned, and the answer. */
const linesOf = (message: Message, first: boolean): string[] => {
  switch (message.role) {
    case 'user':
      return [
        ...(first ? [] : ['']),
        `› ${printable(message.text, 'lines').replaceAll('\n', '\n  ')}`,
        ...(message.files ?? []).map((file) => faint(`  ⊕ ${printable(fileLine(file))}`)),
      ]
    case 'assistant': {
      const text = visible(message.text)
      return [
        ...(text === '' ? [] : [printable(text, 'lines')]),
        ...(message.partial ? [faint('  (stopped)')] : []),
        ...message.calls.map(({ name, input }) => faint(`  ⚙ ${printable(name)} ${shortText(input)}`)),
      ]
    }
    case 'tool':
      return [
        faint(
          `  ${message.isError ? '✗' : '✓'} ${printable(message.name)} ${message.isError ? resultText(message.output) : shortText(message.output)}`,
        ),
      ]
    case 'summary':
      return [faint('  (older history, summarised)'), printable(visible(message.text), 'lines')]
  }
}

const faint = (text: string): string => dim(text, streams().stdout)
