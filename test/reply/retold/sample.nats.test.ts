/** A fixed sample of the stories, on a NATS server. admission.nats.long.test.ts and answers.nats.long.test.ts tell all of them, a part a commit. */
import { retellOnNats } from './on-nats.ts'
import { oneIn, stories } from './retold.ts'

const sampled = oneIn(36)
/** Tells a story once for each commit. */
const isManifold = (test: string): boolean => test.includes('whenever the process dies')

retellOnNats(stories, (test) => sampled(test) && !isManifold(test))
