/** An account that pays bills, simulated: 40 deployments with crashes, frozen nodes and lost answers. No bill may be paid twice. */
import { assign, fromPromise, setup } from 'xstate'
import { effect } from '../../src/index.ts'
import { type Scenario, simulate } from '../../src/testing/index.ts'

const account = (bank: { ask(bill: string, key: string): void }) =>
  setup({
    types: { context: {} as { due: string[] }, events: {} as { type: 'bill'; id: string } },
    actors: {
      // The bank knows a payment by its key, and the key is the same however often the payment is begun.
      pay: fromPromise(async ({ input, self }: { input: string; self: Parameters<typeof effect>[0] }) => bank.ask(input, effect(self).key)),
    },
  }).createMachine({
    context: { due: [] },
    initial: 'idle',
    on: { bill: { actions: assign({ due: ({ context, event }) => [...context.due, event.id] }) } },
    states: {
      idle: { always: { guard: ({ context }) => context.due.length > 0, target: 'paying' } },
      paying: {
        invoke: {
          src: 'pay',
          input: ({ context }) => context.due[0] ?? '',
          onDone: { target: 'idle', actions: assign({ due: ({ context }) => context.due.slice(1) }) },
        },
      },
    },
  })

/** @param useKey whether the bank looks at the key; without it, a payment that is begun again is another payment */
const scenario = (useKey: boolean): Scenario<string> => ({
  acts: () => ['rent', 'water', 'light'],
  begin(world) {
    const paid: string[] = []
    const keys = new Set<string>()
    const bank = {
      ask(bill: string, key: string) {
        if (!useKey || !keys.has(key)) paid.push(bill)
        keys.add(key)
      },
    }
    const bills = new Set<string>()
    return {
      runtime: () => ({ machines: { account: account(bank) } }),
      async perform(id) {
        bills.add(id)
        await world.insist((runtime) => runtime.actor('account', 'ann').send({ type: 'bill', id }, { id }))
      },
      settle: async () => (bills.size > new Set(paid).size ? 'bills are open' : undefined),
      check: () => (paid.length > bills.size ? [`paid ${paid.join(', ')}`] : []),
    }
  },
})

const paysTwice = async (useKey: boolean, seed: number) => (await simulate(scenario(useKey), seed)).violations.length > 0
let [wrong, seed] = [0, 1]
for (let each = 1; each <= 40; each++) wrong += (await paysTwice(true, each)) ? 1 : 0
console.log(`with the key, ${wrong} of 40 seeds pay a bill twice`)
while (seed <= 40 && !(await paysTwice(false, seed))) seed++
console.log(`without it, ${seed <= 40 ? 'some' : 'no'} seeds do`)
process.exit(0)
