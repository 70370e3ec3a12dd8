import { execFileSync } from 'node:child_process'
import type { Stats } from 'node:fs'
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { benchTools } from '../../../src/tools/bench.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { aContext, plan, virtualClock } from '../fixtures.ts'

let folder: string
let workspace: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'statecast-write-')))
  workspace = join(folder, 'desk')
  await mkdir(join(workspace, 'notes'), { recursive: true })
  await mkdir(join(folder, 'outside'))
  await writeFile(join(folder, 'outside', 'secret.txt'), 'secret')
})
afterEach(() => rm(folder, { recursive: true }))

/** By workspace: their schemas are made once. */
const known = new Map<string, ReturnType<typeof createTools>>()
const toolsIn = (place: string) => {
  const clock = virtualClock()
  const tools = known.get(place) ?? createTools(benchTools({ files: 'rw' }, { workspace: place, clock }).tools, { clock })
  known.set(place, tools)
  return tools
}

const call = (name: string, input: object, attempt = 1): Promise<any> => {
  const tools = toolsIn(workspace)
  return tools.run(plan(tools, name, input), aContext({ attempt }))
}
const write = (path: string, content = 'new', attempt = 1) => call('write_file', { path, content }, attempt)
const edit = (path: string, old: string, wanted: string, more: object = {}, attempt = 1) =>
  call('edit_file', { path, old, new: wanted, ...more }, attempt)
const inside = (path: string) => join(workspace, path)
/** All that lies outside of the workspace, with its content. */
const beyond = async () => ({
  names: (await readdir(folder)).sort(),
  inside: await readdir(join(folder, 'outside')),
  text: await readFile(join(folder, 'outside', 'secret.txt'), 'utf8'),
})

describe('write_file', () => {
  test('makes a file with the folders on its way, and says what it has done', async () => {
    const made = await write('a/b/plan.md', 'grüezi')

    expect(made).toEqual({ path: 'a/b/plan.md', sizeBytes: 7, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), created: true, changed: true })
    expect(await readFile(inside('a/b/plan.md'), 'utf8')).toBe('grüezi')
    expect(await readdir(inside('a/b'))).toEqual(['plan.md'])
  })

  test('replaces a file and keeps its mode', async () => {
    await writeFile(inside('run.sh'), 'old')
    await chmod(inside('run.sh'), 0o754)

    expect(await write('run.sh')).toMatchObject({ created: false, changed: true })

    expect((await stat(inside('run.sh'))).mode & 0o7777).toBe(0o754)
    expect(await readFile(inside('run.sh'), 'utf8')).toBe('new')
  })

  test('a second time it finds its content, and touches nothing', async () => {
    await write('plan.md')
    const { ino, mtimeMs } = await stat(inside('plan.md'))

    expect(await write('plan.md', 'new', 2)).toMatchObject({ created: false, changed: false })

    expect(await stat(inside('plan.md'))).toMatchObject({ ino, mtimeMs })
  })

  test.each([
    ['../outside/secret.txt', 'forbidden'],
    ['notes/../../outside/secret.txt', 'forbidden'],
    ['..\\outside\\secret.txt', 'forbidden'],
    ['out/secret.txt', 'forbidden'],
    ['out/made/new.txt', 'forbidden'],
    ['dangling/new.txt', 'forbidden'],
    ['link.txt', 'forbidden'],
    ['hard.txt', 'forbidden'],
    ['pipe', 'forbidden'],
    ['setuid', 'forbidden'],
    ['read-only.txt', 'forbidden'],
    ['.env', 'forbidden'],
    ['.git/hooks/post-commit', 'forbidden'],
    ['notes/.hidden', 'forbidden'],
    ['/etc/passwd', 'bad_request'],
    ['~/x', 'bad_request'],
    ['C:\\x', 'bad_request'],
    ['a\0b', 'bad_request'],
    ['notes', 'bad_request'],
    ['.', 'bad_request'],
    ['notes/plan.md/deeper', 'not_found'],
    ['x'.repeat(300), 'bad_request'],
  ])('refuses %s as %s, and nothing outside is touched', async (path, code) => {
    await writeFile(inside('notes/plan.md'), '')
    await symlink(join(folder, 'outside'), inside('out'))
    await symlink(join(folder, 'nowhere'), inside('dangling'))
    await symlink(join(folder, 'outside', 'secret.txt'), inside('link.txt'))
    await link(join(folder, 'outside', 'secret.txt'), inside('hard.txt'))
    execFileSync('mkfifo', [inside('pipe')])
    for (const [name, mode] of [
      ['setuid', 0o4755],
      ['read-only.txt', 0o444],
    ] as const) {
      await writeFile(inside(name), 'old')
      await chmod(inside(name), mode)
    }
    const before = await beyond()

    const errors = await Promise.all(
      [write(path), edit(path, 'secret', 'mine'), edit(path, 'old', 'mine')].map((each) => each.catch((error: unknown) => error)),
    )

    expect(errors[0]).toMatchObject({ code: 'tool_failed', data: { code } })
    for (const error of errors) expect(error).toMatchObject({ code: 'tool_failed' })
    expect(JSON.stringify(errors)).not.toContain(folder)
    expect(await beyond()).toEqual(before)
  })

  test('through a link that stays inside it writes the file in the folder that it leads to', async () => {
    await symlink('notes', inside('here'))

    expect(await write('here/plan.md')).toMatchObject({ path: 'notes/plan.md' })
  })
})

describe('edit_file', () => {
  test('replaces a text that occurs once', async () => {
    await writeFile(inside('plan.md'), 'one two three')

    expect(await edit('plan.md', 'two', '$& 2')).toMatchObject({ path: 'plan.md', replaced: 1 })

    expect(await readFile(inside('plan.md'), 'utf8')).toBe('one $& 2 three')
  })

  test.each([
    ['alpha\r\nbeta\r\n', 'alpha\nbeta', 'one\ntwo\nthree', 'one\r\ntwo\r\nthree\r\n'],
    ['alpha\r\nbeta\r\ngamma\r\n', 'beta', 'one\ntwo', 'alpha\r\none\r\ntwo\r\ngamma\r\n'],
    ['alpha\nbeta\n', 'alpha\r\nbeta', 'one\r\ntwo', 'one\ntwo\n'],
    ['a\r\nb\nc\r\nd\n', 'b\r\nc', 'x\ny', 'a\r\nx\ny\r\nd\n'],
    ['a\r\n\r\nb', '\n\n', '\n', 'a\r\nb'],
    ['a\rb', 'a\rb', 'c\nd', 'c\nd'],
    ['\ufeffa\r\nb', 'a\nb', 'c\nd', '\ufeffc\r\nd'],
    ['\ufeffa b', '\ufeffa', '\ufeffc', '\ufeffc b'],
  ])('keeps the line ends and the byte order mark of %j', async (before, old, wanted, after) => {
    await writeFile(inside('plan.md'), before)

    expect(await edit('plan.md', old, wanted)).toMatchObject({ replaced: 1 })
    expect(await readFile(inside('plan.md'), 'utf8')).toBe(after)
    expect(await edit('plan.md', old, wanted, {}, 2)).toMatchObject({ alreadyDone: true })
  })

  test('replaces each occurrence whatever its line end', async () => {
    await writeFile(inside('plan.md'), 'x\r\ny\r\nx\r\ny\r\nz')

    expect(await edit('plan.md', 'x\ny', 'a\nb\nc', { all: true })).toMatchObject({ replaced: 2 })
    expect(await readFile(inside('plan.md'), 'utf8')).toBe('a\r\nb\r\nc\r\na\r\nb\r\nc\r\nz')
  })

  test('says how often a text occurs that is not the only one, and where; with all it replaces each', async () => {
    await writeFile(inside('plan.md'), 'a\nb a\nc')

    await expect(edit('plan.md', 'a', 'x')).rejects.toMatchObject({
      message: 'the text occurs 2 times in "plan.md", in the lines 1, 2',
      data: { occurrences: 2 },
    })
    expect(await edit('plan.md', 'a', 'x', { all: true })).toMatchObject({ replaced: 2 })
    await expect(edit('plan.md', 'a', 'x')).rejects.toMatchObject({ data: { code: 'not_found', occurrences: 0 } })

    expect(await readFile(inside('plan.md'), 'utf8')).toBe('x\nb x\nc')
  })

  test.each([
    ['two', 'deux'],
    ['two', 'two and a half'],
    ['two', ''],
  ])('after a crash it knows that %j was replaced by %j, and does not do it again', async (old, wanted) => {
    await writeFile(inside('plan.md'), 'one two three')
    await edit('plan.md', old, wanted)
    const done = await readFile(inside('plan.md'), 'utf8')

    expect(await edit('plan.md', old, wanted, {}, 2)).toMatchObject({ alreadyDone: true, replaced: 0 })

    expect(await readFile(inside('plan.md'), 'utf8')).toBe(done)
  })

  test('after a crash before its work it does it', async () => {
    await writeFile(inside('plan.md'), 'deux, two')

    expect(await edit('plan.md', 'two', 'deux', {}, 2)).toMatchObject({ replaced: 1 })

    expect(await readFile(inside('plan.md'), 'utf8')).toBe('deux, deux')
  })

  test('edits of one file at the same time all happen', async () => {
    const marks = Array.from({ length: 20 }, (_, index) => `<${index}>`)
    await writeFile(inside('plan.md'), marks.join(''))

    await Promise.all(marks.map((mark) => edit('plan.md', mark, mark.toUpperCase().replace('<', '['))))

    expect(await readFile(inside('plan.md'), 'utf8')).toBe(marks.join('').replaceAll('<', '['))
  })

  test('text only, and no file without a bound', async () => {
    await writeFile(inside('image.png'), Buffer.from([0x89, 0, 0xff]))
    await writeFile(inside('huge.txt'), 'x'.repeat(9 * 1024 * 1024))

    await expect(edit('image.png', 'a', 'b')).rejects.toMatchObject({ data: { code: 'bad_request' } })
    await expect(edit('huge.txt', 'a', 'b')).rejects.toMatchObject({ data: { code: 'too_large' } })
  })
})

describe('search_files', () => {
  test('finds lines of text files, hidden and binary ones left out, and follows no link', async () => {
    await writeFile(inside('notes/a.md'), 'first\nA Needle here\r\nlast')
    await writeFile(inside('b.ts'), 'needle')
    await writeFile(inside('.env'), 'needle')
    await writeFile(inside('image.png'), Buffer.from('needle\0'))
    await symlink(join(folder, 'outside'), inside('out'))
    await symlink('notes', inside('again'))

    const found = await call('search_files', { pattern: 'needle' })
    const some = await call('search_files', { pattern: 'NEEDLE', files: '*.md' })
    const exact = await call('search_files', { pattern: 'needle', caseSensitive: true, path: 'b.ts' })
    const regex = await call('search_files', { pattern: '^a n.*e$', regex: true })

    expect(found).toEqual({
      matches: [
        { path: 'b.ts', line: 1, text: 'needle' },
        { path: 'notes/a.md', line: 2, text: 'A Needle here' },
      ],
      files: 2,
      skipped: 1,
    })
    expect(some).toMatchObject({ matches: [{ path: 'notes/a.md' }] })
    expect(exact).toMatchObject({ matches: [{ path: 'b.ts' }] })
    expect(regex).toMatchObject({ matches: [{ path: 'notes/a.md' }] })
    expect(JSON.stringify(await call('search_files', { pattern: 'secret' }))).not.toContain('secret.txt')
    for (const path of ['../outside', 'out', '/etc', '.env'])
      await expect(call('search_files', { pattern: 'x', path })).rejects.toMatchObject({ code: 'tool_failed' })
  })

  test('stops at its bounds and says at which', async () => {
    await writeFile(inside('many.txt'), 'x\n'.repeat(1000))
    await writeFile(inside('long.txt'), `${'y'.repeat(100_000)} needle ${'y'.repeat(100_000)}`)

    const { matches, truncated } = await call('search_files', { pattern: 'x', limit: 7 })
    const long = await call('search_files', { pattern: 'needle' })

    expect([matches.length, truncated]).toEqual([7, 'matches'])
    expect(long.matches[0].text.length).toBeLessThan(400)
    expect(long.matches[0].text).toContain('needle')
  })
})

/** Runs `change` once, after the next call has read the file and before it puts its own in that place. */
const meanwhile = async (change: () => Promise<unknown>): Promise<void> => {
  const handle = await open(inside('notes'))
  const syncing = vi.spyOn(Object.getPrototypeOf(handle) as { sync(): Promise<void> }, 'sync').mockImplementation(async () => {
    syncing.mockRestore()
    await change()
  })
  await handle.close()
}

describe('a file that another program changes between reading and replacing', () => {
  const tools: [string, () => Promise<unknown>][] = [
    ['write_file', () => write('notes/a.md', 'ours')],
    ['edit_file', () => edit('notes/a.md', 'old', 'ours')],
  ]

  /** A second without a fraction: a file can be given it exactly. */
  const then = new Date(1_700_000_000_000)
  const dated = async (name: string, text: string) => {
    await writeFile(inside(name), text)
    await utimes(inside(name), then, then)
  }
  const changes: [string, string, () => Promise<unknown>][] = [
    ['has another text of the same length', 'odd', () => writeFile(inside('notes/a.md'), 'odd')],
    ['has a longer text and the time of before', 'longer', () => dated('notes/a.md', 'longer')],
    [
      'is another file of the same length and time',
      'odd',
      () => dated('notes/b.md', 'odd').then(() => rename(inside('notes/b.md'), inside('notes/a.md'))),
    ],
  ]

  test.each(tools.flatMap(([name, act]) => changes.map(([how, theirs, change]) => [name, how, theirs, change, act] as const)))(
    '%s does not overwrite it where it %s',
    async (_name, _how, theirs, change, act) => {
      await dated('notes/a.md', 'old')
      await meanwhile(change)

      await expect(act()).rejects.toMatchObject({ data: { code: 'conflict' }, hint: expect.stringContaining('read it again') })

      expect(await readFile(inside('notes/a.md'), 'utf8')).toBe(theirs)
      expect(await readdir(inside('notes'))).toEqual(['a.md'])
    },
  )

  test.each(tools)('%s does not bring it back where it was removed', async (_name, act) => {
    await writeFile(inside('notes/a.md'), 'old')
    await meanwhile(() => unlink(inside('notes/a.md')))

    await expect(act()).rejects.toMatchObject({ data: { code: 'conflict' } })

    expect(await readdir(inside('notes'))).toEqual([])
  })

  test('write_file does not overwrite one that was made where none was', async () => {
    await meanwhile(() => writeFile(inside('notes/a.md'), 'theirs'))

    await expect(write('notes/a.md', 'ours')).rejects.toMatchObject({ data: { code: 'conflict' } })

    expect(await readFile(inside('notes/a.md'), 'utf8')).toBe('theirs')
  })

  test('write_file does not write through a link that was put in its place', async () => {
    await writeFile(inside('notes/a.md'), 'old')
    await meanwhile(async () => {
      await unlink(inside('notes/a.md'))
      await symlink(join(folder, 'outside', 'secret.txt'), inside('notes/a.md'))
    })

    await expect(write('notes/a.md', 'ours')).rejects.toMatchObject({ code: 'tool_failed' })

    expect((await beyond()).text).toBe('secret')
  })
})

test('data of the node are closed, whatever they are called and however they are reached, before they are there too', async () => {
  await mkdir(inside('data'))
  await writeFile(inside('data/token'), 'opens everything')
  await symlink(inside('data'), inside('notes/way'))
  const clock = virtualClock()
  const { tools } = benchTools({ files: 'rw' }, { workspace, clock, closed: [inside('data'), inside('keys.json'), inside('later')] })
  const known = createTools(tools, { clock })
  const at = (name: string, input: object) => known.run(plan(known, name, input), aContext({})).catch((error: unknown) => error)

  for (const path of ['data/token', 'notes/way/token', 'keys.json', 'later/token', 'data'])
    for (const [name, input] of [
      ['read_file', { path }],
      ['write_file', { path, content: 'mine' }],
      ['edit_file', { path, old: 'opens', new: 'shuts' }],
    ] as const)
      expect([path, name, await at(name, input)]).toEqual([path, name, expect.objectContaining({ code: 'tool_failed' })])
  expect(await at('list_files', { path: 'data' })).toMatchObject({ data: { code: 'forbidden' } })
  expect(JSON.stringify(await at('search_files', { pattern: 'opens' }))).not.toContain('everything')
  expect(await readFile(inside('data/token'), 'utf8')).toBe('opens everything')
  expect(await readdir(workspace)).toEqual(['data', 'notes'])
})

test.runIf(process.platform !== 'win32')('a name with a backslash leads to no hidden file', async () => {
  await writeFile(inside('.env'), 'KEY=secret')
  await writeFile(inside('\\.env'), 'harmless')
  await symlink('\\.env', inside('way'))

  for (const [name, input] of [
    ['read_file', { path: 'way' }],
    ['search_files', { pattern: 'KEY', path: 'way' }],
    ['read_file', { path: '\\.env' }],
  ] as const)
    await expect(call(name, input)).rejects.toMatchObject({ code: 'tool_failed' })
})

test('a second name of a file outside that is taken away as soon as it was opened does not make the first one ours', async () => {
  await link(join(folder, 'outside', 'secret.txt'), inside('plain.txt'))
  const handle = await open(inside('plain.txt'))
  const stating = vi.spyOn(Object.getPrototypeOf(handle) as { stat(): Promise<Stats> }, 'stat').mockImplementation(async function (
    this: typeof handle,
  ) {
    stating.mockRestore()
    await unlink(inside('plain.txt'))
    return this.stat()
  })
  await handle.close()

  await expect(call('read_file', { path: 'plain.txt' })).rejects.toMatchObject({ code: 'tool_failed', data: { code: 'not_found' } })
})

test('a folder that is swapped for a link while tools run leads them nowhere else', async () => {
  await writeFile(inside('notes/secret.txt'), 'harmless')
  await writeFile(inside('plain.txt'), 'harmless')
  let going = true
  // What a tool has put there meanwhile makes a step fail, and the next one does what it can.
  const quietly = (step: Promise<unknown>) => step.catch(() => undefined)
  const swapping = (async () => {
    for (let count = 0; going; count++) {
      await quietly(rename(inside('notes'), inside(`kept${count}`)))
      await quietly(symlink(join(folder, 'outside'), inside('notes')))
      await quietly(unlink(inside('notes')))
      await quietly(rename(inside(`kept${count}`), inside('notes')))
      await quietly(unlink(inside('plain.txt')))
      await quietly(symlink(join(folder, 'outside', 'secret.txt'), inside('plain.txt')))
      await quietly(unlink(inside('plain.txt')))
      await quietly(link(join(folder, 'outside', 'secret.txt'), inside('plain.txt')))
      await quietly(unlink(inside('plain.txt')))
      await quietly(writeFile(inside('plain.txt'), 'harmless', { flag: 'wx' }))
    }
  })()
  const results: unknown[] = []
  for (let round = 0; round < 80; round++)
    results.push(
      ...(await Promise.all(
        [
          call('read_file', { path: 'notes/secret.txt' }),
          call('read_file', { path: 'plain.txt' }),
          write('notes/secret.txt', `harmless ${round}`),
          write('plain.txt', `harmless ${round}`),
          write(`notes/made-${round}.txt`, 'harmless'),
          edit('notes/secret.txt', 'secret', 'taken'),
          call('list_files', { path: 'notes' }),
          call('search_files', { pattern: 'secret' }),
        ].map((each) => each.catch((error: unknown) => error)),
      )),
    )
  going = false
  await swapping

  const said = JSON.stringify(results)
  expect(said).not.toMatch(/"text":"secret/)
  expect(await beyond()).toEqual({ names: ['desk', 'outside'], inside: ['secret.txt'], text: 'secret' })
  expect(results.some((result) => !(result instanceof Error))).toBe(true)
})
