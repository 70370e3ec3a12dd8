/** A conversation travels as a file, from a folder to a cluster, in the middle of a turn. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { repository } from '../tidy/sources.ts'
import { aNodeProcess } from './processes.ts'
import { aFolder, aNode, statecast, stopNode, testApp } from './run.ts'

const server = natsForAll()

/** A session whose node was killed in the middle of a tool call that may be repeated. */
const inMidTurn = async (how: { folder: string }) => {
  const node = await aNodeProcess(how, '--app', testApp)
  expect(await statecast(how, 'send', 'trip', 'hello')).toMatchObject({ code: 0 })
  expect(await statecast(how, 'send', 'trip', 'wait paris', '--no-wait', '--idempotency-key', 'm2')).toMatchObject({ code: 0 })
  await vi.waitFor(() => expect(existsSync(join(how.folder, 'paris.started'))).toBe(true))
  node.kill()
  await node.ended
}

test('a session that was cut off in mid-turn in a folder goes on in a cluster', async () => {
  const from = { folder: aFolder() }
  await inMidTurn(from)
  const exported = await statecast(from, 'export', 'trip')
  expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('commits of session/trip') })

  const to = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  const nodes = [await aNode(to, '--app', testApp), await aNode(to, '--app', testApp)]
  writeFileSync(join(to.folder, 'trip.journal'), exported.stdout)
  const imported = await statecast(to, 'import', 'trip.journal')
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/session\/trip has \d+ commits, and resumes its work/) })
  // Again: nothing changes, and nothing is wrong.
  expect(await statecast(to, 'import', 'trip.journal')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^session\/trip is there already, with .* of the file.*: nothing was changed$/m),
  })
  await vi.waitFor(() => expect(existsSync(join(to.folder, 'paris.started'))).toBe(true))
  writeFileSync(join(to.folder, 'paris.go'), '')

  await vi.waitFor(async () => expect((await statecast(to, 'history', 'trip')).stdout).toContain('wait_for_file: {"waited":"paris"}'), {
    interval: 500,
  })
  expect(await statecast(to, 'replay', 'trip')).toMatchObject({ code: 0, stdout: expect.stringContaining('identical') })
  expect((await statecast(to, 'nodes', '--json')).lines).toHaveLength(2)
  await Promise.all(nodes.map(stopNode))
})

test('what is not a complete export, or would replace something, is refused', async () => {
  const from = { folder: aFolder() }
  await statecast(from, 'send', 'a', 'hello', '--app', testApp)
  const { stdout } = await statecast(from, 'export', 'a', '--app', testApp)
  const lines = stdout.trimEnd().split('\n')
  const to = { folder: aFolder() }
  const given = async (text: string) => {
    writeFileSync(join(to.folder, 'f'), text)
    const { code, stderr } = await statecast(to, 'import', 'f', '--app', testApp)
    return { code, stderr }
  }

  expect(await given('')).toMatchObject({ code: 2, stderr: expect.stringContaining('not a complete export') })
  expect(await given(lines.slice(0, -1).join('\n'))).toMatchObject({ code: 2, stderr: expect.stringContaining('last line is missing') })
  expect(await given([lines[0], ...lines.slice(2)].join('\n'))).toMatchObject({ code: 2, stderr: expect.stringContaining('or some differ') })
  expect(await given('{"statecast":"other"}\n{}\n')).toMatchObject({ code: 2 })
  expect(await statecast(to, 'import', 'missing.file')).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') })

  expect(await statecast(to, 'send', 'a', 'something else', '--app', testApp)).toMatchObject({ code: 0 })
  const before = readFileSync(join(to.folder, '.statecast', 'statecast.db')).length
  expect(await given(stdout)).toMatchObject({ code: 1, stderr: expect.stringContaining('another session/a') })
  expect(readFileSync(join(to.folder, '.statecast', 'statecast.db')).length).toBeGreaterThanOrEqual(before)
  expect((await statecast(to, 'history', 'a', '--app', testApp)).stdout).toContain('something else')
})

test('an import of less than is there changes nothing, and says so', async () => {
  const how = { folder: aFolder() }
  await statecast(how, 'send', 'a', 'hello', '--app', testApp)
  writeFileSync(join(how.folder, 'f'), (await statecast(how, 'export', 'a', '--app', testApp)).stdout)

  const same = await statecast(how, 'import', 'f', '--app', testApp)
  await statecast(how, 'send', 'a', 'more', '--app', testApp)
  const older = await statecast(how, 'import', 'f', '--app', testApp)

  expect(same).toMatchObject({ code: 0, stdout: 'session/a is there already, with all 2 commits of the file: nothing was changed\n' })
  expect(older).toMatchObject({
    code: 0,
    stdout: 'session/a is there already, with 4 commits, all 2 of the file among them: nothing was changed\n',
  })
})

/** Through a real pipe, which holds 64 KiB. */
const piped = (folder: string, reader: string) =>
  spawnSync('bash', ['-o', 'pipefail', '-c', `"$0" "$1" export long | ${reader}`, process.execPath, join(repository, 'bin/statecast.js')], {
    cwd: folder,
    encoding: 'utf8',
  })

test('an export that is longer than a pipe holds waits for a slow reader, and ends quietly when nobody reads on', async () => {
  const how = { folder: aFolder(), input: 'x'.repeat(150_000) }
  expect(await statecast(how, 'send', 'long', '-')).toMatchObject({ code: 0 })
  const whole = (await statecast(how, 'export', 'long')).stdout.length

  const slow = piped(how.folder, '(sleep 2; wc -c)')
  const gone = piped(how.folder, '(sleep 1; head -c 10)')

  expect(whole).toBeGreaterThan(150_000)
  expect(slow).toMatchObject({ status: 0, stderr: expect.stringMatching(/^exported \d+ commits/) })
  expect(Number(slow.stdout)).toBe(whole)
  expect(gone).toMatchObject({ status: 0, stdout: '{"statecas', stderr: '' })
})

test('a fork travels as a conversation of its own, in mid-turn too, and becomes a test', async () => {
  const how = { folder: aFolder() }
  const run = (...args: string[]) => statecast(how, ...args, '--app', testApp)
  await run('send', 'main', 'hello')
  await run('send', 'main', 'danger')
  await run('fork', 'main', '--as', 'other')
  await run('fork', 'other', '--as', 'third')
  await run('send', 'other', '/queue interrupt')

  const to = { folder: aFolder() }
  const there = (...args: string[]) => statecast(to, ...args, '--app', testApp)
  for (const key of ['other', 'third']) {
    const exported = await run('export', key)
    expect(exported).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/exported \d+ commits of session\/\w+, also those that it shares with session\//),
    })
    writeFileSync(join(to.folder, key), exported.stdout)
    expect(await there('import', key)).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`session/${key} has \\d+ commits`)) })
    expect(await there('replay', key)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^identical/) })
  }
  const [line] = (await there('approvals', '--json')).lines
  const { sessionKey, callId } = JSON.parse(line as string) as { sessionKey: string; callId: string }
  expect(await there('approve', sessionKey, callId, '--deny', '--wait')).toMatchObject({ code: 0 })
  expect((await there('history', sessionKey)).stdout).toContain('tool_denied')

  const redacted = await run('export', 'third', '--redact')
  expect(redacted.code, redacted.stderr).toBe(0)
  expect(redacted.stdout).not.toContain('third')
  writeFileSync(join(to.folder, 'redacted.journal'), redacted.stdout)
  expect(await there('test', '--traces', 'redacted.journal')).toMatchObject({ code: 0 })
})
