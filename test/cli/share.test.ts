/** A command that has a folder to itself, while other commands want to know something of it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, start, statecast, testApp, untilFile } from './run.ts'

/** A chat that nobody started a node for, in the middle of its conversation. */
const anOpenChat = async () => {
  const folder = aFolder()
  const chat = start({ folder, keepStdinOpen: true }, 'chat', '--app', testApp)
  chat.stdin.write('hi\n')
  await chat.firstLine
  return { folder, chat, leave: () => chat.stdin.end() }
}

test('with a chat open, commands in another terminal look at its conversations, talk in others and decide', async () => {
  const { folder, chat, leave } = await anOpenChat()

  const history = await statecast({ folder }, 'history', 'main')
  const danger = await statecast({ folder }, 'send', 'other', 'danger')
  const approvals = await statecast({ folder }, 'approvals')
  const call = /statecast approve other (\S+)/.exec(approvals.stdout)?.[1] ?? ''
  const approved = await statecast({ folder }, 'approve', 'other', call, '--wait')
  chat.stdin.write('still there\n')
  leave()
  const ended = await chat.ended

  expect(history).toMatchObject({ code: 0, stdout: expect.stringContaining('echo hi') })
  expect(danger).toMatchObject({ code: 1, stderr: expect.stringContaining('approve other') })
  expect(approved).toMatchObject({ code: 0, stdout: 'danger: "boom"\n' })
  // The chat itself says nothing about it.
  expect(ended).toMatchObject({ code: 0, stdout: 'echo hi\necho still there\n', stderr: '' })
})

test('a send that takes long can be looked at, too, and its token is for its owner only', async () => {
  const folder = aFolder()
  const send = start({ folder }, 'send', 'main', 'wait a', '--app', testApp)
  await untilFile(join(folder, 'a.started'))

  const sessions = await statecast({ folder }, 'sessions')
  writeFileSync(join(folder, 'a.go'), '')

  expect(sessions).toMatchObject({ code: 0, stdout: expect.stringMatching(/^main +running/m) })
  expect(await send.ended).toMatchObject({ code: 0, stdout: 'wait_for_file: {"waited":"a"}\n', stderr: expect.not.stringContaining('http') })
})

test('what ends the chat ends its gateway: who waits for an answer is told, and the folder is free again', async () => {
  const { folder, chat, leave } = await anOpenChat()
  const waiting = start({ folder }, 'send', 'other', 'wait b')
  await untilFile(join(folder, 'b.started'))
  const { url } = JSON.parse(readFileSync(join(folder, '.statecast/owner.json'), 'utf8')) as { url: string }

  leave()
  await chat.ended
  const told = await waiting.ended

  expect(told.code).toBe(1)
  expect(told.stderr).toMatch(/\[(closed|log_unavailable)\]\nhint: \S/)
  expect(existsSync(join(folder, '.statecast/owner.json'))).toBe(false)
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  expect((await statecast({ folder, env: {} }, 'sessions', '--app', testApp)).stdout).toMatch(/^other /m)
})

test('a node that is to be started beside a chat is refused with what to do', async () => {
  const { folder } = await anOpenChat()
  await statecast({ folder }, 'sessions')

  const { code, stderr } = await statecast({ folder }, 'up', '--port', '0', '--app', testApp)

  expect(code).toBe(3)
  expect(stderr).toContain(`other commands talk to it by themselves; to have another one, end process ${process.pid}`)
})
