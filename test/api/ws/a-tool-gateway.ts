/** A gateway whose model asks for tools as its script says, and what it was shown by each of its calls. */
import { z } from 'zod'
import type { Message, ToolMessage } from '../../../src/contracts/message.ts'
import type { Tool } from '../../../src/contracts/tool.ts'
import { type AgentDefinition, agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import type { ScriptedResponse } from '../../../src/models/script.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

type Turn = ScriptedResponse | ((shown: Message[]) => ScriptedResponse)
type Given = {
  /** What the model answers, call by call; the last one for all that follow. */
  script: Turn[]
  tools?: Tool[]
  agent?: Partial<AgentDefinition>
  app?: RuntimeOptions
}

/** A tool that takes anything and answers by what `execute` does with it. */
export const aTool = (name: string, execute: (input: any) => unknown = () => 'done', more: Partial<Tool> = {}): Tool =>
  tool({ name, description: `does ${name}`, input: z.looseObject({}), execute, ...more })

export const aToolGateway = async ({ script, tools = [], agent: more = {}, app = {} }: Given) => {
  const shown: Message[][] = []
  const offered: string[][] = []
  const answer = ({ messages, tools: bench }: { messages: Message[]; tools: { name: string }[] }): ScriptedResponse => {
    shown.push(messages)
    offered.push(bench.map(({ name }) => name))
    const turn = script[Math.min(shown.length, script.length) - 1] as Turn
    return typeof turn === 'function' ? turn(messages) : turn
  }
  const served = await aGateway(
    {},
    { agents: [agent({ name: 'main', model: 'test/script', tools, ...more })], models: { 'test/script': answer }, ...app },
  )
  const socket = await aSocket(served.gateway.url)
  const { request, event } = socket
  const say = (message: string, idempotencyKey = message, sessionKey = 'main') => request('chat.send', { sessionKey, message, idempotencyKey })
  const end = async (runId: string) => (await event('chat', (chat) => chat.runId === runId && chat.state !== 'delta')).payload
  /** Says it and waits for the end. */
  const ask = async (message: string, idempotencyKey = message) => {
    await say(message, idempotencyKey)
    return end(idempotencyKey)
  }
  /** Results that the model was shown by its nth call. */
  const results = (nth: number) => (shown.at(nth) ?? []).filter((one): one is ToolMessage => one.role === 'tool')
  return { ...served, ...socket, say, end, ask, shown, offered, results }
}
