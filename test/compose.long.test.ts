/**
 * docker-compose.yml against reality, as far as that goes without Docker: its files are there, its server configuration is one, and its commands,
 * run as processes on servers of that configuration, are a cluster that answers.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { natsServer } from '../scripts/nats-server.ts'
import { fromFiles } from '../src/runtime/variables.ts'
import { startProcess } from './cli/processes.ts'
import { aFolder, statecast } from './cli/run.ts'
import { natsFetchMs, startCluster } from './support/nats.ts'
import { runIn } from './support/package.ts'
import { startProgram } from './support/processes.ts'
import { filesUnder, repository, textOf } from './tidy/sources.ts'

type Service = {
  image: string
  build?: string
  command: string[]
  environment?: Record<string, string>
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  ports?: string[]
  secrets?: string[]
  hostname?: string
  mem_limit?: string
  logging?: { options: Record<string, string> }
}
type Compose = { services: Record<string, Service>; volumes: Record<string, null>; secrets: Record<string, { file: string }> }

const { services, volumes, secrets } = parse(textOf('docker-compose.yml'), { merge: true }) as Compose
const servicesLike = (name: string): [string, Service][] => Object.entries(services).filter(([one]) => one.startsWith(name))
const dockerfile = textOf('Dockerfile')

/** What a path inside of a container is here. */
const pathHere = (path: string, { volumes: mounts = [] }: Service): string => {
  for (const mount of mounts) {
    const [here = '', there = ''] = mount.split(':')
    if (here.startsWith('./') && path.startsWith(there)) return join(repository, here, path.slice(there.length))
  }
  return join(repository, path)
}

let store = ''
beforeAll(() => natsServer(), natsFetchMs)
beforeAll(() => void (store = mkdtempSync(join(tmpdir(), 'statecast-compose-'))))
afterAll(() => rmSync(store, { recursive: true, force: true }))

test('three servers, three nodes, and a tool, each of which waits for servers that are healthy', () => {
  expect(servicesLike('nats-')).toHaveLength(3)
  expect(servicesLike('node-')).toHaveLength(3)
  for (const [name, { depends_on: needed = {} }] of Object.entries(services))
    if (!name.startsWith('nats-')) {
      expect(Object.keys(needed)).toEqual(['nats-1', 'nats-2', 'nats-3'])
      for (const server of Object.keys(needed)) expect(services[server]?.healthcheck?.test.length).toBeGreaterThan(0)
    }
})

test('other containers may call a node by the name of its service: a name that is not its own is refused as a rebound one', () => {
  for (const [name, { hostname }] of servicesLike('node-')) expect(hostname).toBe(name)
})

test('every node is reached from this machine, and from this machine alone', () => {
  const published = Object.values(services).flatMap(({ ports = [] }) => ports)

  for (const [name, { command, ports }] of servicesLike('node-')) {
    expect(command.join(' '), name).toContain('--host 0.0.0.0')
    expect(ports, name).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:4111$/)])
  }
  expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  expect(new Set(published.map((port) => port.split(':')[1])).size).toBe(published.length)
})

test('no secret is in a command or a variable: each is a file that git and the image leave alone', () => {
  for (const [name, service] of Object.entries(services)) {
    const { command, environment = {}, secrets: given = [] } = service
    const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'))
    expect(
      Object.keys(environment).filter((variable) => /TOKEN|KEY|PASSWORD|SECRET/.test(variable) && !variable.endsWith('_FILE')),
      name,
    ).toEqual([])
    expect(command.join(' '), name).not.toMatch(/token|secret|\$\{|:\/\/[^/]*@/)
    expect(files.map(([, file]) => file).sort(), name).toEqual(given.map((secret) => `/run/secrets/${secret}`).sort())
    for (const [variable] of files) expect(fromFiles.map((known) => `${known}_FILE`)).toContain(variable)
    for (const secret of given) expect(secrets[secret]?.file).toMatch(/^\.\/docker\/secrets\//)
  }
  for (const ignored of ['.gitignore', '.dockerignore']) expect(textOf(ignored)).toMatch(/^docker\/secrets\/?$/m)
})

test('whatever runs has a bound on its memory and on its log', () => {
  for (const [name, { mem_limit, logging }] of Object.entries(services)) {
    expect(mem_limit, name).toMatch(/^\d+m$/)
    expect(logging?.options, name).toMatchObject({ 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.stringMatching(/^\d+$/) })
  }
})

test('every file and volume that it names is there, and reaches the image', () => {
  for (const service of Object.values(services))
    for (const mount of service.volumes ?? []) {
      const [source = ''] = mount.split(':')
      expect(source.startsWith('./') ? existsSync(join(repository, source)) : source in volumes, mount).toBe(true)
    }
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '))
  const context = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1))
  for (const path of copied) {
    expect(existsSync(join(repository, path)), path).toBe(true)
    expect(
      context.some((kept) => path === kept || path.startsWith(`${kept}/`)),
      `${path} is in .dockerignore`,
    ).toBe(true)
  }
  expect(filesUnder('src').length).toBeGreaterThan(0)
})

test('the image has a Node that runs us, and the package that it is built from', () => {
  const [, major = ''] = /^FROM node:(\d+)/m.exec(dockerfile) ?? []
  const { engines, bin } = JSON.parse(textOf('package.json'))

  expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]))
  expect(dockerfile).toContain(`ENTRYPOINT ["node", "${bin.statecast}"]`)
})

/** The steps of one stage of the Dockerfile, in a folder that is empty but for the installed packages. */
const buildStage = async (stage: string, from: Record<string, string> = {}): Promise<string> => {
  const folder = aFolder()
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  for (const [, step = '', rest = ''] of stage.matchAll(/^(COPY|RUN) (.+)$/gm)) {
    if (step === 'RUN') {
      // The packages are there, and there is no user `node`.
      if (!/npm (?:ci|install)|chown/.test(rest)) await runIn(folder, 'sh', ['-c', rest])
      continue
    }
    const [, source, paths = rest] = /^--from=(\S+) (.+)$/.exec(rest) ?? []
    const words = paths.split(' ')
    const target = join(folder, words.at(-1)!)
    const root = source === undefined ? repository : from[source]!
    const inFolder = words.at(-1)!.endsWith('/')
    for (const path of words.slice(0, -1))
      cpSync(join(root, path.replace(/^\/app\//, '')), inFolder ? join(target, path) : target, { recursive: true })
  }
  return folder
}

test('the image serves every page, and its health check knows a node that is ready', async () => {
  const [, first = '', second = ''] = dockerfile.split(/^FROM /m)
  const image = await buildStage(second, { page: await buildStage(first) })
  const app = startProcess(
    { folder: image, program: join(image, 'bin/statecast.js') },
    'up',
    '--app',
    'docker/statecast.config.json',
    '--port',
    '0',
    '--json',
  )
  const { url } = JSON.parse(await app.firstLine) as { url: string }

  for (const page of ['/', '/inspector']) expect((await fetch(`${url}${page}`)).status, page).toBe(200)
  const [, check = ''] = /^HEALTHCHECK [^[]+(\[.+\])$/m.exec(dockerfile) ?? []
  const [command = '', ...words] = JSON.parse(check) as string[]
  const health = (address: string) =>
    spawnSync(
      command,
      words.map((word) => word.replace('http://127.0.0.1:4111', address)),
    ).status
  expect(health(url)).toBe(0)
  expect(health('http://127.0.0.1:1')).toBe(1)
})

test.each(servicesLike('nats-'))('the configuration of %s is one for nats-server, and syncs every write', async (name, service) => {
  const config = pathHere(service.command[1]!, service)
  const checked = spawnSync(await natsServer(), ['-t', '-c', config], { env: { ...process.env, ...service.environment }, encoding: 'utf8' })

  expect(`${checked.stdout}${checked.stderr}`).toContain('is valid')
  expect(service.environment).toEqual({ SERVER_NAME: name })
  expect(readFileSync(config, 'utf8')).toMatch(/^\s*sync_interval: always$/m)
  for (const [server] of servicesLike('nats-')) expect(readFileSync(config, 'utf8')).toContain(`nats://${server}:6222`)
})

test('its nodes and its tool, run as it says on three servers, answer together, with three copies of everything, and do so when a server is gone', async () => {
  await using cluster = await startCluster(3)
  const inside = Object.fromEntries(servicesLike('nats-').map(([name], index) => [`nats://${name}:4222`, cluster.urls[index]!]))
  const outside = (text: string): string => text.replaceAll(/nats:\/\/nats-\d:4222/g, (url) => inside[url]!)
  const secretsHere = aFolder()
  const token = 'a-token-for-this-test-alone'
  for (const name of Object.keys(secrets)) writeFileSync(join(secretsHere, name), name === 'token' ? `${token}\n` : '')
  const nodes = servicesLike('node-').map(([, service]) => {
    // On the loopback of this machine instead of all of the container's.
    const args = service.command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word.includes('/') ? pathHere(word, service) : word))
    // What the environment of `docker compose` may say is empty where it says nothing.
    const asRun = (value: string) =>
      outside(value)
        .replace('/run/secrets', secretsHere)
        .replace(/^\$\{\w+:-\}$/, '')
    const env = Object.fromEntries(Object.entries(service.environment!).map(([name, value]) => [name, asRun(value)]))
    return { url: env.STATECAST_URL!, ...startProcess({ folder: aFolder(), env }, ...args, '--port', '0', '--json') }
  })
  const first = JSON.parse((await Promise.all(nodes.map(({ firstLine }) => firstLine)))[0]!) as { url: string; pid: number }
  const { url } = nodes[0]!
  const ready = await fetch(`${first.url}/readyz`)
  const listed = (env: Record<string, string>) => statecast({ folder: aFolder(), env }, 'sessions', '--url', first.url)
  expect(ready.status).toBe(200)
  expect(await listed({ STATECAST_TOKEN_FILE: join(secretsHere, 'token') })).toMatchObject({ code: 0 })
  expect(await listed({ STATECAST_TOKEN: 'another-token-than-that-one' })).toMatchObject({ code: 3, stderr: expect.stringContaining('token') })
  if (existsSync('/proc/self/cmdline')) expect(readFileSync(`/proc/${first.pid}/cmdline`, 'utf8')).not.toContain(token)
  const tool = services.weather!
  await using python = startProgram(
    tool.command[0]!,
    ...tool.command.slice(1).map((word) => (word.startsWith('/') ? pathHere(word, tool) : outside(word))),
  )
  await python.said('serves statecast.tools.weather.forecast')

  const rows = await vi.waitFor(
    async () => {
      const { lines } = await statecast({ folder: aFolder() }, 'nodes', '--url', url, '--json')
      const shares = lines.map((line) => JSON.parse(line).partitions as number)
      expect(shares).toHaveLength(3)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(64)
      return shares
    },
    { interval: 200 },
  )
  const forecast = (days: number): Promise<void> =>
    vi.waitFor(
      async () => {
        const sent = await statecast({ folder: aFolder() }, 'send', 'main', `weather_forecast {"city":"Bonn","days":${days}}`, '--url', url)
        expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining(`day ${days}: `) })
      },
      { interval: 500 },
    )
  await forecast(1)

  expect(Math.min(...rows)).toBeGreaterThan(0)
  const nc = await connect({ servers: [...cluster.urls] })
  const streams = await (await jetstreamManager(nc)).streams.list().next()
  await nc.close()
  expect(streams.length).toBeGreaterThan(0)
  expect(streams.filter(({ config }) => config.num_replicas !== 3).map(({ config }) => config.name)).toEqual([])

  // The tool is connected to this one, and a node or two.
  await cluster.servers[0]!.kill()
  await forecast(2)
})
