/** Tests whose program is missing are skipped with what to install. */
import { expect, test, vi } from 'vitest'
import { needsProgram, programPath } from './programs.ts'

test('a program is found on the path, and nowhere else', () => {
  expect(programPath('sh')).toMatch(/\/sh$/)
  expect(programPath('sh', '/nowhere')).toBeUndefined()
  expect(programPath('no-such-program')).toBeUndefined()
})

test('a test that needs a missing program is skipped with what to install', ({ task }) => {
  const skip = vi.spyOn(task.context, 'skip').mockReturnValue(undefined)

  needsProgram('sh')
  expect(skip).not.toHaveBeenCalled()
  needsProgram('no-such-program', 'gcc', false)
  expect(skip).toHaveBeenCalledExactlyOnceWith('there is no no-such-program on this machine: install gcc')
})

test('CI installs every program, so a missing one fails there', () => {
  expect(() => needsProgram('no-such-program', 'gcc', true)).toThrow('there is no no-such-program on this machine: install gcc')
})
