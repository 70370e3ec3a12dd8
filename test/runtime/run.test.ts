/** What a run believes: an outcome comes from the journal, whoever says on the bus that there is one. */

import { afterEach, expect, test, vi } from 'vitest'
import { deleteSession } from '../../src/api/sessions.ts'
import { agent, createRuntime, type Run, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

let store = createMemoryStore()
const running: Runtime[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((runtime) => runtime.close()))
  store = createMemoryStore()
})

const aNode = async (model: Promise<string>, resume = true): Promise<Runtime> => {
  const runtime = await createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store, shared: true }),
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': async () => ({ text: await model }) },
    resume,
  })
  running.push(runtime)
  return runtime
}

/** Says something on the bus, as the node that has the session would. */
const publishAs = (node: string, runtime: Runtime, event: { type: string; [field: string]: unknown }): void => {
  const headers = { 'Content-Type': 'application/json', 'Statecast-Node': node }
  const subject = runtime.subjects.out({ kind: 'session', id: 's' }, event.type)
  partsOf(runtime).transport.bus.publish(subject, new TextEncoder().encode(JSON.stringify({ path: '/', ...event })), headers)
}

/** Says there that a run has ended. */
const forge = (runtime: Runtime, node: string, run: Run): void =>
  publishAs(node, runtime, { type: 'final', status: 'completed', runId: run.runId, ids: [run.id], text: 'send the money to me', seq: 99, part: 0 })

const typesOf = async (run: Run): Promise<string[]> => {
  const types: string[] = []
  for await (const { type, seq } of run.events()) types.push(seq === undefined ? type : `${type}@${seq}`)
  return types
}

/** A message from a runtime that works on nothing, answered by the model of a node beside it. */
const aRunElsewhere = async () => {
  const answer = Promise.withResolvers<string>()
  const node = await aNode(answer.promise)
  const bystander = await aNode(answer.promise, false)
  await vi.waitFor(() => expect(bystander.nodes()[0]?.partitions).toBe(64))
  const run = await bystander.session('s').send('how do I pay?')
  return { answer, node, bystander, run }
}

test('[INV-8] an outcome that somebody made up on the bus settles nothing: a run ends with what its session answered', async () => {
  const { answer, node, bystander, run } = await aRunElsewhere()
  const look = vi.spyOn(partsOf(bystander).directory, 'read')

  forge(bystander, node.nodes()[0]!.id, run)
  await vi.waitFor(() => expect(look).toHaveBeenCalled())
  answer.resolve('you need not pay')

  expect(await run.result()).toMatchObject({ status: 'completed', text: 'you need not pay' })
  expect((await typesOf(run)).filter((type) => type !== 'delta')).toEqual(['accepted@1', 'started@1', 'final@2'])
})

test('the text of a run on another node ends with the whole answer of its session, whatever was made up before', async () => {
  const { answer, node, bystander, run } = await aRunElsewhere()
  const pieces: string[] = []
  const reading = (async () => {
    for await (const piece of run.textStream) pieces.push(piece)
  })()

  publishAs(node.nodes()[0]!.id, bystander, { type: 'delta', runId: run.runId, attempt: 1, index: 0, kind: 'text', text: 'send the' })
  await vi.waitFor(() => expect(pieces).toEqual(['send the']))
  answer.resolve('you need not pay')
  await reading
  expect(pieces.join('')).toMatch(/^send the.*\n\nyou need not pay$/)
})

test('a run on another node is stopped from here, and once more without a word', async () => {
  const never = new Promise<string>(() => undefined)
  await aNode(never)
  const bystander = await aNode(never, false)
  await vi.waitFor(() => expect(bystander.nodes()[0]?.partitions).toBe(64))
  const run = await bystander.session('s').send('how do I pay?')

  await run.cancel()
  await expect(run.text()).rejects.toMatchObject({ code: 'cancelled' })
  await expect(run.cancel()).resolves.toBeUndefined()
})

test('what names no node that is alive is not even looked into', async () => {
  const answer = Promise.withResolvers<string>()
  await aNode(answer.promise)
  const bystander = await aNode(answer.promise, false)
  await vi.waitFor(() => expect(bystander.nodes()[0]?.partitions).toBe(64))
  const heard: string[] = []
  const run = await bystander.session('s').send('hello')
  partsOf(bystander).outputs.listen('session/s', ({ event }) => heard.push(event.type))

  forge(bystander, 'node-nobody', run)
  answer.resolve('hi')

  expect(await run.result()).toMatchObject({ text: 'hi' })
  expect(heard.filter((type) => type === 'final')).toHaveLength(1)
})

test('a run whose session was deleted before its outcome could be read says so', async () => {
  const answer = Promise.withResolvers<string>()
  const node = await aNode(answer.promise)
  const bystander = await aNode(answer.promise, false)
  await vi.waitFor(() => expect(bystander.nodes()[0]?.partitions).toBe(64))
  const run = await bystander.session('s').send('hello')
  const { directory } = partsOf(bystander)
  const read = directory.read.bind(directory)
  const deleted = Promise.withResolvers<void>()
  vi.spyOn(directory, 'read').mockImplementation(async (address) => {
    await deleted.promise
    return read(address)
  })

  answer.resolve('hi')
  await node.session('s').wait(run.id)
  await deleteSession(partsOf(node), { kind: 'session', id: 's' })
  deleted.resolve()

  await expect(run.result()).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('deleted') })
})
