/** Deaths of agents, workflows, planners, batches and schedules on a NATS server: each day at every third commit, and in three days at all. */
import { isToday } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { others } from './scenarios.ts'

retellKilled(others, ({ commit }) => isToday(commit, 3))
