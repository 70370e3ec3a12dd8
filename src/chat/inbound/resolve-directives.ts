/** The directives in a message, with all that has to be known to apply them: which model is meant, what it can do, what a prompt is made of. */
import { definedOf } from '../../contracts/defined.ts'
import type { CredentialSource } from '../../contracts/model.ts'
import type { Origin } from '../../contracts/reply.ts'
import type { RunSkills, SkillCommand } from '../../contracts/skill.ts'
import type { Receiver } from '../../runtime/index.ts'
import { contextText } from '../directives/context-text.rules.ts'
import { abortWord, type Directive, parseDirectives } from '../directives/directives.rules.ts'
import { chooseModel, type ModelCatalogue, modelList, namedModel } from '../directives/model-choice.rules.ts'

type OrderIntake = Omit<Receiver, 'key' | 'now'> & { profile: RunSkills; origin?: Origin }

/** `ignored` where a stranger sends nothing but directives. */
export type Orders = { text: string; directives?: Directive[]; ignored?: true; skill?: SkillCommand }

/** Only people give directives, and people write on a channel: what a service sends is for the model, whatever it looks like. */
export const ordersIn = ({ text, origin }: { text: string; origin?: Origin | undefined }, intake: OrderIntake): Orders | Promise<Orders> => {
  if (origin === undefined) return { text }
  const authorised = origin.authorised !== false
  if (authorised && abortWord(text)) return { text: '', directives: [{ name: 'stop' }] }
  const parsed = parseDirectives(text, { isModel: (word) => namedModel(word, catalogueOf(intake)) !== undefined })
  const [first] = parsed.directives
  const skill = authorised ? intake.skills?.commandIn(parsed.text, intake.profile) : undefined
  if (first === undefined) return skill ? { text, skill } : { text }
  if (!authorised) return parsed.only && first.name !== 'reset' ? { text, ignored: true } : { text }
  const begun = first.name === 'reset' ? withModel(parsed.text, parsed.directives, intake) : parsed
  const directives = begun.directives.map((directive) => resolved(directive, { ...intake, origin }))
  const known = directives.filter((directive): directive is Directive => !(directive instanceof Promise))
  if (known.length === directives.length) return { text: begun.text, directives: known, ...definedOf({ skill }) }
  return Promise.all(directives.map((directive) => Promise.resolve(directive))).then((all) => ({
    text: begun.text,
    directives: all,
    ...definedOf({ skill }),
  }))
}

/** `/new opus hello` begins with another model. */
const withModel = (text: string, directives: Directive[], intake: OrderIntake): { text: string; directives: Directive[] } => {
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)/.exec(text) ?? []
  const choice = word === '' ? undefined : namedModel(word, catalogueOf(intake))
  return choice && 'ref' in choice ? { text: rest, directives: [...directives, { name: 'model', value: word }] } : { text, directives }
}

const catalogueOf = ({ agent, models }: OrderIntake): ModelCatalogue => {
  const usual = agent.model ?? models.defaultRef
  const refs = new Set([usual, ...(agent.profile.fallbacks ?? []), ...models.list().flatMap(({ ref, available }) => (available ? [ref] : []))])
  const aliases = Object.entries(agent.choice?.aliases ?? {}).map(([alias, ref]) => ({ alias, ref }))
  const rest = [...refs].filter((ref) => !aliases.some((one) => one.ref === ref)).map((ref) => ({ ref }))
  return { known: [...aliases, ...rest], default: usual, ...definedOf({ allowed: agent.choice?.allowed }) }
}

const resolved = (directive: Directive, intake: OrderIntake): Directive | Promise<Directive> => {
  switch (directive.name) {
    case 'model':
      return directive.value === undefined ? directive : modelOf(directive.value, intake)
    case 'think':
      return directive.value === 'xhigh'
        ? hasXhigh(intake).then((has): Directive => (has ? directive : { name: 'think', invalid: 'this model does not have xhigh' }))
        : directive
    case 'context':
      return 'value' in directive || directive.invalid === undefined
        ? intake.context().then((report): Directive => ({ ...directive, report: contextText(directive.value ?? 'list', report) }))
        : directive
    case 'help':
    case 'commands':
    case 'skills':
      return { ...directive, report: skillsText(directive.name, intake) }
    default:
      return directive
  }
}

/** What users may call, at most as many lines as anybody reads. */
const skillsText = (name: 'help' | 'commands' | 'skills', { skills, profile }: OrderIntake): string => {
  const all = skills?.commands(profile) ?? []
  if (all.length === 0) return name === 'skills' ? 'There are no skills to call.' : ''
  const lines = all.slice(0, 30).map(({ command, description }) => `/${command}: ${description.replace(/\s+/g, ' ').slice(0, 100)}`)
  return ['Skills:', ...lines, ...(all.length > 30 ? [`and ${all.length - 30} more.`] : [])].join('\n')
}

/** As many models as a message lists. */
const listedMax = 30

/** The models that may be chosen, by the numbers that `/model 2` takes. */
const listText = (catalogue: ModelCatalogue): string => {
  const refs = modelList(catalogue)
  const lines = refs.slice(0, listedMax).map((ref, index) => {
    const marks = [
      ...catalogue.known.flatMap((one) => (one.ref === ref && one.alias !== undefined ? [one.alias] : [])),
      ...(ref === catalogue.default ? ['default'] : []),
    ]
    return `${index + 1}. ${ref}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`
  })
  const more = refs.length > listedMax ? [`and ${refs.length - listedMax} more.`] : []
  return ['Choose with /model and a number or a name:', ...lines, ...more].join('\n')
}

/** Where each of them is called, and whose credential that takes; never the credential. */
const endpointsText = (catalogue: ModelCatalogue, { models }: OrderIntake): string => {
  const refs = modelList(catalogue)
  const lines = refs.slice(0, listedMax).map((ref) => {
    const endpoint = models.endpoint?.(ref)
    const profiles = models.profiles?.(ref) ?? []
    const from = profiles[0]?.source
    const auth = from === undefined ? 'no credential' : `${profiles.map(({ id, type }) => `${type} '${id}'`).join(', ')} from ${sources[from]}`
    return `${ref}: ${endpoint === undefined ? 'in this app' : `${endpoint}, ${auth}`}`
  })
  return [...lines, ...(refs.length > listedMax ? [`and ${refs.length - listedMax} more.`] : [])].join('\n')
}
const sources: Record<CredentialSource, string> = { config: 'the app', environment: 'the environment', store: 'the credential store' }

const modelReports: Readonly<Record<string, (catalogue: ModelCatalogue, intake: OrderIntake) => string>> = { list: listText, status: endpointsText }

const modelOf = (words: string, intake: OrderIntake): Directive => {
  const report = modelReports[words.toLowerCase()]
  // A model of that name is meant before the list.
  if (report !== undefined && namedModel(words, catalogueOf(intake)) === undefined)
    return { name: 'model', report: report(catalogueOf(intake), intake) }
  const choice = chooseModel(words, catalogueOf(intake))
  if ('ref' in choice) return withCredential(choice, intake)
  const near = choice.near.length === 0 ? '' : `; did you mean ${choice.near.join(', ')}?`
  const why = choice.refused === 'not_allowed' ? 'may not be chosen' : 'is not known'
  return { name: 'model', invalid: `'${words.slice(0, 80)}' ${why}${near}` }
}

/** A person who names a credential wants that one and no other. */
const withCredential = ({ ref, profile }: { ref: string; profile?: string }, { models }: OrderIntake): Directive => {
  if (profile === undefined) return { name: 'model', value: ref }
  const known = models.profiles?.(ref).map(({ id }) => id) ?? []
  if (known.includes(profile)) return { name: 'model', value: ref, credential: profile }
  const there = known.length === 0 ? 'it has none with a name' : `it has ${known.slice(0, 5).join(', ')}`
  return { name: 'model', invalid: `${ref} has no credential '${profile.slice(0, 80)}'; ${there}` }
}

const hasXhigh = async ({ agent, models, wantedModel }: OrderIntake): Promise<boolean> => {
  const model = await models.get((await wantedModel()) ?? agent.model ?? models.defaultRef).catch(() => undefined)
  return model?.info?.xhigh === true
}
