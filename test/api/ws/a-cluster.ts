/** Nodes on one store in memory, each with a gateway. */
import type { Gateway } from '../../../src/api/http/serve.ts'
import { agent, createRuntime, type Model, type Runtime, scriptedModel } from '../../../src/index.ts'
import { systemEnvironment } from '../../../src/runtime/index.ts'
import { createMemoryStore, openMemory } from '../../../src/transport/memory/open.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { gatewayOn } from '../gateway-on.ts'

/** Nodes on one store; those that do not resume work on nothing and only answer. */
export const aCluster = () => {
  const store = createMemoryStore()
  const { promise: listened, resolve: goOn } = Promise.withResolvers<void>()
  const talk = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    return { text: last?.role === 'user' ? `echo ${last.text}` : 'done' }
  })
  const model: Model = {
    ...talk,
    async call(request, how) {
      const last = request.messages.at(-1)
      if (last?.role !== 'user' || last.text !== 'story') return talk.call(request, how)
      how.onDelta({ kind: 'text', text: 'once upon' })
      await listened
      how.onDelta({ kind: 'text', text: ' a time' })
      return { ...(await talk.call(request, { ...how, onDelta: () => undefined })), text: 'once upon a time' }
    },
  }
  const node = async (resume = true): Promise<{ runtime: Runtime; gateway: Gateway }> => {
    const runtime = await createRuntime({
      transport: await openMemory({ environment: systemEnvironment(), store, shared: true }),
      agents: [agent({ name: 'main', model: 'test/talk' })],
      models: { 'test/talk': model },
      resume,
    })
    const gateway = await gatewayOn(runtime)
    for (const one of [runtime, gateway]) afterThisTest(() => one.close())
    return { runtime, gateway }
  }
  return { node, goOn }
}
