/** What a person is shown before deciding. */
import { expect, test } from 'vitest'
import { approvalQuestion } from '../../src/cli/cards.ts'

test.each(['\u202e', '\u2066', '\u001b[2K'])('what a tool is asked to do is shown in the order in which it stands, with %j in it', (mark) => {
  const question = approvalQuestion({ name: 'run', input: `ls${mark}/ fr- mr`, why: 'approval' })

  expect(question).not.toContain(mark)
  expect(question).toMatch(/^may run run with ls.+\/ fr- mr\?$/)
})
