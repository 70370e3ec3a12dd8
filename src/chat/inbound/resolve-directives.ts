/** The directives in a message, with all that has to be known to apply them: which model is meant, what it can do, what a prompt is made of. */
import { definedOf } from '../../contracts/defined.ts'
import type { Origin } from '../../contracts/reply.ts'
import { profileOf, type Receiver } from '../../runtime/index.ts'
import { abortWord, type Directive, parseDirectives } from '../directives/directives.rules.ts'
import { chooseModel, type ModelCatalogue, namedModel } from '../directives/model-choice.rules.ts'
import { tokensText } from '../directives/numbers.rules.ts'

type OrderIntake = Omit<Receiver, 'key' | 'now'> & { key?: string; origin?: Origin }

/** `ignored` where a stranger sends nothing but directives. */
export type Orders = { text: string; directives?: Directive[]; ignored?: true }

/** Only people give directives, and people write on a channel: what a service sends is for the model, whatever it looks like. */
export const ordersIn = ({ text, origin }: { text: string; origin?: Origin | undefined }, intake: OrderIntake): Orders | Promise<Orders> => {
  if (origin === undefined) return { text }
  const authorised = origin.authorised !== false
  if (authorised && abortWord(text)) return { text: '', directives: [{ name: 'stop' }] }
  const parsed = parseDirectives(text)
  const [first] = parsed.directives
  if (first === undefined) return { text }
  if (!authorised) return parsed.only && first.name !== 'reset' ? { text, ignored: true } : { text }
  const begun = first.name === 'reset' ? withModel(parsed.text, parsed.directives, intake) : parsed
  const directives = begun.directives.map((directive) => resolved(directive, { ...intake, origin }))
  const known = directives.filter((directive): directive is Directive => !(directive instanceof Promise))
  if (known.length === directives.length) return { text: begun.text, directives: known }
  return Promise.all(directives.map((directive) => Promise.resolve(directive))).then((all) => ({ text: begun.text, directives: all }))
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
        ? contextReport(directive.value ?? 'list', intake).then((report): Directive => ({ ...directive, report }))
        : directive
    default:
      return directive
  }
}

const modelOf = (words: string, intake: OrderIntake): Directive => {
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

/** What a prompt is made of, each part with its size; a token is about four characters. */
const contextReport = async (
  form: 'list' | 'detail' | 'json',
  { agent, tools, models, history, wantedModel, key = '', origin }: OrderIntake,
): Promise<string> => {
  const messages = await history()
  const chars = (value: unknown): number => (typeof value === 'string' ? value.length : JSON.stringify(value).length)
  const profile = profileOf({ agent, models, key }, origin)
  const described = tools.describe(tools.bench(profile.toolLayers, (await wantedModel()) ?? profile.model).names)
  const parts = [
    { part: 'instructions', count: 1, chars: agent.instructions.length },
    { part: 'tools', count: described.length, chars: chars(described) },
    ...(['summary', 'user', 'assistant', 'tool'] as const).map((role) => {
      const some = messages.filter((message) => message.role === role)
      return { part: `${role} messages`, count: some.length, chars: some.reduce((sum, message) => sum + chars(message), 0) }
    }),
  ].map((part) => ({ ...part, tokens: Math.ceil(part.chars / 4) }))
  if (form === 'json') return JSON.stringify({ parts, tools: described.map((one) => ({ name: one.name, chars: chars(one) })) })
  const lines = parts.map(({ part, count, chars: size, tokens }) => `${part}: ${count}, ${size} characters, about ${tokensText(tokens)} tokens`)
  const detail = form === 'detail' ? described.map((one) => `  tool ${one.name}: ${chars(one)} characters`) : []
  return [...lines, ...detail].join('\n')
}
