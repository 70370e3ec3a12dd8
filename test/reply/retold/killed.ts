/** Stories about replies once more, with a process that dies at one of their first commits and comes back. */
import type { Telling } from '../../support/telling.ts'
import { type Undying, undying } from '../../support/undying.ts'
import { because, type Exceptions, numberOf, retell } from './retold.ts'

const commitsMax = 8
/** What such a story expects and a crash may change; that it comes to a good end all the same is looked at by sweep.test.ts, at every commit. */
const exceptions: Exceptions = [
  ...because('what was on its way is tried again, so it is counted twice', [
    '[OC-61] A, B and A again',
    '[OC-61] one that cannot be sent',
    '[OC-62] a limit of',
    '[OC-63] sound before',
    '[OC-72] tools, blocks and the end',
    '[OC-73] a slow message',
    '[OC-64, OC-04] what waits when',
    '[OC-78] what the model asks for',
    '[OC-75] that the word of a heartbeat was taken off',
    '[OC-02] typing, notes',
    '[OC-04] whoever follows',
    'alone is answered at once',
    '[OC-24] ',
    '[OC-29] a first word',
    '[OC-103] a stop while the messages only wait',
    '[OC-09, OC-12] what is said while the answer',
    '[OC-91] where another model',
  ]),
  ...because('what shows that somebody types begins anew', ['[OC-69] ', '[OC-70] ', '[OC-71] an answer']),
  ...because('a tool that may not run twice waits for a person, or is stopped in another way', [
    ': the run, its tool and all that waits end',
    '[OC-10] ',
    '[OC-46] ',
    '[OC-57] every call',
    '[OC-77] ',
    '[OC-80] ',
    '[OC-81] full',
  ]),
  ...because('the moment that it is about is over when the process is back', [
    'while the run is stopped',
    '[OC-45] what comes during a compaction',
    '[OC-29] what comes right behind',
    '[OC-54] what was said before',
    '[OC-50] a run whose time is up',
    '[OC-18] without a debounce',
    '[OC-21] one that fails twice',
    'is dropped before the model saw it',
    '[OC-14] interrupt',
    '[OC-41] who stops',
  ]),
  ...because('whoever asks again is told that it was taken in already', [
    '[OC-04] a message that is',
    '[OC-06] a message of a group that does not',
    'a message that is skipped is answered',
    '[OC-07] nonsense',
    '[OC-08] the mode',
    '[OC-09, OC-31] ',
    '[OC-11] steer-backlog',
    '[OC-12] where no run',
    '[OC-13, OC-31] ',
    '[OC-39] fifty',
    '[OC-102] "/status hello"',
    '[OC-106] requests within',
  ]),
  ...because('a process knows of its own life only: its lanes, its metrics, its listeners', [
    '[OC-23] ',
    '[OC-23, OC-24] ',
    '[OC-91] the metrics of the node',
    '[OC-91] a listener',
  ]),
]

/** Which commit it is, where somebody looks for one. */
const chosen = Number(process.env.STATECAST_KILL_AT)

/** @param wanted which of the stories are told */
export const retellKilled = (wanted?: (test: string) => boolean): void => retell({ name: 'killed', exceptions, ...(wanted && { wanted }), how })

const how = (test: string): Telling => {
  let lives: Undying | undefined
  return {
    outside: async () => lives?.alive(),
    begin: async (kit) => {
      lives = undying(kit, chosen || 1 + (numberOf(test) % commitsMax))
      const { session, crash, restart } = lives
      return { session, crash, restart }
    },
    end: async () => lives?.whole(),
  }
}
