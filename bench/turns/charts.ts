/**
 * What XState itself takes of a turn: the charts of a session, its turns, streams and tools under a plain `createActor`. Nothing is written down,
 * checked, published or recovered, so what we take beyond this is the runtime.
 */
import { createActor, fromPromise } from 'xstate'
import type { ModelCallInput, ModelCallOutput } from '../../src/contracts/model-call.ts'
import { defaultProfile } from '../../src/contracts/profile.ts'
import type { ToolCallInput, ToolCallOutput } from '../../src/contracts/tool-call.ts'
import { loopMachine } from '../../src/machines/loop/loop.machine.ts'
import { sessionMachine } from '../../src/machines/session/session.machine.ts'
import { toolMachine } from '../../src/machines/tool-call/tool.machine.ts'
import { turnMachine } from '../../src/machines/turn/turn.machine.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createTools } from '../../src/tools/registry.ts'
import { type Message, usage, weather } from '../workload.ts'
import type { Open } from './contender.ts'

const profile = { ...defaultProfile, agent: 'main', model: 'bench/instant' }

/** What the effects of a session need to know of its running turn, which the charts do not. */
type Asked = { message: Message; heard: (piece: string) => void; text: string }

export const open: Open = ({ deltas, delta, tool }) => {
  const asked = new Map<string, Asked>()
  const askedIn = (session: string): Asked => asked.get(session) as Asked
  // Planned once: the schema and the hash belong to the runtime, the call to the charts.
  const planned = createTools([weather], systemEnvironment()).plan([{ callId: 'call-0', name: tool.name, input: JSON.stringify(tool.input) }])

  const callModel = fromPromise<ModelCallOutput, ModelCallInput>(async ({ input: { session, runId, call } }) => {
    const turn = askedIn(session)
    const id = `${runId}:${call}`
    const answer = { kind: 'model', id, reasoning: '', usage, model: profile.model, partial: false } as const
    if (turn.message === 'tool' && call === 1)
      return { ...answer, text: '', calls: planned.map((one) => ({ ...one, id: `${session}/${id}:1` })), finish: 'tool-calls' }
    for (let index = 0; index < deltas; index++) {
      await Promise.resolve()
      turn.text += delta
      turn.heard(delta)
    }
    return { ...answer, text: turn.text, calls: [], finish: 'stop' }
  })
  const execute = fromPromise<ToolCallOutput, ToolCallInput>(async ({ input: { call } }) => {
    const { id, callId, name } = call
    return { kind: 'tool', id, callId, name, output: tool.output }
  })
  const charts = sessionMachine.provide({
    actors: {
      turn: turnMachine.provide({
        actors: { loop: loopMachine.provide({ actors: { callModel, tool: toolMachine.provide({ actors: { execute } }) } }) },
      }),
    },
  })

  let talks = 0
  return {
    talk: () => {
      const key = `talk-${talks++}`
      const actor = createActor(charts, { input: { key } })
      let over: (text: string) => void = () => undefined
      actor.on('transcript', ({ ended }) => {
        if (ended) over(askedIn(key).text)
      })
      actor.start()
      let messages = 0
      return {
        async say(message, heard) {
          asked.set(key, { message, heard, text: '' })
          const { promise, resolve } = Promise.withResolvers<string>()
          over = resolve
          actor.send({ type: 'message', id: `m${messages++}`, text: message, profile, at: 0 })
          const text = await promise
          asked.delete(key)
          return text
        },
      }
    },
  }
}
