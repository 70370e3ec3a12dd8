/** The first thing that happens in a fork stands in the fork: its origin may be gone by then, or another one may be there under its key. */
import { expect, onTestFinished, test } from 'vitest'
import { createMachine } from 'xstate'
import { registerMachine } from '../../../src/actors/index.ts'
import { changeOf, inputsAtFork } from '../../../src/actors/root/fork-beginning.ts'
import type { Input } from '../../../src/contracts/journal.ts'
import { systemEnvironment } from '../../../src/runtime/index.ts'
import { openTransport } from '../../../src/transport/index.ts'

const registration = registerMachine('light', createMachine({ id: 'light', on: { toggle: {}, smash: {} } }))
const [lamp, other] = [
  { kind: 'light', id: 'lamp' },
  { kind: 'light', id: 'other' },
]

test('what was changed comes with all that came with it, whatever has become of the origin', async () => {
  const transport = await openTransport('memory:', { environment: systemEnvironment() })
  onTestFinished(() => transport.close())
  const { journal } = transport
  const inputs: Input[] = [
    { to: '/', id: 'a', event: { type: 'toggle', by: 'ann' } },
    { to: '/', id: 'b', event: { type: 'smash', bytes: new Uint8Array([1, 2]) } },
  ]
  const change = changeOf(registration, inputs, { seq: 2, input: 0, event: { by: 'bob' } })
  for (const seq of [0, 1]) await journal.append(lamp, seq, new Uint8Array([seq]), { wakeAt: null, at: 1 })
  await journal.fork(lamp, 1, other, { answers: 'recorded', change }, { wakeAt: 0, at: 2 })

  await journal.remove(lamp)
  for (const seq of [0, 1]) await journal.append(lamp, seq, new Uint8Array([7]), { wakeAt: null, at: 3 })

  expect(await inputsAtFork(journal, other)).toEqual([{ ...inputs[0], event: { type: 'toggle', by: 'bob' } }, inputs[1]])
  expect(await inputsAtFork(journal, lamp)).toEqual([])
})
