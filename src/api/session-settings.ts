/** Commands that choose a model for a session, and that say which key a session has. */
import type { CommandInput } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { agentInKey, keyForOrigin, keyForTab, keyForWork } from '../contracts/session-key.rules.ts'
import type { ToggleChanges } from '../contracts/settings.ts'
import type { RuntimeParts, Session } from '../runtime/index.ts'
import { aliasesOf, allowedModels, chosenModel } from '../runtime/index.ts'

/** @returns whose settings hold in a session @throws RuntimeError not_found */
const agentOf = ({ agents }: RuntimeParts, key: string, name?: string) => {
  const names = [...agents.keys()]
  const found = agents.get(name ?? agentInKey(key, { agents: names }) ?? (names[0] as string))
  return (found ?? agents.values().next().value)?.agent as NonNullable<typeof found>['agent']
}

/** The model that somebody chooses for a session or a message. @throws RuntimeError forbidden, provider_unknown_model … */
export const chooseModel = (parts: RuntimeParts, key: string, words: string, agent?: string): ReturnType<typeof chosenModel> => {
  const { models, config } = parts
  const by = { agent: agentOf(parts, key, agent), models, config: config.view }
  // In a journal it stands without the blanks around it.
  return chosenModel(words, by)
}

/** Sets what is given, clears what is null. */
export const patchSession = async (parts: RuntimeParts, session: Session, toggles: ToggleChanges) => {
  const named = toggles.model ? await chooseModel(parts, session.key, toggles.model) : undefined
  // A credential of another provider goes with the model that it was for.
  const credential = 'model' in toggles && !('credential' in toggles) ? { credential: null } : {}
  const { seq } = await session.configure({ ...toggles, ...credential, ...(named && { model: named.ref }) })
  return { seq, ...definedOf({ model: named?.ref, warnings: named?.warning === undefined ? undefined : [named.warning] }) }
}

export const listModels = ({ models, agents, config }: RuntimeParts) => {
  const { agent } = agents.values().next().value as { agent: Parameters<typeof aliasesOf>[0]['agent'] }
  const by = { agent, models, config: config.view }
  const allowed = allowedModels(by)
  const listed = models.list()
  const missing = (allowed ?? []).filter((ref) => !listed.some((one) => one.ref === ref)).map((ref) => ({ ref, available: true }))
  return {
    default: agent.model ?? config.view.value.agents?.defaults?.model ?? models.defaultRef,
    models: [...listed, ...missing].map((one) => ({ ...one, ...(allowed === undefined ? {} : { allowed: allowed.includes(one.ref) }) })),
    aliases: aliasesOf(by),
  }
}

/** The key of a session, whatever is known of it: a key, where a message came from, a job, or the tab of an agent. */
export const resolveSession = (parts: RuntimeParts, { sessionKey, origin, agent, tab, job, hook, topics }: CommandInput<'sessions.resolve'>) => {
  const names = [...parts.agents.keys()]
  const given = [sessionKey, origin, tab, job, hook].filter((one) => one !== undefined)
  if (given.length > 1)
    throw new RuntimeError('bad_request', 'these name several sessions', {
      field: 'sessionKey',
      hint: 'give one of sessionKey, origin, tab, job and hook',
    })
  const name = agent ?? (sessionKey === undefined ? undefined : agentInKey(sessionKey, { agents: names })) ?? names[0] ?? ''
  if (!parts.agents.has(name))
    throw new RuntimeError('not_found', `no agent is named '${name.slice(0, 80)}' on this node`, {
      field: 'agent',
      hint: `it has: ${names.join(', ')}`,
    })
  const { scope, identityLinks } = parts.config.view.value.session
  const key =
    sessionKey ??
    (origin
      ? keyForOrigin(origin, { agent: name, scope, ...definedOf({ identityLinks, topics }) })
      : job !== undefined
        ? keyForWork(name, 'job', job)
        : hook !== undefined
          ? keyForWork(name, 'hook', hook)
          : // The tab of the default agent is the main conversation, that of another one has its name.
            keyForTab(name, tab ?? (name === names[0] ? 'main' : name)))
  return { sessionKey: parts.runtime.keyOf(key), agent: name }
}
