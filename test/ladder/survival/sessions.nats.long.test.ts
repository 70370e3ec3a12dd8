/** Deaths of supervisors and sessions on a NATS server: each day at every third commit, and in three days at all; where the commit is lost, at every sixth. */
import { isToday } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { supervised } from './scenarios.ts'

retellKilled(supervised, ({ before, commit }) => isToday(commit, before === 'acknowledgement' ? 3 : 6))
