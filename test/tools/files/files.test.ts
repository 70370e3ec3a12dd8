import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtInTools } from '../../../src/tools/bench.ts'
import { resolveInside } from '../../../src/tools/files/workspace.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { casesOf } from '../../support/property.ts'
import { aContext, plan, virtualClock } from '../fixtures.ts'

let folder: string
let workspace: string
const socket = createServer()

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'statecast-tools-')))
  workspace = join(folder, 'desk')
  await mkdir(join(workspace, 'notes', 'deep'), { recursive: true })
  await mkdir(join(workspace, '.statecast'))
  await mkdir(join(workspace, 'many'))
  await mkdir(join(folder, 'desk-beside'))
  await writeFile(join(folder, 'secret.txt'), 'secret')
  await writeFile(join(folder, 'desk-beside', 'secret.txt'), 'secret')
  await writeFile(join(workspace, '.env'), 'KEY=secret')
  await writeFile(join(workspace, '.statecast', 'journal'), 'secret')
  await writeFile(join(workspace, 'notes', 'plan.md'), 'grüezi 👋 mitenand')
  await writeFile(join(workspace, 'notes', 'empty'), '')
  await writeFile(join(workspace, 'big.txt'), 'x'.repeat(600 * 1024))
  await writeFile(join(workspace, 'control.txt'), '\u0001'.repeat(256 * 1024))
  await writeFile(join(workspace, 'image.png'), Buffer.from([0x89, 0x50, 0, 0xff]))
  await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(workspace, 'many', `f${String(index).padStart(3, '0')}`), '')))
  await symlink(join(folder, 'secret.txt'), join(workspace, 'link-out.txt'))
  await symlink(folder, join(workspace, 'folder-out'))
  await symlink('.env', join(workspace, 'link-hidden'))
  await symlink('notes/plan.md', join(workspace, 'link-in.md'))
  await link(join(folder, 'secret.txt'), join(workspace, 'hard-link.txt'))
  await symlink('hard-link.txt', join(workspace, 'link-to-hard-link.txt'))
  await symlink('loop', join(workspace, 'loop'))
  await symlink('/dev/zero', join(workspace, 'zero'))
  execFileSync('mkfifo', [join(workspace, 'pipe')])
  await new Promise<void>((resolve) => socket.listen(join(workspace, 'socket'), resolve))
})
afterAll(async () => {
  socket.close()
  await rm(folder, { recursive: true })
})

const call = (name: string, input: object) => {
  const tools = createTools(builtInTools({ workspace, clock: virtualClock() }), { clock: virtualClock() })
  return tools.run(plan(tools, name, input), aContext())
}
const read = (path: string, part: object = {}) => call('read_file', { path, ...part })

test('the built-in tools may be repeated after a crash and ask nobody', () => {
  expect(builtInTools({ workspace, clock: virtualClock() }).map(({ name, onCrash, approval }) => [name, onCrash, approval])).toEqual(
    ['calculate', 'now', 'read_file', 'list_files', 'search_files'].map((name) => [name, 'retry', false]),
  )
})

describe('read_file', () => {
  test('reads a file, also through a link within the workspace', async () => {
    const text = 'grüezi 👋 mitenand'

    expect(await read('notes/plan.md')).toEqual({ path: 'notes/plan.md', text, line: 1, lines: 1, sizeBytes: Buffer.byteLength(text) })
    expect(await read('./link-in.md')).toMatchObject({ path: 'notes/plan.md', text })
    expect(await read('notes//deep/../plan.md').catch((error: unknown) => error)).toMatchObject({ data: { code: 'forbidden' } })
    expect(await read('notes/empty')).toMatchObject({ text: '', sizeBytes: 0 })
  })

  test('reads so many lines from a line on, and says where the rest begins', async () => {
    const whole = Array.from({ length: 25 }, (_, index) => `line ${index + 1}\n`)
    await writeFile(join(workspace, 'lines.txt'), whole.join(''))

    const first = await read('lines.txt', { limit: 10 })
    const last = await read('lines.txt', { offset: 21, limit: 10 })

    expect(first).toMatchObject({ text: whole.slice(0, 10).join(''), line: 1, lines: 10, nextOffset: 11 })
    expect(last).toMatchObject({ text: whole.slice(20).join(''), lines: 5 })
    expect(last).not.toHaveProperty('nextOffset')
    expect(await read('lines.txt', { offset: 26 })).toMatchObject({ text: '', lines: 0 })
    expect(await read('lines.txt', { offset: 1e9 })).toMatchObject({ text: '', lines: 0 })
    await rm(join(workspace, 'lines.txt'))
  })

  test('a line that is too long comes in parts, the last of which has no next one', async () => {
    const first = await read('big.txt')
    const last = await read('big.txt', { byte: 512 * 1024 })

    expect(first).toMatchObject({ nextByte: 256 * 1024, sizeBytes: 600 * 1024 })
    expect(last).not.toHaveProperty('nextByte')
    expect((last as { text: string }).text).toHaveLength(88 * 1024)
    expect(await read('big.txt', { byte: 1e9 })).toMatchObject({ text: '' })
    expect(await read('control.txt')).toMatchObject({ sizeBytes: 256 * 1024 })
  })

  test('never cuts a character in half: the parts make up the whole', async () => {
    const whole = 'a👋'.repeat(200_000)
    await writeFile(join(workspace, 'waves.txt'), whole)
    const parts: string[] = []
    for (let byte: number | undefined = 0; byte !== undefined; ) {
      const part = (await read('waves.txt', { byte })) as { text: string; nextByte?: number }
      parts.push(part.text)
      byte = part.nextByte
    }

    expect(parts.length).toBeGreaterThan(3)
    expect(parts.join('')).toBe(whole)
    await rm(join(workspace, 'waves.txt'))
  })

  test.each([
    ['../secret.txt', 'forbidden'],
    ['notes/../../secret.txt', 'forbidden'],
    ['..\\secret.txt', 'forbidden'],
    ['../desk-beside/secret.txt', 'forbidden'],
    ['link-out.txt', 'forbidden'],
    ['folder-out/secret.txt', 'forbidden'],
    ['folder-out/desk/notes/plan.md/../../../secret.txt', 'forbidden'],
    ['.env', 'forbidden'],
    ['link-hidden', 'forbidden'],
    ['.statecast/journal', 'forbidden'],
    ['./.statecast/journal', 'forbidden'],
    ['hard-link.txt', 'forbidden'],
    ['link-to-hard-link.txt', 'forbidden'],
    ['zero', 'forbidden'],
    ['pipe', 'forbidden'],
    ['socket', 'forbidden'],
    ['loop', 'forbidden'],
    ['/etc/passwd', 'bad_request'],
    ['C:\\secret.txt', 'bad_request'],
    ['~/secret.txt', 'bad_request'],
    ['notes/plan.md\0.png', 'bad_request'],
    ['x'.repeat(2000), 'bad_request'],
    ['notes', 'bad_request'],
    ['image.png', 'bad_request'],
    ['missing.txt', 'not_found'],
    ['notes/plan.md/deeper', 'not_found'],
  ])('refuses %s as %s, without a word of what is there', async (path, code) => {
    const error = await read(path).catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({ code: 'tool_failed', data: { code } })
    expect(JSON.stringify(error)).not.toContain(folder)
  })

  test('says plainly that a folder is a folder', async () => {
    await expect(read('notes')).rejects.toMatchObject({ message: '"notes" is a folder', hint: expect.stringContaining('list_files') })
  })
})

describe('list_files', () => {
  test('lists what may be read, sorted, without hidden names and links to the outside', async () => {
    const { entries } = (await call('list_files', {})) as { entries: object[] }

    expect(entries).toEqual([
      { name: 'big.txt', kind: 'file', sizeBytes: 600 * 1024 },
      { name: 'control.txt', kind: 'file', sizeBytes: 256 * 1024 },
      { name: 'image.png', kind: 'file', sizeBytes: 4 },
      { name: 'link-in.md', kind: 'file', sizeBytes: 21 },
      { name: 'many', kind: 'folder' },
      { name: 'notes', kind: 'folder' },
    ])
  })

  test('stops at 500 entries and says so', async () => {
    const { entries, truncated } = (await call('list_files', { path: 'many' })) as { entries: { name: string }[]; truncated: boolean }

    expect([entries.length, entries.at(-1)?.name, truncated]).toEqual([500, 'f499', true])
  })

  test.each([
    ['..', 'forbidden'],
    ['folder-out', 'forbidden'],
    ['.statecast', 'forbidden'],
    ['/', 'bad_request'],
    ['big.txt', 'bad_request'],
    ['missing', 'not_found'],
  ])('refuses %s as %s', async (path, code) => {
    await expect(call('list_files', { path })).rejects.toMatchObject({ code: 'tool_failed', data: { code } })
  })
})

test('no path whatsoever resolves to a place outside the workspace or a hidden one', async () => {
  const segment = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'notes',
      'deep',
      'folder-out',
      'desk',
      '.env',
      '.statecast',
      'link-out.txt',
      'link-in.md',
      'secret.txt',
      '~',
      '\0',
      '…',
      '%2e%2e',
      '..\\..',
    ),
    fc.string({ maxLength: 5 }),
  )
  const path = fc
    .tuple(fc.constantFrom('', '/', './', '//', '../'), fc.array(segment, { maxLength: 6 }))
    .map(([start, segments]) => start + segments.join('/'))
  await fc.assert(
    fc.asyncProperty(path, async (text) => {
      const place = await resolveInside({ folder: workspace, closed: [] }, text).catch((error: unknown) => {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(forbidden|bad_request|not_found)$/) })
      })
      if (place === undefined) return
      const inside = relative(workspace, place.real)
      expect(inside.startsWith('..')).toBe(false)
      expect(inside.split('/').some((name) => name.startsWith('.'))).toBe(false)
    }),
    casesOf(import.meta.url),
  )
})

test('now tells UTC, and the time of a place', async () => {
  expect(await call('now', {})).toEqual({ iso: '2026-01-31T08:05:00.000Z', timeZone: 'UTC', local: '2026-01-31 08:05:00' })
  expect(await call('now', { timeZone: 'Asia/Kathmandu' })).toMatchObject({ local: '2026-01-31 13:50:00' })
  await expect(call('now', { timeZone: 'Moon/Base' })).rejects.toMatchObject({ message: '"Moon/Base" is not a time zone', hint: expect.any(String) })
})
