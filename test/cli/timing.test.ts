import { expect, test } from 'vitest'
import { waterfall } from '../../src/cli/timing.ts'
import { runTrace } from '../../src/runtime/run-trace.rules.ts'

test('a run is shown as bars, one below the other', () => {
  const span = (name: string, start: number, end: number) => ({ name, start, end, outcome: 'ok' as const })
  const trace = runTrace({ sessionKey: 's', runId: 'k1' }, [
    span('acknowledgement', 0, 10),
    span('model', 10, 20),
    span('prompt', 20, 21),
    span('call', 20, 100),
    span('first-text', 60, 60),
    span('end', 100, 100),
  ])
  const lines = waterfall(trace)

  expect(lines[0]).toBe('k1: 100.0 ms')
  expect(lines).toContain('  firstToken              40.0 ms  40 %')
  expect(lines.find((line) => line.includes('call'))).toBe(`  call                    80.0 ms  ${' '.repeat(8)}${'█'.repeat(32)}`)
  expect(lines.find((line) => line.includes('media'))).toMatch(/skipped$/)
})
