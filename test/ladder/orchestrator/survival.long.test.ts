import { test } from 'vitest'
import { killedTurn } from './killed-turn.ts'

test('[WL-057, WL-083] killed at each commit, a turn comes to the same report and the same row, and no answer is paid twice', () =>
  killedTurn(() => true))
