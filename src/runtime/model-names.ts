/** Which model somebody means, and whether it may be chosen. */
import { RuntimeError } from '../contracts/errors.ts'
import { modelNamed } from '../contracts/model-choice.rules.ts'
import { providerOf } from '../contracts/model-ref.ts'
import { nearest } from '../tools/index.ts'
import type { Receiver } from './receive.ts'

type By = Pick<Receiver, 'agent' | 'models' | 'config'>

/** Of the agent and of everybody; what nobody has to allow is not among them. */
export const allowedModels = ({ agent, models, config }: By): readonly string[] | undefined => {
  const { allowed } = config.value.models ?? {}
  const own = agent.choice?.allowed
  const both = allowed === undefined ? own : own === undefined ? allowed : own.filter((ref) => allowed.includes(ref))
  if (both === undefined) return undefined
  const { agents } = config.value
  const usual = [agents?.list?.find(({ id }) => id === agent.name)?.model ?? agent.model ?? agents?.defaults?.model ?? models.defaultRef]
  return [...new Set([...both, ...usual])]
}

export const aliasesOf = ({ agent, config }: Pick<By, 'agent' | 'config'>): Record<string, string> => ({
  ...config.value.models?.aliases,
  ...agent.choice?.aliases,
})

/** @returns its reference, with a warning where a provider had to be guessed */
const namedModel = (words: string, { agent, models, config }: By): { ref: string; warning?: string } =>
  modelNamed(words, {
    known: models.list().map(({ ref }) => ref),
    aliases: aliasesOf({ agent, config }),
    defaultProvider: config.value.models?.defaultProvider ?? providerOf(config.value.agents?.defaults?.model ?? models.defaultRef),
  })

/** Whether it may be chosen, and there is one. */
export const mayChoose = async (ref: string, by: By): Promise<boolean> => {
  if (allowedModels(by)?.includes(ref) === false) return false
  return by.models.get(ref).then(
    () => true,
    // A key that is missing today may be there tomorrow; a model that nobody knows will not.
    (error: { code?: string }) => error.code !== 'provider_unknown_model',
  )
}

/** The model that somebody chooses. @throws RuntimeError forbidden, provider_unknown_model … */
export const chosenModel = async (words: string, by: By): Promise<{ ref: string; warning?: string }> => {
  const named = namedModel(words, by)
  const allowed = allowedModels(by)
  if (allowed?.includes(named.ref) === false)
    throw new RuntimeError('forbidden', `the model '${named.ref.slice(0, 200)}' may not be chosen`, {
      field: 'model',
      hint: `there are: ${(nearest(named.ref, allowed).length > 0 ? nearest(named.ref, allowed) : allowed).slice(0, 10).join(', ')}`,
    })
  await by.models.get(named.ref)
  return named
}
