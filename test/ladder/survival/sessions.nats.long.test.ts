/** Kills supervisors and sessions on a NATS server at a sixth of their commits, before the append, and at a third, before the acknowledgement. */
import { choosePart } from '../../support/share.ts'
import { retellKilled } from './on-nats.ts'
import { supervised } from './scenarios.ts'

const part = choosePart(import.meta.url, 6)

retellKilled(supervised, ({ before, commit }) => part.includes(commit) || (before === 'acknowledgement' && part.includes(commit + 3)))
