/** Builders for stories about sessions: one agent, one scripted model, tools that write down what they did, and time that passes when told. */

import { expect } from 'vitest'
import { z } from 'zod'
import { decodeCommit } from '../../src/actors/journal/codec.ts'
import type { ChatAgent } from '../../src/chat.ts'
import { definedOf } from '../../src/contracts/defined.ts'
import type { Message } from '../../src/contracts/message.ts'
import type { Profile } from '../../src/contracts/profile.ts'
import { formatAddress } from '../../src/contracts/subjects.ts'
import type { TranscriptNote } from '../../src/contracts/turn.ts'
import { type Agent, type AgentDefinition, agent, type RunEvent, type Session, type Tool, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import {
  type ScriptedSource,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
  type VirtualClock,
  virtualClock,
} from '../../src/testing/index.ts'
import { telling } from '../support/telling.ts'

export type Story = TestRuntime &
  AsyncDisposable & {
    main: Session
    /** Timers that run though nothing goes on. */
    timersAtRest: number
    /** What the tools did to the world, in order. */
    did: string[]
    /** Says something under an id of its own and lets it be accepted. */
    say(text: string, options?: Parameters<Session['send']>[1]): ReturnType<Session['send']>
    /** Until every message has its outcome and nothing runs. */
    quiet(): Promise<void>
    /** The conversation, a line each. */
    transcript(): Promise<string[]>
    /** Types of what the session said, deltas left out. */
    said(): string[]
  }

/** Settings of a turn and of chat stand side by side here, each by the name that it has in a profile. */
type StoryOptions = Partial<Omit<AgentDefinition, 'tools' | 'limits' | 'context' | 'queue'>> &
  Partial<Omit<Profile, keyof ChatAgent | 'fallbacks'>> &
  Pick<AgentDefinition, 'limits'> &
  ChatAgent & {
    tools?: (world: { clock: VirtualClock; did: string[] }) => Tool[]
    runtime?: TestRuntimeOptions
  }

/** The agent `main` of a story, and how it is with people. */
const cast = (
  { delivery, heartbeat, freshness, verbose, reasoning, usage, responsePrefix, ...options }: Omit<StoryOptions, 'tools' | 'runtime'>,
  tools: Tool[],
): { agents: Agent[]; chatAgents?: { main: ChatAgent } } => {
  const { name = 'main', model = 'test/model', instructions = '', services, settings, choice, maxRetries, limits, ...profile } = options
  const own = definedOf({ services, settings, choice, maxRetries, limits })
  const made = agent({ name, model, instructions, tools, ...own })
  const chatAgent = definedOf({ delivery, heartbeat, freshness, verbose, reasoning, usage, responsePrefix })
  return {
    agents: [{ ...made, profile: { ...made.profile, ...(profile as Partial<Profile>) } }],
    ...(Object.keys(chatAgent).length > 0 && { chatAgents: { main: chatAgent } }),
  }
}

export const story = async (script: ScriptedSource, { tools, runtime, ...definition }: StoryOptions = {}): Promise<Story> => {
  const { outside, options, begin, end, gone, timersAtRest = 2 } = telling()
  const clock = virtualClock(undefined, outside ? { outside } : {})
  const did: string[] = []
  const kit = await testRuntime({
    clock,
    ...cast(definition, tools?.({ clock, did }) ?? []),
    models: { 'test/model': script },
    ...runtime,
    ...options,
  })
  const given = { session: kit.session, crash: kit.crash, restart: kit.restart, ...(await begin?.(kit)) }
  const main = () => given.session('main')
  const told: Story = Object.defineProperties(
    {
      did,
      say: (text: string, options?: Parameters<Session['send']>[1]) => clock.until(main().send(text, options)),
      quiet: async () => {
        for (;;) {
          const { state, queued } = await clock.until(main().view())
          if (state === 'awaiting-input' && queued.length === 0) break
          await clock.advance(50)
        }
        await clock.settle()
      },
      transcript: async () => (await main().history()).map(line),
      said: () => kit.events('main').flatMap(({ type }) => (type === 'delta' ? [] : [type])),
    } as Story,
    {
      ...Object.getOwnPropertyDescriptors(kit),
      ...Object.getOwnPropertyDescriptors(given),
      timersAtRest: { value: timersAtRest },
      main: { get: main },
      [Symbol.asyncDispose]: {
        value: async () => {
          try {
            await end?.(kit)
          } finally {
            await kit[Symbol.asyncDispose]()
            await gone?.()
          }
        },
      },
    },
  )
  return told
}

export const line = (message: Message): string => {
  switch (message.role) {
    case 'user':
      return `user: ${message.text}`
    case 'summary':
      return `summary: ${message.text}`
    case 'assistant':
      return `assistant${message.partial ? ' (partial)' : ''}: ${message.text}${message.calls.map(({ name, input }) => ` <${name} ${JSON.stringify(input)}>`).join('')}`
    case 'tool': {
      const { error } = (message.output ?? {}) as { error?: { code: string } }
      return `tool ${message.name}: ${message.isError ? `! ${error?.code}` : JSON.stringify(message.output)}`
    }
  }
}

/** A tool that works for `ms` of virtual time and writes down when it starts and ends; it stops when told to. */
export const worker =
  (settings: Partial<Omit<Tool, 'input' | 'execute' | 'jsonSchema'>> = {}) =>
  ({ clock, did }: { clock: VirtualClock; did: string[] }): Tool =>
    tool({
      name: 'work',
      description: 'works',
      onCrash: 'retry',
      ...settings,
      input: z.object({ name: z.string(), ms: z.number().default(0) }),
      execute: async ({ name, ms }, { attempt, signal }) => {
        did.push(`${name} starts${attempt > 1 ? ` again (${attempt})` : ''}`)
        if (ms > 0)
          await new Promise<void>((resolve) => {
            const timer = clock.setTimeout(resolve, ms)
            signal.addEventListener('abort', () => {
              clock.clearTimeout(timer)
              resolve()
            })
          })
        did.push(`${name} ${signal.aborted ? 'stops' : 'ends'}`)
        return `${name} done`
      },
    })

/** A call of `worker` in a script. */
export const work = (name: string, ms = 0) => ({ name: 'work', input: { name, ms } })

/** Every call in a transcript has exactly one result, right behind it, before anything else is said. */
export const expectPaired = (messages: Message[]): void => {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const results = messages.slice(index + 1, index + 1 + message.calls.length)
    expect(results.map((one) => (one.role === 'tool' ? one.callId : one.role))).toEqual(message.calls.map(({ callId }) => callId))
    expect(messages[index + 1 + message.calls.length]?.role).not.toBe('tool')
  }
}

/** Outcomes by the message they are about: exactly one for each that was accepted. What is said again after a crash is the same again. */
export const outcomes = (events: RunEvent[]): Record<string, string> => {
  const accepted = new Set(events.flatMap((event) => (event.type === 'accepted' ? [event.id] : [])))
  const endings = new Set(
    events.flatMap((event) =>
      event.type === 'final' || event.type === 'error' || event.type === 'aborted' ? event.ids.map((id) => `${event.type} ${id}`) : [],
    ),
  )
  const entries = [...endings].map((ending): [string, string] => [ending.slice(ending.indexOf(' ') + 1), ending.slice(0, ending.indexOf(' '))])
  expect(entries.map(([id]) => id).toSorted()).toEqual([...accepted].toSorted())
  return Object.fromEntries(entries)
}

/** The same as the journal has it: every message that was accepted is in it once, and ends once. */
export const expectEndedOnce = async ({ runtime, main }: Story): Promise<void> => {
  const accepted: string[] = []
  const ended: string[] = []
  const frames = await partsOf(runtime).transport.journal.read(main.address, 1)
  for (const { seq, bytes } of frames) {
    const { inputs, notes = [] } = decodeCommit(bytes, { address: formatAddress(main.address), seq })
    for (const input of inputs) if ('event' in input && !('from' in input) && input.event.type === 'message') accepted.push(String(input.event.id))
    for (const note of notes as unknown as TranscriptNote[]) ended.push(...(note.ended ?? []).flatMap(({ ids }) => ids))
  }
  expect(ended.toSorted()).toEqual(accepted.toSorted())
}

/** Nothing of any turn is alive: no actor but the desk, no effect, no timer but the two of the host: for what is due, and for who may leave memory. */
export const expectNothingAlive = async ({ runtime, main, clock, timersAtRest }: Story): Promise<void> => {
  const root = await partsOf(runtime).host.get(main.address)
  const { replica } = root
  expect(Object.keys(replica?.states() ?? {}).filter((path) => path !== '/desk#1')).toEqual(['/'])
  expect([...(replica?.effects.keys() ?? [])]).toEqual([])
  expect([...(replica?.timers.pending() ?? [])]).toEqual([])
  expect(clock.pending()).toBeLessThanOrEqual(timersAtRest)
}
