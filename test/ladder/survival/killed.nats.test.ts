/** One death of each scenario on a NATS server; all of them: killed.nats.long.test.ts and sessions.nats.long.test.ts. */
import { retellKilled } from './on-nats.ts'
import { scenarios } from './scenarios.ts'

/** Another commit of each scenario, and by turns the one or the other way to die. In memory each scenario dies both ways: killed.test.ts. */
retellKilled(scenarios, ({ commit, before }, place) => commit === 4 + place && before === (place % 2 === 0 ? 'acknowledgement' : 'append'))
