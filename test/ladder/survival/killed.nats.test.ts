/** Some of the deaths of each scenario on a NATS server; all of them: killed.nats.long.test.ts and sessions.nats.long.test.ts. */
import { retellKilled } from './on-nats.ts'
import { scenarios } from './scenarios.ts'

/** Another commit of each scenario, and each time the other way to die. */
retellKilled(scenarios, ({ commit, before }, place) => (commit + place) % 20 === (before === 'append' ? 0 : 10))
