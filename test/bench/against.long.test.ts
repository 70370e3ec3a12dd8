/** The speed gate as CI runs it, with costs on purpose. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** Only there to end what hangs: two rounds take a minute on quiet cores, and four on busy ones. */
const patienceMs = 600_000

const gate = (signal: AbortSignal, ...parameters: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ['bench/against.ts', ...parameters], { cwd: root, signal }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

/** The last of the six columns, of the rows about `name`. */
const verdictsIn = (table: string, name: string): string[] =>
  table
    .split('\n')
    .map((line) => line.split(/ {2,}/))
    .flatMap(([figure = '', ...cells]) => (figure.endsWith(`: ${name}`) && cells.length === 5 ? cells.slice(-1) : []))

test(
  'the speed gate catches 15 % more CPU time, 15 % more allocation and one more commit a turn',
  async ({ signal }) => {
    // Beside the sources as they were committed: a cheaper turn shall not hide a cost.
    const { code, stdout, stderr } = await gate(signal, 'HEAD', '--rounds', '3', '--plant', 'cpu', '--plant', 'allocation', '--plant', 'commit')

    expect(code, stderr).toBe(1)
    // Other files run beside this one: one figure may read less than was planted, and one is enough to fail.
    expect(verdictsIn(stdout, 'CPU time').filter((verdict) => verdict === 'DEARER').length).toBeGreaterThanOrEqual(4)
    expect(verdictsIn(stdout, 'allocation')).toEqual(Array(6).fill('DEARER'))
    for (const name of ['commits', 'round trips']) expect(verdictsIn(stdout, name), name).toEqual(Array(4).fill('DEARER'))
    for (const name of ['bytes written', 'fsyncs', 'messages', 'bytes sent']) expect(verdictsIn(stdout, name), name).toEqual(Array(2).fill('DEARER'))
  },
  patienceMs,
)

test('the speed gate refuses a revision that is not in the clone, and says how to get it', async ({ signal }) => {
  const { code, stderr } = await gate(signal, 'f'.repeat(40))

  expect(code).not.toBe(0)
  expect(stderr).toContain('a shallow clone gets it with `git fetch --unshallow`')
})

test.each([['--nope'], ['--share', '-1'], ['--rounds']])('the speed gate answers the wrong usage %s with its usage', async (...parameters) => {
  const { code, stderr } = await gate(new AbortController().signal, ...parameters)

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/\nusage: node bench\/against\.ts[^\n]*\n$/) })
})
