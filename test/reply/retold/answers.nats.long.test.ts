/** Stories about what goes out, on a NATS server: each day another fifth of them. */
import { isToday } from '../../support/share.ts'
import { retellOnNats } from './on-nats.ts'
import { aboutAnswers, numberOf, stories } from './retold.ts'

retellOnNats(
  stories.filter((file) => aboutAnswers.test(file)),
  (test) => isToday(numberOf(test), 5),
)
