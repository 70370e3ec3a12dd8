/** The skills of a node: one snapshot for all sessions, which is made anew when its folders have changed, and older ones for the runs that began with them. */
import { createHash } from 'node:crypto'
import { definedOf } from '../../contracts/defined.ts'
import type { Environment } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import {
  type ListedSkill,
  type RunEnvironment,
  type RunSkills,
  readSkillName,
  type SkillProblem,
  type Skills,
  type SkillsPrompt,
} from '../../contracts/skill.ts'
import type { ToolContext } from '../../contracts/tool.ts'
import { discoverSkills, type SkillFolder } from './discover.ts'
import { notAllowed, whyNot } from './eligibility.rules.ts'
import type { environmentTable } from './environments.ts'
import { isOnPath } from './on-path.ts'
import type { SkillOptions } from './options.ts'
import { readSkillTool } from './read-skill.ts'
import { skillSection } from './section.rules.ts'
import { commandIn, commandNames, nearestOf, usable } from './selection.rules.ts'
import type { FoundSkill, Skill } from './skill.ts'
import { watchFolders } from './watch.ts'

type Parts = {
  /** The nearest first. */
  folders: readonly SkillFolder[]
  options: SkillOptions
  environments: ReturnType<typeof environmentTable>
  environment: Pick<Environment, 'clock' | 'log'>
  /** Variables of this process. */
  env: Readonly<Record<string, string | undefined>>
  /** Words that a command of a user cannot have. */
  reserved: readonly string[]
}
type Snapshot = { version: string; skills: readonly Skill[]; problems: readonly SkillProblem[] }

/** Snapshots that runs may still want. */
const keptMax = 20
const namesMax = 100

export type SkillSystem = Skills & {
  /** Watches the folders from now on. */
  start(): void
  stop(): void
}

export const openSkills = ({ folders, options, environments, environment, env, reserved }: Parts): SkillSystem => {
  const { clock, log } = environment
  const { entries = {}, bundled = false, config = {} } = options
  const kept = new Map<string, Snapshot>()
  const told = new Set<string>()
  let builds = 0
  let builtAt = 0
  let current: Snapshot = { version: '', skills: [], problems: [] }
  let aloud = false
  let watcher: ReturnType<typeof watchFolders> | undefined

  const settingsOf = ({ name, primaryEnv }: Pick<FoundSkill, 'name' | 'primaryEnv'>): Record<string, string> => {
    const { env: own = {}, key } = Object.hasOwn(entries, name) ? (entries[name] ?? {}) : {}
    return { ...own, ...(key !== undefined && primaryEnv !== undefined && { [primaryEnv]: key }) }
  }
  const judged = (found: readonly FoundSkill[]): Skill[] => {
    const bins = new Map<string, boolean>()
    const hasBin = (name: string): boolean => {
      const known = bins.get(name) ?? isOnPath(name, env)
      bins.set(name, known)
      return known
    }
    const judgedOnes = nearestOf(found).map((skill): Skill => {
      const own = settingsOf(skill)
      const why = whyNot(skill, {
        platform: process.platform,
        hasBin,
        hasVariable: (name) => Boolean(env[name]) || Boolean(own[name]),
        config,
        enabled: !Object.hasOwn(entries, skill.name) || entries[skill.name]?.enabled !== false,
        bundled,
      })
      return { ...skill, eligible: why === undefined, ...definedOf({ why }) }
    })
    const callable = judgedOnes.filter(({ eligible, userInvocable }) => eligible && userInvocable)
    const commands = commandNames(
      callable.map(({ name }) => name),
      reserved,
    )
    return judgedOnes.map((skill) => {
      const place = callable.indexOf(skill)
      return place < 0 ? skill : { ...skill, command: commands[place] as string }
    })
  }
  /** Each is said once: of a folder that changes often nobody wants to read the same again. */
  const tell = ({ skills, problems }: Snapshot): void => {
    if (!aloud) return
    const say = (key: string, fields: object, message: string): void => {
      if (told.has(key) || told.size > 2000) return
      told.add(key)
      log.warn(fields, message)
    }
    for (const one of problems) say(JSON.stringify(one), one, 'a skill was skipped')
    for (const { name, kind, why } of skills)
      if (why !== undefined && why !== notAllowed) say(JSON.stringify([name, why]), { skill: name, kind, why }, 'a skill cannot be used here')
  }
  const build = (): void => {
    builds++
    const { found, problems } = discoverSkills(folders)
    const skills = judged(found)
    const about = skills.map(({ name, location, hash, eligible, command }) => [name, location, hash, eligible, command ?? null])
    const version = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 12)
    builtAt = clock.now()
    current = { version, skills, problems }
    kept.delete(version)
    kept.set(version, current)
    for (const old of kept.keys()) if (kept.size > keptMax) kept.delete(old)
    tell(current)
  }
  const rebuild = (): void => {
    try {
      build()
    } catch (error) {
      log.error({ error: errorBody(error) }, 'the folders of skills could not be read; those of before are used')
    }
  }

  const snapshotOf = ({ skillsVersion }: Pick<RunSkills, 'skillsVersion'>): Snapshot => kept.get(skillsVersion ?? '') ?? current
  const usableBy = (run: RunSkills): Skill[] => usable(snapshotOf(run).skills, run.skillFilter)
  const isThere = (): boolean => current.skills.some(({ why }) => why !== notAllowed)

  const tool = readSkillTool((run: ToolContext['skills']) => {
    const { skills } = run ? snapshotOf(run) : current
    return { usable: usable(skills, run?.skillFilter), all: skills }
  })
  const offered = new Map([[readSkillName, tool]])
  const none = new Map<string, never>()

  /** Nothing of it is told to the model, nor given to its tools. */
  const isPlain = ({ agent, skillsVersion }: RunSkills): boolean => skillsVersion === undefined && !isThere() && !environments.isWanted(agent)
  const promptFor = async (run: RunSkills): Promise<SkillsPrompt> => {
    const skills = usableBy(run)
    const { version, skills: all } = snapshotOf(run)
    const sections = [skillSection(skills), await environments.section(run.agent)].filter((section) => section !== undefined)
    const absent = all.flatMap(({ name, why }) => (why === undefined || why === notAllowed ? [] : [{ name, why: why.slice(0, 200) }]))
    const used: SkillsPrompt['used'] = {
      version,
      names: skills.map(({ name }) => name).slice(0, namesMax),
      ...(absent.length > 0 && { absent: absent.slice(0, namesMax) }),
    }
    return { sections, hasSkills: skills.length > 0, ...(isThere() && { used }) }
  }
  const environmentFor = async (run: RunSkills): Promise<RunEnvironment> => {
    const secrets: string[] = []
    const own: Record<string, string> = {}
    for (const skill of usableBy(run))
      for (const [name, value] of Object.entries(settingsOf(skill))) {
        secrets.push(value)
        // What is set for the process stays as it is, and what the first skill says stands.
        if (env[name] === undefined && own[name] === undefined) own[name] = value
      }
    const managed = await environments.variables(run.agent, env.PATH)
    return { env: { ...own, ...managed }, secrets }
  }

  rebuild()
  return {
    get version() {
      return isThere() ? current.version : undefined
    },
    promptFor: (run) => (isPlain(run) ? undefined : promptFor(run)),
    environmentFor: (run) => (isPlain(run) ? undefined : environmentFor(run)),
    commandIn: (text, run) => commandIn(text, usableBy(run)),
    commands: (run) => usableBy(run).flatMap(({ command, description }) => (command === undefined ? [] : [{ command, description }])),
    list: () => ({
      version: isThere() ? current.version : null,
      builtAt,
      builds,
      skills: current.skills.map(listed),
      problems: [...current.problems],
    }),
    environments: () => environments.list(),
    source: { offered: () => (current.skills.some(({ eligible }) => eligible) ? offered : none), allows: (name) => name === readSkillName, tool },
    start() {
      aloud = true
      tell(current)
      if (options.watch === false) return
      watcher = watchFolders(
        folders.filter(({ kind }) => kind !== 'bundled').map(({ path }) => path),
        rebuild,
        environment,
      )
      // What changed since it was read at first, nobody has heard of.
      rebuild()
    },
    stop() {
      watcher?.stop()
      environments.stop()
    },
  }
}

const listed = ({ name, description, kind, location, folder, eligible, why, command, modelInvocable }: Skill): ListedSkill => ({
  name,
  description,
  kind,
  source: location.slice(0, -`/${name}/SKILL.md`.length),
  path: folder,
  eligible,
  ...definedOf({ why, command, hidden: modelInvocable ? undefined : (true as const) }),
})
