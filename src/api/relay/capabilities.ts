/** Addresses that show one tree of actors to whoever has them, for some time: for visualisers that can carry no token. They are known to this process only. */
import { createHash, randomBytes } from 'node:crypto'
import type { Access } from '../../contracts/access.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { InspectionMessage } from '../../contracts/inspection-protocol.ts'
import type { Address } from '../../contracts/subjects.ts'
import { type Runtime, type RuntimeParts, TreeFollower } from '../../runtime/index.ts'

/** Below it stands what nobody can guess. */
export const relayPath = '/inspect/'
const defaultMs = 3_600_000
/** That hold at the same time. */
const capabilitiesMax = 1000

type FollowOptions = { tell: (messages: InspectionMessage[]) => void | Promise<void>; failed: (error: unknown) => void }

export type Capability = {
  /** ms since the epoch. */
  expiresAt: number
  /** Its time has come, or the token that it was made with opens nothing any more. */
  isOver(): boolean
  /** Tells the tree as it is now, and what comes after it. @returns the stopper */
  follow(options: FollowOptions): () => void
}

const known = new WeakMap<Runtime, Map<string, Capability>>()
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/** @throws RuntimeError overloaded */
export const createCapability = (
  parts: RuntimeParts,
  address: Address,
  { expiresInMs = defaultMs, access }: { expiresInMs?: number | undefined; access: Access | undefined },
) => {
  const { runtime, environment, tokens } = parts
  const all = known.get(runtime) ?? new Map<string, Capability>()
  known.set(runtime, all)
  for (const [hash, capability] of all) if (capability.isOver()) all.delete(hash)
  if (all.size >= capabilitiesMax)
    throw new RuntimeError('overloaded', `${capabilitiesMax} addresses for visualisers hold at the same time`, {
      retryable: true,
      hint: 'ask for shorter ones, with expiresInMs',
    })
  const expiresAt = environment.clock.now() + expiresInMs
  const isOver = (): boolean => {
    const now = environment.clock.now()
    if (now >= expiresAt) return true
    if (access === undefined) return false
    const token = tokens.current.value.tokens?.find(({ id }) => id === access.id)
    return token === undefined || (token.expiresAt ?? now + 1) <= now
  }
  const secret = randomBytes(32).toString('base64url')
  all.set(hashOf(secret), { expiresAt, isOver, follow: (options) => followTree(parts, address, options) })
  return { ...address, path: `${relayPath}${secret}`, expiresAt }
}

/** @returns undefined where there is none, or none any more */
export const capabilityAt = (runtime: Runtime, path: string): Capability | undefined => {
  const found = known.get(runtime)?.get(hashOf(path.slice(relayPath.length)))
  return found?.isOver() === false ? found : undefined
}

const followTree = ({ transport: { journal }, host, outputs: { growth } }: RuntimeParts, address: Address, options: FollowOptions): (() => void) => {
  // Receivers know no decisions.
  const follower = new TreeFollower({ journal, growth, registration: (kind) => host.registration(kind) }, address, { ...options, decisions: false })
  // Heard first, so that nothing falls in between.
  let newest = 0
  const leave = growth.watch(address, (seq) => {
    newest = seq
    follower.grew(seq)
  })
  journal.head(address).then((head) => {
    follower.start(head?.seq ?? 0)
    follower.grew(Math.max(newest, head?.seq ?? 0))
  }, options.failed)
  return () => {
    leave()
    follower.stop()
  }
}
