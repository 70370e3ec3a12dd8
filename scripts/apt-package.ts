/**
 * Gets one file's package from a newer suite of the Debian archive that this machine's apt already uses, without root and without
 * installing it. apt does the talking, over a state folder of its own: mirrors, proxies, logins, compression and the chain of signature,
 * Release and SHA256 are then as the machine's owner configured them, and nothing here has to be trusted in their stead.
 */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** One `deb` entry; of its options only those that say why to trust it. */
export type AptSource = { uris: string[]; suites: string[]; components: string[]; trust: Record<string, string> }

const trustOptions = new Set(['signed-by', 'trusted', 'allow-insecure', 'allow-weak', 'check-valid-until'])
const onlyTrust = (options: [string, string][]): Record<string, string> =>
  Object.fromEntries(options.map(([name, value]) => [name.toLowerCase(), value] as const).filter(([name]) => trustOptions.has(name)))
const wordsOf = (text = ''): string[] => text.split(/\s+/).filter(Boolean)

/** The classic form: `deb [signed-by=/k.gpg] http://mirror/debian bookworm main`. @see sources.list(5) */
export const parseSourcesList = (text: string): AptSource[] =>
  text.split('\n').flatMap((line) => {
    const entry = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(cdrom:\[[^\]]*\]\S*|\S+)\s+(\S+)([^#]*)/.exec(line)
    if (!entry) return []
    const [, options = '', uri = '', suite = '', components] = entry
    const pairs = [...options.matchAll(/([\w-]+)\s*\+?=\s*(\S+)/g)].map(([, name = '', value = '']): [string, string] => [name, value])
    return [{ uris: [uri], suites: [suite], components: wordsOf(components), trust: onlyTrust(pairs) }]
  })

/** Stanzas of `Field: value`, as in *.sources and Packages; a value keeps its further lines as they are. */
export const parseStanzas = (text: string): Record<string, string>[] =>
  text
    .replace(/^#.*\n?/gm, '')
    .split(/\n\s*\n/)
    .map((stanza) =>
      Object.fromEntries(
        [...stanza.matchAll(/^([^\s:]+):[ \t]*(.*(?:\n[ \t].*)*)/gm)].map(([, name = '', value = '']) => [name.toLowerCase(), value.trimEnd()]),
      ),
    )
    .filter((stanza) => Object.keys(stanza).length > 0)

/** The newer form, `Types: deb`. @see sources.list(5) */
export const parseDeb822 = (text: string): AptSource[] =>
  parseStanzas(text)
    .filter((stanza) => wordsOf(stanza.types).includes('deb') && !/^(no|false|0|off)$/i.test(stanza.enabled ?? ''))
    .map((stanza) => ({
      uris: wordsOf(stanza.uris),
      suites: wordsOf(stanza.suites),
      components: wordsOf(stanza.components),
      trust: onlyTrust(Object.entries(stanza)),
    }))

/**
 * A sources file (deb822) of other suites in the same archives. An archive of Debian's own is known by a suite called like the release itself:
 * those of security, backports and most third parties have a suffix. Of the third parties that have none, only the newer suites are missing,
 * and apt says so and goes on.
 */
export const otherSuites = (sources: readonly AptSource[], release: string, suites: readonly string[]): string => {
  const archives = (names: readonly string[]) =>
    sources
      .filter((source) => source.components.includes('main') && source.suites.some((suite) => names.includes(suite)))
      .map(({ uris, trust }) => ({ uris: uris.filter((uri) => !uri.startsWith('cdrom:')), trust }))
      .filter(({ uris }) => uris.length > 0)
  const own = archives([release])
  const found = own.length > 0 ? own : archives(['oldstable', 'stable', 'testing', 'unstable', 'sid'])
  const stanzas = found.map(({ uris, trust }) =>
    ['Types: deb', `URIs: ${uris.join(' ')}`, `Suites: ${suites.join(' ')}`, 'Components: main']
      .concat(Object.entries(trust).map(([name, value]) => `${name}: ${value}`))
      .join('\n'),
  )
  return [...new Set(stanzas)].map((stanza) => `${stanza}\n`).join('\n')
}

/** Versions that `apt-cache madison` lists, in its order, the newest first. */
export const parseMadison = (text: string, name: string): string[] => {
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  return [...new Set(rows.flatMap(([row, version, origin = '']) => (row === name && version && origin.endsWith(' Packages') ? [version] : [])))]
}

/** `1:2.15.1-1` is 2.15.1 to its makers. @see deb-version(7) */
export const upstreamVersion = (version: string): string => version.replace(/^\d+:/, '').replace(/-[^-]*$/, '')

/** What this machine's apt reads, or none. */
export const aptSources = async (): Promise<AptSource[]> => {
  const places = await run('apt-config', ['shell', 'list', 'Dir::Etc::sourcelist/f', 'parts', 'Dir::Etc::sourceparts/d'])
  const [list = '', parts = ''] = ['list', 'parts'].map((name) => new RegExp(`^${name}='(.*)'$`, 'm').exec(places)?.[1])
  const names = await readdir(parts).catch(() => [])
  // apt itself ignores every other ending.
  const files = [list, ...names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(parts, name))]
  const found = files.map(async (file) => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return file.endsWith('.sources') ? parseDeb822(text) : parseSourcesList(text)
  })
  return (await Promise.all(found)).flat()
}

/** An apt of our own in `folder`, which must be absolute. @throws Error when no such archive is configured or it cannot be read */
export const openApt = async (folder: string, suites: readonly string[]): Promise<Apt> => {
  const release = /^VERSION_CODENAME="?([^"\n]*)/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))?.[1] ?? ''
  const sources = otherSuites(await aptSources(), release, suites)
  if (sources === '') throw new Error("apt's sources name no archive of Debian")
  await Promise.all(['lists/partial', 'cache/archives/partial'].map((path) => mkdir(join(folder, path), { recursive: true })))
  await writeFile(join(folder, 'newer.sources'), sources)
  await writeFile(join(folder, 'apt.conf'), configOf(folder))
  const config = ['-c', join(folder, 'apt.conf')]
  // A third party's archive without these suites makes it fail although the others were read; what it said matters when nothing is found.
  const complaint = await run('apt-get', [...config, 'update']).then(
    () => '',
    (error: unknown) => String(error),
  )
  return {
    versions: async (name) => {
      const versions = parseMadison(await run('apt-cache', [...config, 'madison', name]), name)
      if (versions.length === 0) throw new Error(`${suites.join(' and ')} have no ${name}${complaint && `: ${complaint}`}`)
      return versions
    },
    unpack: async (name, version) => {
      const target = join(folder, `${name}-${version}`)
      await mkdir(target, { recursive: true })
      await run('apt-get', [...config, 'download', `${name}=${version}`], target)
      const [file] = (await readdir(target)).filter((entry) => entry.endsWith('.deb'))
      if (file === undefined) throw new Error(`apt-get download ${name}=${version} left no package`)
      await run('dpkg-deb', ['-x', file, 'files'], target)
      return join(target, 'files')
    },
  }
}

export type Apt = {
  /** The newest first. */
  versions(name: string): Promise<string[]>
  /** Downloads it; resolves to the folder that holds its files. */
  unpack(name: string, version: string): Promise<string>
}

// The hooks are the machine's and mean its own lists (they clear caches, wake desktop programs): ours are none of their business. As root apt
// would go on as a user that may not write here.
const configOf = (folder: string): string => `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::sourcelist "${join(folder, 'newer.sources')}";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "${join(folder, 'lists')}";
Dir::Cache "${join(folder, 'cache')}";
APT::Sandbox::User "root";
Acquire::Languages "none";
APT::Update::Error-Mode "any";
Acquire::Retries "2";
`

/** A silent mirror ends here, so that nobody waits for ever. */
const timeoutMs = 180_000

const run = async (command: string, args: string[], cwd?: string): Promise<string> => {
  try {
    const options = { timeout: timeoutMs, maxBuffer: 2 ** 24, env: { ...process.env, LC_ALL: 'C' }, ...(cwd !== undefined && { cwd }) }
    return (await promisify(execFile)(command, args, options)).stdout
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: unknown; stderr?: string }
    const why = code === 'ENOENT' ? `there is no ${command}` : `${command} failed: ${stderr.trim() || String(cause)}`
    throw new Error(why, { cause })
  }
}
