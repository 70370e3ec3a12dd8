/** `statecast chat`: in a terminal a conversation, in a pipe one message a line. */
import { connect } from '../connect.ts'
import { agreed } from '../contradictions.ts'
import type { ChatOptions, Options } from '../globals.ts'

export const chat = async ({ session, ...rest }: Options<Partial<ChatOptions>>, key: string | undefined): Promise<number> => {
  const settings = [
    { by: 'the conversation that is named first', value: key },
    { by: '--session', value: session },
  ]
  const options: ChatOptions = { ...rest, session: agreed('session', ...settings) ?? 'main' }
  const client = await connect(options)
  try {
    const interactive = process.stdin.isTTY && process.stdout.isTTY && !options.json
    if (!interactive) return await (await import('./pipe.ts')).chatThroughPipe(client, options)
    const { chatInTerminal } = await import('./terminal.ts')
    return await chatInTerminal(client, options, { input: process.stdin, output: process.stdout })
  } finally {
    process.stdin.destroy()
    await client.close()
  }
}
