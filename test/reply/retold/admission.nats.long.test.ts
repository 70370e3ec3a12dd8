/** Stories about what comes in, on a NATS server. */
import { retellOnNats } from './on-nats.ts'
import { aboutAnswers, stories } from './retold.ts'

retellOnNats(stories.filter((file) => !aboutAnswers.test(file)))
