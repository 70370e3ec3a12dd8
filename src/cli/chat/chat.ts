/** `statecast chat`: in a terminal a conversation, in a pipe one message a line. */
import { connect } from '../connect.ts'
import { agreed } from '../contradictions.ts'
import type { ChatOptions, Options } from '../globals.ts'
import { streams } from '../surroundings.ts'

export const chat = async ({ session, ...rest }: Options<Partial<ChatOptions>>, key: string | undefined): Promise<number> => {
  const settings = [
    { by: 'the conversation that is named first', value: key },
    { by: '--session', value: session },
  ]
  const options: ChatOptions = { ...rest, session: agreed('session', ...settings) ?? 'main' }
  const { stdin, stdout } = streams()
  const client = await connect(options)
  try {
    const interactive = stdin.isTTY && stdout.isTTY && !options.json
    if (!interactive) return await (await import('./pipe.ts')).chatThroughPipe(client, options)
    const { chatInTerminal } = await import('./terminal.ts')
    return await chatInTerminal(client, options, { input: stdin, output: stdout })
  } finally {
    stdin.destroy()
    await client.close()
  }
}
