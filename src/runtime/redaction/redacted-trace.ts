/** A trace for others to see and to test with: it holds nothing of what people said, and leads to the same states. */
import { type Registration, type Rewritten, rewrite } from '../../actors/index.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { type RedactionOptions, redactorOf } from './redactor.ts'

/** What an app says about its data, and names of its own, which say nothing about people. */
export type Redaction = { options: RedactionOptions | undefined; words: readonly string[] }

/** Characters that are left of a text; where that leads elsewhere, since something counts them, as many as there were. */
const textMaxima = [2000, Number.POSITIVE_INFINITY]

/** What keys of sessions are made of, beside names. */
const wordsOfKeys = ['agent', 'main', 'web', 'stdio', 'direct', 'group', 'channel', 'thread']

type App = {
  redaction?: RedactionOptions
  agents?: readonly { name: string; tools: readonly { name: string }[] }[]
  models?: Readonly<Record<string, unknown>>
  channels?: readonly { id: string }[]
}

export const redactionOf = ({ redaction, agents = [], models = {}, channels = [] }: App): Redaction => ({
  options: redaction,
  words: [
    ...wordsOfKeys,
    ...agents.flatMap(({ name, tools }) => [name, ...tools.map((tool) => tool.name)]),
    ...Object.keys(models),
    ...channels.map(({ id }) => id),
  ],
})

type Told = { address: Address; frames: readonly Frame[]; registration: Registration; redaction: Redaction }

/** @returns its frames under a name that says nothing @throws RuntimeError conflict where a guard reads what would be replaced, drift for other machines, corrupt_at */
export const redactedTrace = ({ address, frames, registration, redaction: { options, words } }: Told): { address: Address; frames: Frame[] } => {
  let last: Rewritten | undefined
  for (const textMax of textMaxima) {
    const rewriting = redactorOf({ address, registration, options, words, textMax })
    last = rewrite(address, frames, registration, rewriting)
    if (!last.difference) return { frames: last.frames, address: rewriting.address }
  }
  throw differs(address, last?.difference as NonNullable<Rewritten['difference']>)
}

const differs = (address: Address, { seq, path, recorded, now }: NonNullable<Rewritten['difference']>): RuntimeError =>
  new RuntimeError(
    'conflict',
    `${formatAddress(address)} cannot be redacted: from commit ${seq} on it would lead elsewhere (${path}: recorded ${shown(recorded)}, redacted ${shown(now)})`,
    {
      hint: `something decides by what stands in a text there; name the place under \`redaction: { keep: ['${address.kind}.<event>.<field>'] }\` of your app`,
      data: { seq },
    },
  )

const shown = (state: unknown): string => (typeof state === 'string' ? state : (JSON.stringify(state)?.slice(0, 200) ?? 'nothing'))
