/** `statecast tools`, and the tool in Python that the examples have, each as a user with no more rights than its role needs. */
import { fileURLToPath } from 'node:url'
import { connect } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { inboxPrefixOf, nameOf, passwordOf, serverConfig, type User } from '../../src/transport/nats/permissions.ts'
import { type Nats, natsFetchMs, startNats } from '../support/nats.ts'
import { type Program, startProgram } from '../support/processes.ts'
import { aFolder, aNode, statecast, stopNode, testApp } from './run.ts'

const weather = fileURLToPath(new URL('../../examples/services/weather.py', import.meta.url))
const tool = { service: 'weather' }
const users: readonly User[] = ['node', 'gateway', 'viewer', tool, { service: 'odd' }]
const passwords = users.map(passwordOf)

let server: Nats
const programs: Program[] = []
beforeAll(async () => {
  await natsServer()
  for (const name of passwords) process.env[name] = 'pw'
  server = await startNats({ config: serverConfig(users) })
}, natsFetchMs)
afterEach(async () => void (await Promise.all(programs.splice(0).map((program) => program.kill()))))
afterAll(async () => {
  for (const name of passwords) delete process.env[name]
  await server?.stop()
})

const urlOf = (user: User): string => server.url.replace('//', `//${nameOf(user)}:pw@`).concat(`?inbox_prefix=${inboxPrefixOf(user)}`)
const python = (role: User): Program => {
  const program = startProgram('python3', weather, urlOf(role))
  programs.push(program)
  return program
}
const serving = async (): Promise<void> => python(tool).said('serves statecast.tools.weather.forecast')

type Row = { name: string; agents: string[]; onCrash: string; servers: number | null }
const toolsAs = async (role: User, ...args: string[]): Promise<Row[]> => {
  const { lines } = await statecast({ folder: aFolder() }, 'tools', '--json', '--url', urlOf(role), ...args)
  return lines.map((line) => JSON.parse(line) as Row)
}

test('the tool in Python has what it needs as a tool, and is listed with how many serve it', async () => {
  const node = await aNode({ folder: aFolder() }, '--url', urlOf('node'))
  await Promise.all([serving(), serving()])
  const row = { name: 'weather_forecast', agents: ['main'], onCrash: 'retry', servers: 2 }
  await expect.poll(() => toolsAs('gateway')).toContainEqual(expect.objectContaining(row))

  const sent = await statecast({ folder: aFolder() }, 'send', 'w', 'weather_forecast {"city":"Bonn","days":1}', '--url', urlOf('gateway'))
  const { stdout } = await statecast({ folder: aFolder() }, 'tools', '--url', urlOf('gateway'))
  await stopNode(node)

  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('day 1: ') })
  expect(stdout).toMatch(/^TOOL +CATEGORY +SOURCE +AGENTS +CRASH +APPROVAL +SERVERS +DESCRIPTION\n/)
  expect(stdout).toMatch(/^calculate +basic +\S+ +main +retry +never +- +Evaluates/m)
  expect(stdout).toMatch(/^weather_forecast +plugin +service:weather +main +retry +never +2 +Weather of a city/m)
})

test('without a node it lists what one would have; who may use no service is not named', async () => {
  await serving()

  const own = await toolsAs('gateway')
  const other = await toolsAs('gateway', '--app', testApp)

  expect(own).toContainEqual(expect.objectContaining({ name: 'weather_forecast', agents: ['main'], servers: 1 }))
  expect(other).toContainEqual(expect.objectContaining({ name: 'weather_forecast', agents: [], servers: 1 }))
  expect(other).toContainEqual(expect.objectContaining({ name: 'danger', agents: ['main'], servers: null }))
})

test('what wants to be a tool and cannot is named with the reason', async () => {
  const nc = await connect({ servers: server.url, user: 'tool_odd', pass: 'pw', inboxPrefix: '_INBOX_tool_odd' })
  onTestFinished(() => nc.close())
  const endpoints = [{ name: 'bad', subject: 'statecast.tools.odd.bad', metadata: { schema: '{"type":"string"}', description: 'none' } }]
  nc.subscribe('$SRV.INFO', { callback: (_, message) => void message.respond(JSON.stringify({ name: 'odd', id: 'i1', endpoints })) })
  await nc.flush()

  const { stderr } = await statecast({ folder: aFolder() }, 'tools', '--url', urlOf('gateway'))

  expect(stderr).toMatch(/^the endpoint bad of the service odd cannot be a tool: schema: /m)
})

test.each(['viewer', 'gateway'] as const)('as a %s the tool in Python ends, and says what it may not', async (role) => {
  const program = python(role)

  await program.said('statecast permissions --role tool --service weather')

  expect(program.output()).toMatch(/refuses this user: Permissions Violation for Subscription to "\$SRV\.PING"/)
  expect(program.output()).not.toMatch(/serves|pw@/)
})

test('with a wrong password it ends too', async () => {
  const program = startProgram('python3', weather, server.url.replace('//', '//tool_weather:wrong@'))
  programs.push(program)

  await program.said('refuses this user: Authorization Violation')

  expect(program.output()).not.toContain('wrong')
})
