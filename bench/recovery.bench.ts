/** How long does it take to bring a root back from its journal, per recorded input? */
import { Host } from '../src/actors/host/host.ts'
import { recover } from '../src/actors/journal/recovery.ts'
import { type Registration, registerMachine } from '../src/actors/registration.ts'
import type { Address } from '../src/contracts/subjects.ts'
import type { Transport } from '../src/contracts/transport.ts'
import { systemEnvironment } from '../src/runtime/system-environment.ts'
import { openMemory } from '../src/transport/memory/open.ts'
import { amount, ask, type Table } from './measure.ts'
import { light, plainEvents, sessionOfTurns } from './workload.ts'

const inputs = amount(20_000)

/** µs per input to fold the journal of a root from its first commit. */
const fold = async ({ journal }: Transport, address: Address, registration: Registration, count: number): Promise<number> => {
  const start = performance.now()
  await recover(journal, address, registration, { fromStart: true })
  return ((performance.now() - start) * 1000) / count
}

/** @param batch inputs that share a commit */
const recorded = async (batch: number): Promise<() => Promise<number>> => {
  const environment = systemEnvironment()
  const transport = await openMemory({ environment })
  const registration = registerMachine('light', light)
  const host = new Host({
    journal: transport.journal,
    environment,
    registrations: [registration],
    limits: { snapshotEvery: Number.POSITIVE_INFINITY },
  })
  const address = { kind: 'light', id: `batch-${batch}` }
  const root = await host.get(address)
  for (let sent = 0; sent < inputs; sent += batch)
    await Promise.all(Array.from({ length: batch }, () => root.send({ type: 'next', text: 'a short message' })))
  host.abandon()
  return () => fold(transport, address, registration, inputs)
}

export const run = async (): Promise<Table[]> => {
  const session = await sessionOfTurns(amount(1000))
  const ofSession = `a session of tool turns (${session.inputs} inputs)`
  return [
    await ask({
      title: 'recovery: folding a journal again',
      unit: 'µs per input',
      contenders: [
        { name: 'floor: the same events sent to plain XState', round: () => plainEvents(inputs) },
        { name: 'a root, 10 inputs a commit', round: await recorded(10) },
        { name: 'a root, one input a commit', round: await recorded(1) },
        { name: ofSession, round: () => fold(session.transport, session.address, session.registration, session.inputs) },
      ],
      goals: ['a root, one input a commit', ofSession].map((row) => ({ row, of: 'median', bound: 'at most', limit: 10 })),
      note: 'An input of a session moves three statecharts: session, turn and stream or tool.',
    }),
  ]
}

if (import.meta.main) await run()
