import { beforeAll, describe, expect, it } from 'vitest'
import { type Counts, count } from '../../bench/counts.ts'

// Each may only fall: whoever makes a turn cheaper writes the new figure here, and nobody raises one without a decision that says why (0010: three files more,
// and a step that was not counted before since it was XState's; 0011: three promises more, for one answer of a server less to wait for; 0016: eight files, a guard
// and forty functions more, for prompts that say what they hold and runs that say when they did what; 0018: two guards, twenty-four files, ninety functions and
// promises more, for tools, skills, files and a configuration that a turn asks after; 0020: a guard, a file and two functions more, for the question whether there is
// anything to look up; 0021: a file and four functions more, so that a fork begins also where somebody looks or sends at that moment;
// 0024: for a turn with a tool a file and five functions more, for what a call may carry, and a function more for actors
// that have ended).
const limits = {
  plain: { kilobytes: 390, ofOurs: 108, snapshots: 22, actors: 4, actions: 30, guards: 24, files: 131, functions: 671 },
  tool: { kilobytes: 645, ofOurs: 169, snapshots: 37, actors: 7, actions: 54, guards: 47, files: 143, functions: 771 },
  delta: { files: 11, functions: 16 },
}
/** Of what a turn allocates a little depends on what is compiled by then. */
const tolerance = 1.05

describe('what a turn in memory needs only falls', () => {
  let counts: Counts
  beforeAll(async () => {
    counts = await count()
  })

  describe.each(['plain', 'tool'] as const)('the first %s turn of a session', (message) => {
    it.each(['snapshots', 'actors', 'actions', 'guards', 'files', 'functions'] as const)('needs no more %s than it did', (what) => {
      expect(counts.entered[message][what]).toBeLessThanOrEqual(limits[message][what])
    })

    it('makes no more promises than it did, beyond those of its model and its reader', () => {
      const { promises, without } = counts.allocated[message]
      expect(promises - without).toBeLessThanOrEqual(limits[message].ofOurs)
    })

    it('allocates no more than it did', () => {
      expect(counts.allocated[message].bytes / 1000).toBeLessThanOrEqual(limits[message].kilobytes * tolerance)
    })
  })

  it('a delta enters no more files and functions on its way to a reader than it did', () => {
    expect(counts.entered.delta.files).toBeLessThanOrEqual(limits.delta.files)
    expect(counts.entered.delta.functions).toBeLessThanOrEqual(limits.delta.functions)
  })
})
