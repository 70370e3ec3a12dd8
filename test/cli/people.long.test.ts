/** What a person at the keyboard asks: what was said, who waits for me, who is there. On a folder that nobody has open, and on a node. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aNodeProcess } from './processes.ts'
import { aFolder, aNode, rpc, start, statecast, testApp, untilFile } from './run.ts'

/** The command that `statecast approvals` offers for the first call, as words. */
const offered = (stdout: string): string[] => (/^ {2}statecast (approve .*?) {3}\(--deny/m.exec(stdout)?.[1] ?? '').split(' ')

/** A folder whose node was killed during a tool call. @param file that the tool writes when it starts */
const killedDuring = async (message: string, file: string): Promise<string> => {
  const folder = aFolder()
  const node = await aNodeProcess({ folder }, '--app', testApp)
  const client = start({ folder }, 'send', 'main', message)
  await untilFile(join(folder, file))
  node.kill()
  await client.ended
  return folder
}

test('history prints what was said with the calls and their results, and as JSON one message a line', async () => {
  const folder = aFolder()
  await statecast({ folder, input: 'what is 17*23?\nand plus 9?\n' }, 'chat')

  const all = await statecast({ folder }, 'history', 'main')
  const newest = await statecast({ folder }, 'history', 'session/main', '--json', '--limit', '1')

  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(all.stdout).toBe(
    `› what is 17*23?
  ⚙ calculate {"expression":"17*23"}
  ✓ calculate {"expression":"17*23","value":391}
17*23 = 391

› and plus 9?
  ⚙ calculate {"expression":"391 + 9"}
  ✓ calculate {"expression":"391 + 9","value":400}
391 + 9 = 400
`,
  )
  expect(newest.lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ role: 'assistant', text: '391 + 9 = 400' }])
})

test('a call that waits is listed with its arguments and since when, and sessions says that it waits for a person', async () => {
  const folder = aFolder()
  const before = Date.now()
  const sent = await statecast({ folder }, 'send', 'bills', 'danger', '--app', testApp)
  const after = Date.now()

  const listed = await statecast({ folder }, 'approvals', '--app', testApp)
  const json = await statecast({ folder }, 'approvals', '--app', testApp, '--json')
  const sessions = await statecast({ folder }, 'sessions', '--app', testApp)

  expect(listed.lines[0]).toBe('bills: may danger run with {}?')
  expect(listed.lines[1]).toMatch(/^ {2}since \d{4}-\S+Z \(\d+ s\)$/)
  expect(offered(listed.stdout)).toEqual(['approve', 'bills', expect.stringMatching(/^m-\S+:1:1$/)])
  expect(sent.stderr).toContain(`statecast ${offered(listed.stdout).join(' ')} `)
  const [approval] = json.lines.map((line) => JSON.parse(line) as { sessionKey: string; name: string; at: number; call: string })
  expect(approval).toMatchObject({ sessionKey: 'bills', name: 'danger', call: offered(listed.stdout)[2] })
  expect(approval?.at).toBeGreaterThanOrEqual(before)
  expect(approval?.at).toBeLessThanOrEqual(after)
  expect(sessions.stdout).toMatch(/^bills +waits for a person +2 /m)
})

test('without a node approve runs the call in its own process and prints the answer; once decided it is not there any more', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'bills', 'danger', '--app', testApp)
  const words = offered((await statecast({ folder }, 'approvals', '--app', testApp)).stdout)

  const approved = await statecast({ folder }, ...words, '--app', testApp)
  const again = await statecast({ folder }, ...words, '--app', testApp)

  expect(approved).toMatchObject({ code: 0, stdout: 'danger: "boom"\n' })
  expect(approved.stderr).toContain('approved: danger {}')
  expect(again).toMatchObject({ code: 4, stderr: expect.stringMatching(/no call '.*waits for a person \[not_found\]\nhint: .*decided already/) })
  expect((await statecast({ folder }, 'approvals', '--app', testApp)).stderr).toBe('nothing waits for a person\n')
  expect((await statecast({ folder }, 'sessions', '--app', testApp)).stdout).toMatch(/^bills +awaiting-input +\d/m)
})

test('on a node approve returns at once, and a refusal with a note is told to the model and kept', async () => {
  const folder = aFolder()
  await aNode({ folder }, '--app', testApp)
  await statecast({ folder }, 'send', 'bills', 'danger')
  const listed = await statecast({ folder }, 'approvals')

  const denied = await statecast({ folder }, ...offered(listed.stdout), '--deny', '--note', 'not on a Friday', '--by', 'Ada')
  const answer = await statecast({ folder }, 'send', 'bills', 'and now?')
  const history = await statecast({ folder }, 'history', 'bills')
  const trace = await statecast({ folder }, 'trace', 'bills', '--json')

  expect(denied).toMatchObject({ code: 0, stdout: 'refused: danger {}\n' })
  expect(answer.code).toBe(0)
  expect(history.stdout).toContain('✗ danger this call was refused by Ada: not on a Friday [tool_denied]')
  expect(trace.lines.map((line) => JSON.parse(line) as { detail?: object }).find(({ detail }) => detail && 'note' in detail)).toMatchObject({
    event: 'approve',
    detail: { decision: 'deny', by: 'Ada', note: 'not on a Friday' },
  })
})

test('with --wait approve follows the turn on a node to its answer', async () => {
  const folder = aFolder()
  await aNode({ folder }, '--app', testApp)
  await statecast({ folder }, 'send', 'bills', 'danger')

  const approved = await statecast({ folder }, ...offered((await statecast({ folder }, 'approvals')).stdout), '--wait', '--json')

  expect(approved.code).toBe(0)
  expect(approved.lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(expect.arrayContaining(['decided', 'tool', 'final']))
})

test('a call that is asked about again after a crash is not approved by the name of its first attempt', async () => {
  const folder = await killedDuring('once c', 'c.started')
  await aNode({ folder }, '--app', testApp)
  await expect.poll(async () => (await statecast({ folder }, 'approvals')).stdout).toContain('nobody knows whether')
  const words = offered((await statecast({ folder }, 'approvals')).stdout)
  expect(words[2]).toMatch(/:1:1#2$/)

  const first = await statecast({ folder }, 'approve', 'main', (words[2] ?? '').replace('#2', ''))
  writeFileSync(join(folder, 'c.go'), '')
  const second = await statecast({ folder }, ...words, '--wait')

  expect(first).toMatchObject({ code: 1, stderr: expect.stringMatching(/\[conflict\]\nhint: to run it again: statecast approve main \S+#2 /) })
  expect(second).toMatchObject({ code: 0, stdout: 'wait_once: {"waited":"c"}\n' })
})

test('actors lists conversations and machines with their states and what lives below them, on a folder and on a node alike', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'bills', 'danger', '--app', testApp)

  const cold = await statecast({ folder }, 'actors', '--app', testApp)
  await aNode({ folder }, '--app', testApp)
  const warm = await statecast({ folder }, 'actors')
  const json = await statecast({ folder }, 'actors', '--json', '--kind', 'session')
  const none = await statecast({ folder }, 'actors', '--kind', 'light')

  expect(cold.lines[0]).toMatch(/^ACTOR +STATE +COMMITS +LAST +WAKES$/)
  expect(cold.stdout).toMatch(/^session\/bills +running\.answering, waits for a person +2 +\S+Z +\S+Z$/m)
  expect(cold.stdout).toMatch(/^ {2}\/turn#1\/loop#1\/tool-0#1 +awaiting-input$/m)
  expect(warm.lines.map((line) => line.slice(0, 60))).toEqual(cold.lines.map((line) => line.slice(0, 60)))
  expect(json.lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ kind: 'session', id: 'bills', status: 'active', waiting: 1 }])
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('--all') })
})

test('looking sets nothing going: a call that was cut off is not begun again by history, approvals, actors, sessions or doctor', async () => {
  const folder = await killedDuring('wait d', 'd.started')
  const before = (await statecast({ folder }, 'trace', 'main', '--app', testApp)).stdout

  for (const command of [['history', 'main'], ['approvals'], ['actors'], ['sessions'], ['doctor', '--offline']])
    expect(await statecast({ folder }, ...command, '--app', testApp)).toMatchObject({ code: 0 })

  expect((await statecast({ folder }, 'trace', 'main', '--app', testApp)).stdout).toBe(before)
})

test.each([
  ['history', 'nobody'],
  ['approve', 'nobody', 'call'],
])('%s of a conversation that is not there ends with exit code 4 and a hint', async (...args) => {
  expect(await statecast({ folder: aFolder() }, ...args)).toMatchObject({ code: 4, stderr: expect.stringMatching(/\[not_found\]\nhint: \S/) })
})

test('a long story streams, Ctrl-C stops it, and what was told is kept', async () => {
  const folder = aFolder()
  const story = start({ folder }, 'send', 'main', 'tell me a long story', '--json')
  await story.firstLine
  await story.prints('"lamp ')

  story.signal('SIGINT')

  expect((await story.ended).code).toBe(130)
  expect((await statecast({ folder }, 'history', 'main')).stdout).toMatch(/^› tell me a long story\nThe lamp .*\n {2}\(stopped\)\n$/)
})

test('whoever speaks up during the story is answered at the end of the chapter', async () => {
  const folder = aFolder()
  const node = await aNode({ folder })
  const story = start({ folder }, 'send', 'main', 'tell me a long story')
  await expect.poll(() => rpc(node, 'actors.list')).toContain('streaming')

  const steered = await statecast({ folder }, 'send', 'main', 'what is 6*7?')

  expect(steered.stdout).toBe('6*7 = 42\n')
  // The first; on a busy machine a later one, and not the last.
  expect((await story.ended).stdout).toMatch(
    /^The lamp on Skerry Rock .* (?:did not know it|every thirty seconds|sea that still moved)\.\n\n6\*7 = 42\n$/s,
  )
  expect((await statecast({ folder }, 'history', 'main')).stdout).not.toContain('that was the story')
})
