/** Every death of supervisors and sessions on a NATS server; where the commit is lost, every second one. */
import { retellKilled } from './on-nats.ts'
import { supervised } from './scenarios.ts'

retellKilled(supervised, ({ before, commit }) => before === 'acknowledgement' || commit % 2 === 1)
