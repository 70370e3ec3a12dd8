/** Another conversation that begins with the past of one, from the command line. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast, tell, testApp } from './run.ts'

test('a conversation is forked without a node, from its newest commit or an earlier one; what is deleted stays in its forks', async () => {
  const how = { folder: aFolder() }
  const run = (...args: string[]) => statecast(how, ...args, '--app', testApp)
  await run('send', 'main', 'hello')
  await run('send', 'main', 'again')

  const forked = await run('fork', 'main', '--as', 'other')
  const early = await run('fork', 'main', '--at', '2', '--as', 'early', '--json')
  await run('delete', 'main')

  expect(forked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^other shares commits 1 to \d+ of session\/main, and goes its own way/) })
  expect(forked.stderr).toContain('statecast up')
  expect(JSON.parse(early.stdout)).toMatchObject({ id: 'early', origin: { at: 2, answers: 'recorded' } })
  await run('send', 'other', 'and on')
  expect((await run('history', 'other')).stdout.match(/hello|again|and on/g)).toEqual(expect.arrayContaining(['hello', 'again', 'and on']))
  expect(await run('replay', 'other')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^identical/) })
  expect((await run('sessions')).stdout).not.toContain('main')
})

test('on a node: what if it had been denied; whoever is refused is told what to do', async () => {
  const how = { folder: aFolder() }
  await aNode(how, '--app', testApp)
  const run = (...args: string[]) => statecast(how, ...args)
  await run('send', 'main', 'danger')
  const [line] = (await run('approvals', '--json')).lines
  const { callId } = JSON.parse(line as string) as { callId: string }
  await run('approve', 'main', callId, '--wait')
  const { lines } = await run('trace', 'main', '--json')
  const approve = lines.map((one) => JSON.parse(one) as { seq: number; event: string }).find(({ event }) => event === 'approve')!

  const forked = await run('fork', 'main', '--change', String(approve.seq), '--event', '{"decision":"deny"}', '--as', 'denied')
  const followed = await run('send', 'denied', 'hello')

  expect(forked).toMatchObject({ code: 0, stderr: expect.stringContaining('watch it: statecast trace --follow denied') })
  expect(followed.code).toBe(0)
  expect((await run('history', 'denied')).stdout).toContain('tool_denied')
  expect((await run('history', 'main')).stdout).not.toContain('tool_denied')

  for (const [args, code, words] of [
    [['main', '--as', 'denied'], 1, 'conflict'],
    [['nobody', '--as', 'x'], 4, 'not_found'],
    [['main', '--as', 'x', '--at', '100000'], 2, 'bad_request'],
    [['main', '--as', 'x', '--change', 'last'], 2, '--change SEQ'],
    [['main', '--as', 'x', '--change', '2', '--event', 'deny'], 2, 'JSON'],
    [['main', '--as', 'x', '--event', '{}'], 2, '--change which'],
    [['main'], 2, '--as'],
    [['main', '--as', 'tally/x'], 2, "'tally/x' is of another kind"],
    [['main', '--as', 'x', '--change', 'last'], 2, 'counted from 0 without'],
  ] as const)
    expect(await run('fork', ...args), args.join(' ')).toMatchObject({ code, stderr: expect.stringContaining(words) })
})

test('the key of a fork may be any text: it is shown as it was written, and quoted where it is to be copied', async () => {
  const how = { folder: aFolder() }
  const node = await aNode(how, '--app', testApp)
  const url = `embedded:${how.folder}/.statecast`
  const run = (...args: string[]) => statecast(how, ...args, '--url', url)
  const headers = { authorization: `Bearer ${readFileSync(node.token, 'utf8').trim()}` }
  const rpc = async (command: string, input: object) =>
    (await fetch(`${node.url}/rpc/${command}`, { method: 'POST', headers, body: JSON.stringify(input) })).json()
  await tell(node, 'tally', 'no 1', { type: 'add', amount: 1 })

  const forked = await run('fork', 'tally/no 1', '--as', 'tally/two; touch x')
  const slashed = await run('fork', 'tally/no 1', '--as', 'shop/1')

  expect(forked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tally\/two; touch x shares commits 1 to 1 of tally\/no 1, /) })
  expect(forked.stderr).toContain(`watch it: statecast trace --follow --url ${url} 'tally/two; touch x'`)
  expect(slashed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tally\/shop\/1 shares/) })
  expect(await run('trace', 'tally/shop/1')).toMatchObject({ code: 0, stdout: expect.stringContaining('add') })
  expect(await run('fork', 'tally/no 1', '--as', 'shop/1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is a tally/shop/1 already'),
  })
  expect(await run('fork', 'tally/no 1', '--as', 'session/y')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('hint: give a key, or tally/KEY'),
  })
  for (const [id, kind, as] of [
    ['no 1', 'tally', '\ud800'],
    ['no 1', 'tally', 'ä'.repeat(600)],
    ['main', 'session', 'agent::x'],
  ])
    expect(await rpc('trace.fork', { id, kind, as })).toMatchObject({ error: { field: 'as' } })
})
