/** `statecast chat` in a real terminal, as tmux gives it one. Without tmux these tests are skipped: nothing else here has a terminal without a person. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { needsProgram } from '../support/programs.ts'
import { endsWithTest } from './folders.ts'
import { bin, cleanEnvironment } from './processes.ts'
import { aFolder, statecast, testApp } from './run.ts'

/** A terminal with a chat in it; its server has a socket in the folder, and ends with the test. */
const aTerminal = async () => {
  needsProgram('tmux')
  const folder = aFolder()
  const tmux = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('tmux', ['-u', '-S', `${folder}/tmux`, '-f', '/dev/null', ...args], { cwd: folder, env: cleanEnvironment })).stdout
  const command = `'${process.execPath}' '${bin}' chat --app '${testApp}'; echo "exit code $?"; cat`
  await tmux('new-session', '-d', '-x', '100', '-y', '30', '-c', folder, command)
  endsWithTest(new Promise(() => undefined), () => tmux('kill-server'))
  const screen = () => tmux('capture-pane', '-p', '-S', '-')
  return {
    folder,
    screen,
    type: (...keys: string[]) => tmux('send-keys', ...keys),
    sees: (part: string | RegExp) => expect.poll(screen).toMatch(part),
  }
}

describe('in a terminal', () => {
  test('chat prompts, streams the answer, and leaves with exit code 0 at Ctrl-D', async () => {
    const { folder, type, sees } = await aTerminal()
    await sees(/\/help[\s\S]*^›/m)

    await type('hello', 'Enter')
    await sees(/^echo hello$/m)
    await type('C-d')
    await sees('exit code 0')

    expect(await statecast({ folder }, 'history', 'main')).toMatchObject({ code: 0, stdout: '› hello\necho hello\n' })
  })

  test('Ctrl-C stops the turn, and twice more leaves with exit code 130', async () => {
    const { type, sees } = await aTerminal()
    await sees('/help')
    await type('wait forever', 'Enter')
    await sees('wait_for_file')

    await type('C-c')
    await sees('  (stopped)')
    await type('C-c')
    await sees(/^ {2}\(Ctrl-C again leaves\)$/m)
    await type('C-c')

    await sees('exit code 130')
  })
})
