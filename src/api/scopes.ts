/** What a caller must be allowed to do for each command. */
import type { CommandName } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type GatewayScope, gatewayScopes } from '../contracts/gateway.ts'

const needed: Record<CommandName, GatewayScope> = {
  'chat.send': 'write',
  'tools.result': 'write',
  'chat.abort': 'write',
  'chat.inject': 'write',
  'chat.history': 'read',
  'chat.output': 'read',
  'files.put': 'write',
  'files.get': 'read',
  'files.list': 'read',
  'chat.message': 'read',
  'sessions.list': 'read',
  'sessions.get': 'read',
  'sessions.context': 'read',
  'sessions.reset': 'write',
  'sessions.compact': 'write',
  'sessions.configure': 'write',
  'sessions.patch': 'write',
  'sessions.resolve': 'read',
  'sessions.clear': 'write',
  'sessions.delete': 'write',
  'agent.wait': 'read',
  'approvals.list': 'approve',
  'approvals.resolve': 'approve',
  'events.read': 'read',
  'trace.read': 'read',
  'trace.spans': 'read',
  'trace.frames': 'read',
  'trace.export': 'read',
  'trace.import': 'admin',
  'trace.fork': 'write',
  'machines.get': 'read',
  'trace.replay': 'read',
  'trace.moment': 'read',
  'trace.steps': 'read',
  'trace.relay': 'read',
  'trace.coverage': 'read',
  'actors.send': 'admin',
  'actors.get': 'read',
  'actors.revive': 'admin',
  'actors.delete': 'admin',
  'actors.list': 'read',
  'models.list': 'read',
  'config.get': 'read',
  'config.set': 'admin',
  'tokens.create': 'admin',
  'tokens.list': 'admin',
  'tokens.revoke': 'admin',
  'tools.list': 'read',
  'skills.list': 'read',
  'environments.list': 'read',
  'agents.list': 'read',
  'extensions.list': 'read',
  'extensions.reload': 'admin',
  'nodes.list': 'read',
  'nodes.drain': 'admin',
  health: 'read',
}

const implied: Record<GatewayScope, readonly GatewayScope[]> = {
  read: ['read'],
  write: ['write', 'read'],
  approve: ['approve', 'read'],
  admin: gatewayScopes,
}

/** With what each of them implies, in a fixed order. */
export const withImplied = (scopes: readonly GatewayScope[]): GatewayScope[] =>
  gatewayScopes.filter((scope) => scopes.some((given) => implied[given].includes(scope)))

export const scopeOf = (command: CommandName): GatewayScope => needed[command]

/** @param scopes with those that they imply @throws RuntimeError forbidden */
export const requireScope = (scopes: readonly GatewayScope[], scope: GatewayScope, what: string): void => {
  if (!scopes.includes(scope))
    throw new RuntimeError('forbidden', `${what} needs the scope '${scope}'; this connection has ${scopes.join(', ') || 'none'}`, {
      hint: `take a token that has it (statecast token create --name NAME --scopes ${scope}), and ask for no less when you connect: docs/guides/tokens.md`,
    })
}

/** Who may not approve tool calls does not do so by `/approve` either, wherever the message is said to come from. */
export const withinScopes = <Said>(origin: Said, scopes: readonly GatewayScope[] | undefined): Said =>
  scopes === undefined || scopes.includes('approve') || typeof origin !== 'object' || origin === null ? origin : { ...origin, approves: false }
