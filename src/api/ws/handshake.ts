/** The first frame of a connection: what it asks for, and what it is granted. */
import { RuntimeError } from '../../contracts/errors.ts'
import {
  type GatewayCap,
  type GatewayScope,
  gatewayCaps,
  gatewayProtocol,
  gatewayScopes,
  socketMethods,
  type Welcome,
} from '../../contracts/gateway.ts'
import { parseInput } from '../../contracts/parse.ts'
import { type Runtime, version } from '../../runtime/index.ts'
import { withImplied } from '../scopes.ts'
import type { SocketCaller } from './connection-parts.ts'
import type { SocketLimits } from './limits.ts'

type Granted = {
  caller: SocketCaller
  scopes: readonly GatewayScope[]
  caps: readonly GatewayCap[]
}

type Authorise = (token: string) => SocketCaller

/** @throws RuntimeError bad_request, unauthorised, rate_limited, unsupported */
export const grant = (params: unknown, authorise: Authorise): Granted => {
  const { minProtocol, maxProtocol, scopes, caps, auth } = parseInput(socketMethods.connect, params)
  const caller = authorise(auth.token)
  const most = caller.access?.().scopes
  if (minProtocol > gatewayProtocol || maxProtocol < gatewayProtocol)
    throw new RuntimeError('unsupported', `this node speaks protocol ${gatewayProtocol}`, {
      field: 'maxProtocol',
      hint: 'update the older of the two',
    })
  return {
    caller,
    // Nobody gets more than the token has, whatever is asked for.
    scopes: withImplied(scopes ?? most ?? gatewayScopes).filter((scope) => most?.includes(scope) ?? true),
    caps: gatewayCaps.filter((cap) => caps.includes(cap)),
  }
}

export const welcomeTo = async ({ scopes, caps }: Granted, connection: string, runtime: Runtime, limits: SocketLimits): Promise<Welcome> => {
  const { node } = await runtime.health()
  return {
    protocol: gatewayProtocol,
    server: { name: 'statecast', version, connection, ...(node === undefined ? {} : { node }) },
    policy: {
      frameBytesMax: limits.frameBytesMax,
      bufferedBytesMax: limits.bufferedBytesMax ?? runtime.config.value.gateway.bufferedBytesMax,
      tickMs: limits.tickMs,
    },
    scopes: [...scopes],
    caps: [...caps],
  }
}
