/**
 * A small sample of the stories on a NATS server, always the same: of what waits, runs, is delivered, is due later and is told to people. The long tier
 * tells all of them, a part a commit: admission.nats.long.test.ts and answers.nats.long.test.ts.
 */
import { retellOnNats } from './on-nats.ts'
import { oneIn, stories } from './retold.ts'

const files = /^(?:backlog|choice|delivered|heartbeat|lifecycle|outcomes|queue|waiting)\./
const sampled = oneIn(14)
/** Tells a story once for each commit. */
const isManifold = (test: string): boolean => test.includes('whenever the process dies')

retellOnNats(
  stories.filter((file) => files.test(file)),
  (test) => sampled(test) && !isManifold(test),
)
