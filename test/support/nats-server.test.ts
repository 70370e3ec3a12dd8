/** How a nats-server is found and fetched; no network. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { otherSuites, parseDeb822, parseMadison, parseSourcesList, parseStanzas, upstreamVersion } from '../../scripts/apt-package.ts'
import { isRecent, natsServer } from '../../scripts/nats-server.ts'

describe("apt's sources", () => {
  test('of the classic form are read with their options, without what is switched off', () => {
    const text = `# deb http://example.test/debian off main
deb http://example.test/debian bookworm main contrib # as installed
deb-src http://example.test/debian bookworm main
  deb [ arch=amd64,arm64 signed-by=/keys/a.gpg trusted=yes ] https://example.test/debian/ bookworm-updates main
deb cdrom:[Debian 12 - amd64]/ bookworm main
`
    expect(parseSourcesList(text)).toEqual([
      { uris: ['http://example.test/debian'], suites: ['bookworm'], components: ['main', 'contrib'], trust: {} },
      {
        uris: ['https://example.test/debian/'],
        suites: ['bookworm-updates'],
        components: ['main'],
        trust: { 'signed-by': '/keys/a.gpg', trusted: 'yes' },
      },
      { uris: ['cdrom:[Debian 12 - amd64]/'], suites: ['bookworm'], components: ['main'], trust: {} },
    ])
  })

  test('of the newer form are read, with a key written in place, without what is switched off', () => {
    const key =
      '-----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBGPL0BUBEADmW5NdOOHwPIJlgPu6JDcKw/NZJPR8lsD3K87ZM18gzyQZJD+w\n -----END PGP PUBLIC KEY BLOCK-----'
    const text = `Types: deb deb-src
# a comment in between
URIs: http://example.test/debian
 mirror+file:/mirrors.list
Suites: bookworm bookworm-updates
Components: main
Signed-By: ${key}

Enabled: no
Types: deb
URIs: http://example.test/off
Suites: bookworm
Components: main


Types: deb-src
URIs: http://example.test/debian
Suites: bookworm
Components: main
`
    expect(parseDeb822(text)).toEqual([
      {
        uris: ['http://example.test/debian', 'mirror+file:/mirrors.list'],
        suites: ['bookworm', 'bookworm-updates'],
        components: ['main'],
        trust: { 'signed-by': key },
      },
    ])
  })

  test('lead to newer suites of the archive of the release, trusted as it is, and of no other', () => {
    const sources = parseSourcesList(`deb [signed-by=/keys/debian.gpg] http://example.test/debian bookworm main
deb [signed-by=/keys/debian.gpg] http://example.test/debian bookworm main non-free
deb http://example.test/security bookworm-security main
deb http://database.example.test/apt bookworm-pgdg main
deb http://browser.example.test/linux stable main
deb http://containers.example.test/linux bookworm stable
deb cdrom:[Debian 12]/ bookworm main`)

    const newer = otherSuites(sources, 'bookworm', ['testing', 'unstable'])

    expect(newer).toBe(`Types: deb
URIs: http://example.test/debian
Suites: testing unstable
Components: main
signed-by: /keys/debian.gpg
`)
    expect(parseDeb822(newer)[0]?.trust).toEqual({ 'signed-by': '/keys/debian.gpg' })
  })

  test('that name the suite by its role are found too, and none leads to none', () => {
    expect(otherSuites(parseSourcesList('deb http://example.test/debian stable main'), 'trixie', ['unstable'])).toContain('example.test')
    expect(otherSuites(parseSourcesList('deb http://example.test/ubuntu noble universe'), 'noble', ['unstable'])).toBe('')
  })
})

describe("apt's lists of packages", () => {
  test('are stanzas whose values may go on over several lines', () => {
    const text = 'Package: nats-server\nVersion: 2.15.1-1\nDescription: messaging\n a server\n .\n for all\nSHA256: 00ff\n\nPackage: next\n'
    expect(parseStanzas(text)).toEqual([
      { package: 'nats-server', version: '2.15.1-1', description: 'messaging\n a server\n .\n for all', sha256: '00ff' },
      { package: 'next' },
    ])
  })

  test('say which versions there are, each once, sources not among them', () => {
    const text = `nats-server |   2.15.1-1 | http://example.test/debian unstable/main amd64 Packages
nats-server |   2.12.0-2 | http://example.test/debian testing/main amd64 Packages
nats-server |   2.12.0-2 | http://other.example.test/debian testing/main amd64 Packages
nats-server |   2.16.0-1 | http://example.test/debian unstable/main Sources
W: a warning
`
    expect(parseMadison(text, 'nats-server')).toEqual(['2.15.1-1', '2.12.0-2'])
    expect(parseMadison('', 'nats-server')).toEqual([])
  })

  test("hold versions with Debian's own parts before and after", () => {
    expect(['2.15.1-1', '1:2.9.10-1+b3', '2.11.0~rc1-1', '2.11.0'].map(upstreamVersion)).toEqual(['2.15.1', '2.9.10', '2.11.0~rc1', '2.11.0'])
    expect(['2.9.10', '2.10.27', '1.99.0'].map(isRecent)).toEqual([false, false, false])
    expect(['2.11.0', '2.15.1', '3.0.0', '10.0.0'].map(isRecent)).toEqual([true, true, true, true])
  })
})

describe('a nats-server', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'statecast-find-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const aServer = (place: string, version: string): string => {
    mkdirSync(join(folder, place), { recursive: true })
    const path = join(folder, place, 'nats-server')
    writeFileSync(path, `#!/bin/sh\necho "nats-server: v${version}"\n`)
    chmodSync(path, 0o755)
    return path
  }
  const unreachable = () => Promise.reject(new Error('the mirror does not answer'))
  const look = (searchPath: string[], fetch: (folder: string) => Promise<string> = unreachable) =>
    natsServer({
      searchPath: searchPath.map((place) => join(folder, place)).join(':'),
      cacheFolder: join(folder, 'cache'),
      fetch,
      report: () => undefined,
    })

  test('is the first recent one on PATH', async () => {
    aServer('old', '2.9.10')
    const recent = aServer('recent', '2.11.3')
    aServer('later', '2.99.0')
    aServer('cache/2.14.0', '2.14.0')

    expect(await look(['empty', 'old', 'recent', 'later'])).toBe(recent)
  })

  test('is the newest fetched earlier when PATH has none that is recent', async () => {
    aServer('old', '2.9.10')
    aServer('cache/2.9.10', '2.9.10')
    aServer('cache/2.12.4', '2.12.4')
    const newest = aServer('cache/2.14.0', '2.14.0')
    writeFileSync(join(folder, 'cache/2.14.0.note'), '')
    mkdirSync(join(folder, 'cache/2.15.0'))

    expect(await look(['old'])).toBe(newest)
  })

  test('is fetched once for all who ask, and nothing else stays', async () => {
    const fetch = vi.fn(async (target: string) => aServer(target.slice(folder.length), '2.15.1'))

    const paths = await Promise.all([look([], fetch), look([], fetch), look([], fetch), look([], fetch)])

    expect(new Set(paths)).toEqual(new Set([join(folder, 'cache/2.15.1/nats-server')]))
    expect(fetch).toHaveBeenCalledOnce()
    expect(readdirSync(join(folder, 'cache'))).toEqual(['2.15.1'])
  })

  test('is fetched although a process died while it did so', async () => {
    mkdirSync(join(folder, 'cache'))
    // Above the largest that Linux gives.
    writeFileSync(join(folder, 'cache/.lock'), '4194305')

    expect(await look([], async (target) => aServer(target.slice(folder.length), '2.15.1'))).toBe(join(folder, 'cache/2.15.1/nats-server'))
  })

  test('that cannot be had is an error that names the ways to get one and what was wrong', async () => {
    aServer('old', '2.9.10')

    const message = await look(['old']).catch((error: Error) => error.message)

    expect(message).toContain('on PATH')
    expect(message).toContain(join(folder, 'cache/<version>/nats-server'))
    expect(message).toContain('Debian')
    expect(message).toContain('is 2.9.10, too old')
    expect(message).toContain('the mirror does not answer')
    expect(readdirSync(join(folder, 'cache'))).toEqual([])
  })

  test('that is too old or does not run is not kept', async () => {
    await expect(look([], async (target) => aServer(target.slice(folder.length), '2.10.0'))).rejects.toThrow('is 2.10.0, too old')
    await expect(look([], async (target) => join(target, 'nothing'))).rejects.toThrow('does not run here')
    expect(existsSync(join(folder, 'cache/2.10.0'))).toBe(false)
  })
})
