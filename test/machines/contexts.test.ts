import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnyStateMachine, createActor } from 'xstate'
import { defaultProfile } from '../../src/contracts/profile.ts'
import type { ToolInput } from '../../src/contracts/tool-call.ts'
import type { LoopInput, TurnInput } from '../../src/contracts/turn.ts'
import { loopMachine } from '../../src/machines/loop/loop.machine.ts'
import { sessionMachine } from '../../src/machines/session/session.machine.ts'
import { toolMachine } from '../../src/machines/tool-call/tool.machine.ts'
import { turnMachine } from '../../src/machines/turn/turn.machine.ts'

let isFast: (object: object) => boolean
beforeAll(() => {
  setFlagsFromString('--allow-natives-syntax')
  isFast = runInThisContext('(object) => %HasFastProperties(object)') as typeof isFast
})
afterAll(() => setFlagsFromString('--no-allow-natives-syntax'))

/** As `assign` does it. */
const copied = (context: object): object => Object.assign({}, context, { one: 1 })
const place = { session: 's', runId: 'r', profile: { ...defaultProfile, agent: 'main', model: 'test/model' }, transcriptLength: 4 }
const loop: LoopInput = { ...place, ids: ['r'], intro: 'i', reports: true, tokens: 1, window: 2, lastCallAt: 3, pinned: 'p', thread: {} }
const turn: TurnInput = { ...place, prompt: { ids: ['r'] }, facts: { compactions: 0, at: 1 } }
const call = {
  id: 'i',
  callId: 'c',
  name: 'n',
  input: {},
  inputHash: 'h',
  needsApproval: false,
  onCrash: 'retry',
  timeoutMs: 1,
  attemptMax: 1,
} as const
const tool: ToolInput = { session: 's', runId: 'r', agent: 'main', call, inDoubt: 'ask', thread: {} }

test.each<[string, AnyStateMachine, object]>([
  ['session', sessionMachine, { key: 'main' }],
  ['turn', turnMachine, turn],
  ['loop', loopMachine, loop],
  ['tool', toolMachine, tool],
])('what a %s knows has so few fields that V8 keeps a copy of it fast', (_, machine, input) => {
  const context: object = createActor(machine, { input }).getSnapshot().context

  expect(isFast(copied(context))).toBe(true)
})

test('of twenty fields and more V8 makes a slow one, which is why there are groups', () => {
  const many = Object.fromEntries(Array.from({ length: 46 }, (_, index) => [`field${index}`, index]))

  expect(isFast(copied(many))).toBe(false)
})
