/**
 * Files as other programs write them: with a byte order mark, with other line ends, with names in another encoding of the same letters.
 * Sources: microsoft/playwright-cli#274, getpaseo/paseo#4695, thedotmack/claude-mem#3013 (FC-29); earendil-works/pi#355, MoonshotAI/kimi-cli#2191 (FC-17).
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCredentialStore } from '../../src/models/credential-store.ts'
import { readScript } from '../../src/models/script.ts'
import { benchTools, promptFile } from '../../src/tools/index.ts'
import { createTools } from '../../src/tools/registry.ts'
import { aFolder, statecast } from '../cli/run.ts'
import { aContext, plan, virtualClock } from '../tools/fixtures.ts'

const mark = '\ufeff'

describe('a byte order mark is part of no file that we read', () => {
  test('the app', async () => {
    const folder = aFolder()
    writeFileSync(join(folder, 'statecast.config.json'), `${mark}{"agents":[{"name":"clerk","model":"scripted/offline"}]}\r\n`)

    const { code, stderr } = await statecast({ folder }, 'send', 'main', 'hello', '--agent', 'clerk')
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')])
  })

  test('a trace that is imported', async () => {
    const [one, other] = [aFolder(), aFolder()]
    await statecast({ folder: one }, 'send', 'main', 'hello')
    const exported = await statecast({ folder: one }, 'export', 'main')
    writeFileSync(join(other, 'trace.jsonl'), mark + exported.stdout)

    expect(await statecast({ folder: other }, 'import', 'trace.jsonl')).toMatchObject({ code: 0 })
  })

  test('credentials, scripts, prompts', async () => {
    const folder = aFolder()
    const write = (name: string, text: string) => writeFileSync(join(folder, name), mark + text)
    write('keys.json', '{"anthropic":[{"id":"work","type":"key","value":"k"}]}')
    chmodSync(join(folder, 'keys.json'), 0o600)
    write('script.json', '[{"text":"hi"}]')
    write('AGENTS.md', 'Be brief.')

    expect(readCredentialStore('keys.json', folder)).toMatchObject({ anthropic: [{ id: 'work' }] })
    expect(await readScript(join(folder, 'script.json'))).toEqual([{ text: 'hi' }])
    expect(await promptFile(folder, 'AGENTS.md')).toEqual({ path: 'AGENTS.md', text: 'Be brief.', chars: 9 })
  })
})

describe('a name is the same in each encoding of its letters', () => {
  const [composed, apart] = ['caf\u00e9', 'cafe\u0301']

  test.each([
    [composed, apart],
    [apart, composed],
  ])('%j on disk is found as %j, read, edited and written', async (onDisk, asked) => {
    const folder = aFolder()
    mkdirSync(join(folder, onDisk))
    writeFileSync(join(folder, onDisk, `${onDisk}.md`), 'one\n')
    const clock = virtualClock()
    const tools = createTools(benchTools({ files: 'rw' }, { workspace: folder, clock }).tools, { clock })
    const run = async (name: string, input: object) => tools.run(plan(tools, name, { path: `${asked}/${asked}.md`, ...input }), aContext())

    expect(await run('read_file', {})).toMatchObject({ text: expect.stringContaining('one') })
    expect(await run('edit_file', { old: 'one', new: 'two', all: false })).toMatchObject({ replaced: 1 })
    await run('write_file', { content: 'three\n' })
    expect(readdirSync(folder)).toEqual([onDisk])
    expect(readdirSync(join(folder, onDisk))).toEqual([`${onDisk}.md`])
    expect(readFileSync(join(folder, onDisk, `${onDisk}.md`), 'utf8')).toBe('three\n')
  })
})
