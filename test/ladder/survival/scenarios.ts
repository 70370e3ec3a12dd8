/** All that is told of runs that are killed, in two parts, so that two processes share the work. */
import { careful, clerk } from './agents.ts'
import { nightly, planned } from './planners.ts'
import type { Scenario } from './scenario.ts'
import { atOnce, session } from './sessions.ts'
import { desk, lead } from './supervisors.ts'
import { all, shop } from './workflows.ts'

export const supervised: readonly Scenario[] = [desk, session, atOnce]
export const others: readonly Scenario[] = [clerk, careful, shop, lead, planned, all, nightly]
export const scenarios: readonly Scenario[] = [...others, ...supervised]
