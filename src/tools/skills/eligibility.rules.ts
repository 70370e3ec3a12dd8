/** Whether a skill can be used here, and if not, why. */
import type { FoundSkill } from './skill.ts'

type Here = {
  platform: string
  hasBin(name: string): boolean
  /** Set for this process, or for the skill. */
  hasVariable(name: string): boolean
  config: Readonly<Record<string, unknown>>
  /** False where it is switched off. */
  enabled: boolean
  /** Of those that come with Statecast: which are allowed. */
  bundled: boolean | readonly string[]
}

/** @returns undefined where nothing is in its way */
export const whyNot = ({ name, kind, requires }: Pick<FoundSkill, 'name' | 'kind' | 'requires'>, here: Here): string | undefined => {
  if (!here.enabled) return `switched off: skills.entries.${name}.enabled is false`
  if (kind === 'bundled' && !(Array.isArray(here.bundled) ? here.bundled.includes(name) : here.bundled === true)) return notAllowed
  const { always, os, bins = [], anyBins = [], env = [], config = [] } = requires
  if (os && os.length > 0 && !os.includes(here.platform)) return `it is for ${os.join(', ')}, and this is ${here.platform}`
  if (always) return undefined
  const anyThere = anyBins.length === 0 || anyBins.some((bin) => here.hasBin(bin))
  const unmet = [
    lacks(
      'not on the PATH',
      bins.filter((bin) => !here.hasBin(bin)),
    ),
    lacks('none of these is on the PATH', anyThere ? [] : anyBins),
    lacks(
      'not set',
      env.filter((variable) => !here.hasVariable(variable)),
    ),
    lacks(
      'not on in skills.config',
      config.filter((path) => !isOn(here.config, path)),
    ),
  ].filter((one) => one !== undefined)
  return unmet.length > 0 ? unmet.join('; ') : undefined
}

const lacks = (what: string, names: readonly string[]): string | undefined => (names.length > 0 ? `${what}: ${names.join(', ')}` : undefined)

/** Nothing is wrong with it: nobody has asked for it. */
export const notAllowed = 'it comes with Statecast, and skills.bundled does not name it'

const isOn = (config: Readonly<Record<string, unknown>>, path: string): boolean => {
  let at: unknown = config
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false
    at = (at as Record<string, unknown>)[key]
  }
  return Boolean(at)
}
