/** How machines of an author are registered: what is too much or does not fit is refused at once, where the compiler would let it pass. */
import { expect, test } from 'vitest'
import { setup } from 'xstate'
import { z } from 'zod'
import { testRuntime } from '../../src/testing/index.ts'

const machine = setup({}).createMachine({ on: { go: {} } })

test.each<[string, object, string, RegExp]>([
  ['a mistyped option', { strct: true }, 'machines.order.strct', /did you mean 'strict'/],
  ['an option that nobody knows', { colour: 'red' }, 'machines.order.colour', /there are: events, strict/],
  ['a word as strict', { strict: 'yes' }, 'machines.order.strict', /true or false/],
  ['events by name', { events: ['go'] }, 'machines.order.events', /a zod schema/],
  ['nothing as events', { events: null }, 'machines.order.events', /a zod schema/],
  ['a wish for drift that there is not', { onDrift: 'ignore' }, 'machines.order.onDrift', /'refuse' or 'force'/],
  ['an input that is no function', { defaultInput: {} }, 'machines.order.defaultInput', /a function of an id/],
])('%s is refused', async (_name, options, field, hint) => {
  await expect(testRuntime({ machines: { order: { machine, ...options } } })).rejects.toMatchObject({
    code: 'bad_request',
    field,
    hint: expect.stringMatching(hint),
  })
})

test('a machine of the runtime itself keeps its name', async () => {
  await expect(testRuntime({ machines: { session: machine } })).rejects.toMatchObject({ code: 'conflict', field: 'machines' })
})

test('a strict machine and one with a schema refuse what they do not take; one without either ignores it', async () => {
  const events = z.strictObject({ type: z.literal('go') })
  await using kit = await testRuntime({ machines: { open: machine, strict: { machine, strict: true }, checked: { machine, events } } })
  const told = []
  for (const kind of ['open', 'strict', 'checked'] as const) {
    const sent = kit.runtime.actor(kind, 'x').send({ type: 'unheard' })
    told.push(
      await kit.clock.until(
        sent.then(
          ({ seq }) => seq,
          (error: unknown) => (error as { code: string }).code,
        ),
      ),
    )
  }

  expect(told).toEqual([1, 'bad_request', 'bad_request'])
})
