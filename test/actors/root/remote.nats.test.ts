/** A child on another node whose state is larger than what a server takes in one message. */

import { afterAll, expect, test, vi } from 'vitest'
import { assign, setup } from 'xstate'
import { createRuntime, type Runtime, remote } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()
const running: Runtime[] = []
afterAll(() => Promise.all(running.map((runtime) => runtime.close())))

const vast = setup({
  types: { context: {} as { text: string }, events: {} as { type: 'end' }, output: {} as string },
}).createMachine({
  id: 'vast',
  context: { text: 'x'.repeat(2_000_000) },
  initial: 'open',
  states: { open: { on: { end: 'ended' } }, ended: { type: 'final' } },
  output: 'small',
})

const parent = setup({
  types: { input: {} as { child: string }, context: {} as { child: string; outcome: unknown }, events: {} as { type: 'begin' } },
  actors: { vast: remote<string>('vast') },
  actions: { keep: assign({ outcome: (_, { outcome }: { outcome: unknown }) => outcome }) },
}).createMachine({
  id: 'parent',
  context: ({ input }) => ({ ...input, outcome: null }),
  initial: 'waiting',
  on: { begin: {} },
  states: {
    waiting: {
      invoke: {
        id: 'child',
        src: 'vast',
        input: ({ context }) => ({ id: context.child }),
        onDone: { target: 'over', actions: { type: 'keep', params: ({ event }) => ({ outcome: event.output }) } },
        onError: { target: 'over', actions: { type: 'keep', params: ({ event }) => ({ outcome: event.error }) } },
      },
    },
    over: {},
  },
})

const aNode = async (): Promise<Runtime> => {
  const runtime = await createRuntime({ transport: server.url, machines: { vast, parent } })
  running.push(runtime)
  return runtime
}
const idsOf = (runtime: Runtime, kind: string): string[] =>
  Array.from({ length: 100 }, (_, n) => `${kind}-${n}`).filter((id) => partsOf(runtime).host.mayHave({ kind, id }))

test('a state that does not fit into a message is refused as too large, to whoever reads it from elsewhere', async () => {
  const [here, there] = [await aNode(), await aNode()]
  await vi.waitFor(() => expect([...here.nodes(), ...there.nodes()].map(({ partitions }) => partitions > 16)).toEqual([true, true, true, true]))
  const [child] = idsOf(there, 'vast')
  const [id] = idsOf(here, 'parent')
  const refusal = { code: 'too_large', hint: expect.stringContaining('context') }

  await here.actor('parent', id!, { child }).send({ type: 'begin' })

  await vi.waitFor(async () => expect(await here.actor('parent', id!).snapshot()).toMatchObject({ value: 'over', context: { outcome: refusal } }))
  await expect(here.actor('vast', child!).snapshot()).rejects.toMatchObject(refusal)
  expect((await there.actor('vast', child!).snapshot()).value).toBe('open')
})

test('an event that does not fit into a message is refused as too large', async () => {
  const [here, there] = running as [Runtime, Runtime]
  const [child] = idsOf(there, 'vast')

  await expect(here.actor('vast', child!).send({ type: 'end', why: 'x'.repeat(2_000_000) })).rejects.toMatchObject({
    code: 'too_large',
    hint: expect.any(String),
  })
})
