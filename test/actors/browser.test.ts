/** Charts and the folding of journals run in a browser: whoever looks at a conversation there sees what Node would say. */
import { createContext, Script } from 'node:vm'
import { rolldown } from 'rolldown'
import { beforeAll, expect, test } from 'vitest'
import type { Address } from '../../src/contracts/subjects.ts'
import type { FramePage } from '../../src/runtime/trace.ts'
import type { Runtime } from '../../src/runtime.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { aSocketGateway, token } from '../client/socket/a-socket-gateway.ts'
import { story, work, worker } from '../runtime/harness.ts'
import { linesMatching, repository } from '../tidy/sources.ts'
import * as inNode from './browser.entry.ts'

const build = async () => {
  await using bundle = await rolldown({ input: 'test/actors/browser.entry.ts', cwd: repository, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', name: 'entry', sourcemap: false })
  const [{ code, imports, dynamicImports, moduleIds }] = output
  return { code, imports: [...imports, ...dynamicImports], files: moduleIds.map((id) => id.replace(repository, '')), chunks: output.length }
}
let built: Awaited<ReturnType<typeof build>>
beforeAll(async () => void (built = await build()))

/** What every browser has and the language has not; nothing of Node. */
const browserGlobals = {
  TextEncoder,
  TextDecoder,
  AbortController,
  structuredClone,
  queueMicrotask,
  setTimeout,
  clearTimeout,
  crypto,
  URL,
  WebSocket,
}

type Entry = typeof inNode
const inBrowser = (): Entry => {
  const context = createContext({ ...browserGlobals }, { codeGeneration: { strings: false, wasm: false } })
  return new Script(`${built.code}; entry`).runInContext(context) as Entry
}

test('the bundle is one file that asks for no module, and none of our files in it names what only Node has', () => {
  const ours = built.files.filter((file) => file.startsWith('src/'))

  expect(built).toMatchObject({ imports: [], chunks: 1 })
  expect(built.code).not.toMatch(/['"`]node:|\brequire\(/)
  expect(ours).toEqual(
    expect.arrayContaining(['src/actors/native.browser.ts', 'src/actors/journal/recovery.ts', 'src/all-machines.ts', 'src/client/socket/index.ts']),
  )
  expect(ours).not.toContain('src/actors/native.ts')
  expect(linesMatching(ours, /\bBuffer\.|\bprocess\.(?:env|pid|cwd|nextTick|hrtime|platform|versions)\b|\bsetImmediate\b|['"]node:/)).toEqual([])
})

test('every chart has the same signature and drawing there, and an address the same partition', () => {
  const there = inBrowser()

  expect(JSON.parse(there.drawn())).toEqual(JSON.parse(inNode.drawn()))
  for (const id of ['main', 'a.b', 'Ümläut ☃ 😀']) expect(there.partition({ kind: 'session', id })).toBe(inNode.partition({ kind: 'session', id }))
})

const framesOf = async (runtime: Pick<Runtime, 'command'>, { kind, id }: Address): Promise<number[][]> => {
  const { frames } = await runtime.command<FramePage>('trace.frames', { kind, id })
  return frames.map(({ bytes }) => [...Buffer.from(bytes, 'base64')])
}

test('the journal of a conversation with tools folds to the same states', async () => {
  const script = [{ calls: [work('a', 300), work('b')] }, { text: 'done' }, { text: 'you are welcome' }]
  await using told = await story(script, { tools: (world) => [worker()(world)] })
  await told.say('do both')
  await told.quiet()
  await told.say('thanks')
  await told.quiet()
  const { address } = told.main
  const here = await told.runtime.replay(address)
  const frames = await framesOf(told.runtime, address)

  const there = JSON.parse(await inBrowser().fold(address, frames))

  expect(there).toMatchObject({ verdict: 'identical', commits: frames.length, context: { turns: 2 } })
  expect(there).toEqual(JSON.parse(JSON.stringify(here)))
})

test("the journal of a user's machine that draws time, chance and ids does, too", async () => {
  await using kit = await testRuntime({ machines: { lottery: inNode.lotteryMachine } })
  const lottery = kit.runtime.actor('lottery', 'x')
  for (const type of ['note', 'draw', 'note', 'draw'] as const) {
    await kit.clock.until(lottery.send({ type }))
    await kit.clock.advance(2_500)
  }
  const here = await kit.clock.until(kit.runtime.replay(lottery.address))
  const frames = await framesOf(kit.runtime, lottery.address)

  const there = JSON.parse(await inBrowser().fold(lottery.address, frames))

  expect(there).toMatchObject({ verdict: 'identical', context: { drawn: { length: 6 } } })
  expect(there).toEqual(JSON.parse(JSON.stringify(here)))
})

test('a journal that says something else is found out there as well', async () => {
  await using kit = await testRuntime({ machines: { lottery: inNode.lotteryMachine } })
  const lottery = kit.runtime.actor('lottery', 'x')
  for (const type of ['note', 'draw'] as const) await kit.clock.until(lottery.send({ type }))
  const [first = [], ...rest] = await framesOf(kit.runtime, lottery.address)
  const seed = Buffer.from(first).indexOf('seed') + 'seed'.length + 3
  first[seed] = (first[seed] ?? 0) ^ 1

  expect(JSON.parse(await inBrowser().fold(lottery.address, [first, ...rest]))).toMatchObject({ verdict: 'different', difference: { seq: 1 } })
  await expect(inBrowser().fold(lottery.address, rest)).rejects.toMatchObject({ code: 'corrupt_at' })
})

test('a page connects to a gateway there, and draws a session', async () => {
  await using gateway = await aSocketGateway()
  const message = { role: 'assistant' as const, content: [{ type: 'text' as const, id: 'u1:1', text: 'hello' }], timestamp: 1 }
  gateway.answers['chat.subscribe'] = ({ sessionKey }) => ({
    sessionKey,
    run: { runId: 'u1', sessionKey, seq: 1, state: 'delta', message },
    tools: [],
  })

  const there = JSON.parse(await inBrowser().watch(gateway.url, token, 'main'))

  expect(there).toMatchObject([{ type: 'answer', state: 'running', blocks: [{ type: 'text', text: 'hello' }] }])
  expect(JSON.parse(await inNode.watch(gateway.url, token, 'main'))).toEqual(there)
})
