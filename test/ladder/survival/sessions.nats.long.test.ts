/** Deaths of supervisors and sessions on a NATS server: each day at every second commit, and the next day at the others; where the commit is lost, at every fourth. */
import { isToday } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { supervised } from './scenarios.ts'

retellKilled(supervised, ({ before, commit }) => isToday(commit, before === 'acknowledgement' ? 2 : 4))
