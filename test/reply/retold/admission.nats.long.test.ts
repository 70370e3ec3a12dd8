/** Stories about what comes in, on a NATS server. One run tells a fifth of them. */
import { choosePart } from '../../support/share.ts'
import { retellOnNats } from './on-nats.ts'
import { aboutAnswers, numberOf, stories } from './retold.ts'

const part = choosePart(import.meta.url, 5)

retellOnNats(
  stories.filter((file) => !aboutAnswers.test(file)),
  (test) => part.includes(numberOf(test)),
)
