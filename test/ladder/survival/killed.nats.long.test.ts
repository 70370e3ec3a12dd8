/** Deaths of agents, workflows, planners, batches and schedules on a NATS server: each day at every second commit, and the next day at the others. */
import { isToday } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { others } from './scenarios.ts'

retellKilled(others, ({ commit }) => isToday(commit, 2))
