/** Named environments of packages, which extensions bring and agents name: activated when a run first needs one. */
import { delimiter, isAbsolute } from 'node:path'
import { z } from 'zod'
import { definedOf } from '../../contracts/defined.ts'
import { type Environment, type Instant, instantOf, isWithin } from '../../contracts/environment.ts'
import { errorBody, messageOf, RuntimeError } from '../../contracts/errors.ts'
import type { EnvironmentStatus, SkillSection } from '../../contracts/skill.ts'

/** Of processes in it. `path` are folders that their PATH begins with. */
type ActivatedEnvironment = { path?: readonly string[] | undefined; env?: Readonly<Record<string, string>> | undefined }

/** What an extension brings under the name of an environment. */
export type EnvironmentManager = {
  /** Makes it ready, within five minutes; asked once, and again a minute after it has failed. */
  activate(about: { name: string; agent: string; signal: AbortSignal }): ActivatedEnvironment | Promise<ActivatedEnvironment>
  /** How it is, as plain data: versions of packages, disk space. */
  status?(): unknown
  /** What the model is told of it: what is installed. The same text while nothing has changed. */
  describe?(): string | Promise<string>
}
type BroughtEnvironment = { extension: string; name: string; manager: EnvironmentManager }

const Activated = z.object({
  path: z.array(z.string().max(1000).refine(isAbsolute, 'must be absolute')).max(50).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/), z.string().max(32_000)).optional(),
})
const activateMs = 300_000
const retryMs = 60_000
const described = 4_000

type Active = { path: readonly string[]; env: Readonly<Record<string, string>>; text: string }
type Place = { state: EnvironmentStatus['state']; work?: Promise<Active | undefined>; active?: Active; error?: string; failedAt?: Instant }

/** @param wanted by agent, the name of its environment @throws RuntimeError bad_request for one that nobody brings, conflict for two of one name */
export const environmentTable = (
  brought: readonly BroughtEnvironment[],
  wanted: ReadonlyMap<string, string>,
  { clock, log }: Pick<Environment, 'clock' | 'log'>,
) => {
  const managers = new Map<string, BroughtEnvironment>()
  for (const one of brought) {
    if (managers.has(one.name))
      throw new RuntimeError('conflict', `two extensions bring an environment '${one.name}'`, { field: 'extensions', hint: 'rename one of them' })
    managers.set(one.name, one)
  }
  for (const [agent, name] of wanted)
    if (!managers.has(name))
      throw new RuntimeError('bad_request', `the agent '${agent}' wants the environment '${name.slice(0, 80)}', which no extension brings`, {
        field: 'environment',
        hint: managers.size === 0 ? 'bring one: extensions: [{ name, environments: { … } }]' : `there are: ${[...managers.keys()].join(', ')}`,
      })
  /** One for each agent: an environment may depend on who works in it. */
  const places = new Map<string, Place>()
  const stop = new AbortController()

  const begin = async (agent: string, { name, manager, extension }: BroughtEnvironment, place: Place): Promise<Active | undefined> => {
    const late = Promise.withResolvers<never>()
    const limit = new AbortController()
    const timer = clock.setTimeout(() => {
      limit.abort()
      late.reject(new Error(`it was not ready after ${activateMs} ms`))
    }, activateMs)
    try {
      const signal = AbortSignal.any([stop.signal, limit.signal])
      const { path = [], env = {} } = Activated.parse(await Promise.race([manager.activate({ name, agent, signal }), late.promise]))
      const text = String((await Promise.race([manager.describe?.(), late.promise])) ?? '')
        .slice(0, described)
        .toWellFormed()
      place.active = { path, env, text }
      place.state = 'active'
      delete place.error
      log.info({ environment: name, agent, extension }, 'an environment is active')
      return place.active
    } catch (error) {
      place.state = 'failed'
      place.error = messageOf(error).slice(0, 500)
      place.failedAt = instantOf(clock)
      log.warn({ environment: name, agent, extension, error: errorBody(error) }, 'an environment could not be activated; tools run without it')
      return undefined
    } finally {
      clock.clearTimeout(timer)
      delete place.work
    }
  }
  const activate = (agent: string): Promise<Active | undefined> | Active | undefined => {
    const brings = managers.get(wanted.get(agent) ?? '')
    if (brings === undefined) return undefined
    const place: Place = places.get(agent) ?? { state: 'inactive' }
    places.set(agent, place)
    if (place.active) return place.active
    if (place.failedAt && isWithin(clock, place.failedAt, retryMs)) return undefined
    if (place.work === undefined) {
      place.state = 'activating'
      place.work = begin(agent, brings, place)
    }
    return place.work
  }

  return {
    isWanted: (agent: string): boolean => wanted.has(agent),
    /** What the processes of an agent get; PATH with what it was before. */
    async variables(agent: string, before: string | undefined): Promise<Record<string, string>> {
      const active = await activate(agent)
      if (active === undefined) return {}
      return { ...active.env, ...(active.path.length > 0 && { PATH: [...active.path, ...(before ? [before] : [])].join(delimiter) }) }
    },
    async section(agent: string): Promise<SkillSection | undefined> {
      const name = wanted.get(agent)
      if (name === undefined) return undefined
      const active = await activate(agent)
      const text = active === undefined ? 'It is not available now: programs of it are missing.' : active.text.trim()
      return {
        name: 'environment',
        text: `# Environment\n\nPrograms that you start run in the environment '${name}'.${text === '' ? '' : `\n${text}`}`,
      }
    },
    async list(): Promise<EnvironmentStatus[]> {
      return Promise.all(
        [...managers.values()].map(async ({ name, extension, manager }): Promise<EnvironmentStatus> => {
          const agents = [...wanted].filter(([, one]) => one === name).map(([agent]) => agent)
          const states = agents.map((agent) => places.get(agent)).filter((place) => place !== undefined)
          const [place] = [...states].sort((a, b) => rank.indexOf(a.state) - rank.indexOf(b.state))
          const details = await (async () => manager.status?.())().catch((error: unknown) => ({ error: messageOf(error).slice(0, 200) }))
          const path = place?.active && [...place.active.path]
          return { name, extension, agents, state: place?.state ?? 'inactive', ...definedOf({ details, path, error: place?.error }) }
        }),
      )
    },
    stop: () => stop.abort(),
  }
}

/** What is worst is what is told. */
const rank: EnvironmentStatus['state'][] = ['failed', 'activating', 'active', 'inactive']
