/** Every death of supervisors and sessions on a NATS server. */
import { retellKilled } from './on-nats.ts'
import { supervised } from './scenarios.ts'

retellKilled(supervised)
