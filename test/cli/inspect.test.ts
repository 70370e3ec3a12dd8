/** `statecast inspect`: says where to look, and lets nobody see the token who may not. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aReceiver } from '../api/relay/a-receiver.ts'
import { aFolder, aNode, statecast, testApp, untilFile } from './run.ts'

test('it prints the page of the node that runs, of one conversation by its one name, and an address for other visualisers', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const token = readFileSync(node.token, 'utf8').trim()
  await statecast({ folder }, 'send', 'main', 'hello')

  const whole = await statecast({ folder }, 'inspect')
  const one = await statecast({ folder }, 'inspect', 'agent:main:web:main', '--stately', '--expires', '5m')
  const json = await statecast({ folder }, 'inspect', 'main', '--stately', '--json')

  expect(whole).toMatchObject({ code: 0, stdout: `${node.url}/inspector#token=${token}\n` })
  expect(one).toMatchObject({ code: 0 })
  expect(one.lines[0]).toBe(`${node.url}/inspector?session=main#token=${token}`)
  expect(one.lines[1]).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/inspect\/[\w-]{43}$/)
  expect(JSON.parse(json.stdout)).toEqual({ inspector: one.lines[0], stately: expect.any(String), expiresAt: expect.any(Number) })
  const { until } = aReceiver(node.url, new URL(one.lines[1] ?? '').pathname)
  expect(await until(({ type }) => type === '@xstate.actor')).toMatchObject({ sessionId: 'session/main' })
})

test('it opens the page by a file that only its user can read, and with no token on the command line of a browser', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const token = readFileSync(node.token, 'utf8').trim()
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > ${folder}/opened.tmp && mv ${folder}/opened.tmp ${folder}/opened\n`, {
    mode: 0o755,
  })

  const quiet = await statecast({ folder, env: { PATH: `${programs}:/usr/bin:/bin` } }, 'inspect')
  expect([quiet.code, existsSync(join(folder, 'opened'))]).toEqual([0, false])
  await statecast({ folder, env: { PATH: `${programs}:/usr/bin:/bin` } }, 'inspect', '--open')
  await untilFile(join(folder, 'opened'))
  const opened = readFileSync(join(folder, 'opened'), 'utf8')

  expect(opened).not.toContain(token)
  expect(statSync(opened).mode & 0o077).toBe(0)
  expect(readFileSync(opened, 'utf8')).toContain(`${node.url}/inspector#token=${token}`)
})

test('without a node, without the conversation, or without a name where one is needed, it says what to do', async () => {
  const folder = aFolder()
  const nobody = await statecast({ folder }, 'inspect')
  await aNode({ folder }, '--app', testApp)
  const missing = await statecast({ folder }, 'inspect', 'nowhere')
  const unnamed = await statecast({ folder }, 'inspect', '--stately')

  expect(nobody).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('statecast up') })
  expect(missing).toMatchObject({ code: 4, stdout: '' })
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('statecast inspect main --stately') })
})
