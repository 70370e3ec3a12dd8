/** `agents.list`: who there is, with the model and the tools that each has now. */
import { profileOf, type RuntimeParts } from '../runtime/index.ts'

export const listAgents = ({ agents, models, config }: RuntimeParts) => ({
  agents: [...agents.values()].map(({ agent, tools }, index) => {
    const { model, toolLayers } = profileOf({ agent, models, config: config.view, key: '' })
    return { name: agent.name, model, tools: tools.bench(toolLayers, model).names, default: index === 0 }
  }),
})
