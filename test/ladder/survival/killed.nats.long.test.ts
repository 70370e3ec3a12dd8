/** Every death of agents, workflows, planners, batches and schedules on a NATS server. */
import { retellKilled } from './on-nats.ts'
import { others } from './scenarios.ts'

retellKilled(others)
