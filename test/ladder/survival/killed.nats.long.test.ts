/** Kills agents, workflows, planners, batches and schedules on a NATS server at a third of their commits. */
import { choosePart } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { others } from './scenarios.ts'

const part = choosePart(import.meta.url, 3)

retellKilled(others, ({ commit }) => part.includes(commit))
