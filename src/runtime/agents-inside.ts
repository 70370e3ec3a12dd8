/** Machines in which agents are asked: they are given the agent loop, and what they note of conversations is written down. */
import { type Registration, registerMachine } from '../actors/index.ts'
import { askedBesides, contentsOf, type TurnEffects, withAgents } from '../machines/index.ts'
import { agentNamed } from './agent-table.ts'
import type { SharedParts } from './parts.ts'
import { profileOf, withSkills } from './receive.ts'

/** @returns what makes a registration one whose agents can be asked; one without any stays as it is */
export const agentsInside = ({ agents, models, config, skills }: SharedParts, effects: TurnEffects) => {
  const profile = (name: string, conversation: string) => {
    const { agent } = agentNamed(agents, name)
    return withSkills(profileOf({ agent, models, config: config.view, key: conversation, inherited: undefined }), { skills })
  }
  return (registration: Registration): Registration => {
    const { kind, noted } = registration
    const machine = withAgents(registration.machine, effects, { profile })
    if (machine === registration.machine) return registration
    const made = registerMachine(kind, machine, { ...registration, noted: (event) => event.type === 'transcript' || noted?.(event) === true })
    return { ...registration, ...made, reads: { besides: askedBesides, contents: contentsOf } }
  }
}
