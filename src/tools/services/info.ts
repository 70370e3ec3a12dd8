/** What a micro service says of itself (ADR-32 of NATS), as far as it is a tool: endpoints whose metadata have `schema` and `description`. */
import { z } from 'zod'
import { messageOf } from '../../contracts/errors.ts'
import { type CrashPolicy, instanceName } from '../../contracts/tool.ts'
import { hashOf } from '../canonical-json.ts'
import { toolDefaults } from '../tool.ts'

const Info = z.object({
  name: z.string().regex(instanceName),
  id: z.string().regex(instanceName),
  endpoints: z.array(z.unknown()).max(1000),
})
const Endpoint = z.object({ name: z.string(), subject: z.string(), metadata: z.record(z.string(), z.string()).nullish() })

const schemaCharsMax = 64 * 1024
const whole = (max: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/)
    .transform(Number)
    .refine((value) => value <= max)
const Metadata = z.object({
  schema: z.string().max(schemaCharsMax),
  description: z.string().trim().min(1).max(4096),
  name: z.string().optional(),
  onCrash: z.enum(['retry', 'idempotent', 'once']).default(toolDefaults.onCrash),
  timeoutMs: whole(2 ** 31 - 1).default(toolDefaults.timeoutMs),
  attemptMax: whole(100).default(toolDefaults.attemptMax),
  approval: z.enum(['always', 'never']).default('never'),
})

/** One endpoint that is a tool. */
export type Offer = {
  service: string
  subject: string
  /** Equal for all instances that offer the same. */
  fingerprint: string
  settings: {
    name: string
    description: string
    jsonSchema: Record<string, unknown>
    onCrash: CrashPolicy
    timeoutMs: number
    attemptMax: number
    approval: boolean
  }
}

export type Introduction = {
  service: string
  instance: string
  offers: Offer[]
  /** Endpoints that want to be tools and cannot. */
  refused: { endpoint: string; why: string }[]
}

/** @param prefix of our own subjects, which no tool may have @returns undefined for what is no introduction */
export const readIntroduction = (data: Uint8Array, prefix: string): Introduction | undefined => {
  const info = Info.safeParse(jsonIn(data))
  if (!info.success) return undefined
  const { name: service, id: instance, endpoints } = info.data
  const introduction: Introduction = { service, instance, offers: [], refused: [] }
  for (const one of endpoints) {
    const endpoint = Endpoint.safeParse(one)
    const metadata = endpoint.data?.metadata
    if (!endpoint.success || metadata?.schema === undefined || metadata.description === undefined) continue
    try {
      introduction.offers.push(offerOf(service, endpoint.data, prefix))
    } catch (error) {
      introduction.refused.push({ endpoint: endpoint.data.name.slice(0, 80), why: messageOf(error).slice(0, 500) })
    }
  }
  return introduction
}

/** @throws Error saying what is wrong with it */
const offerOf = (service: string, { name: endpoint, subject, metadata }: z.infer<typeof Endpoint>, prefix: string): Offer => {
  const parsed = Metadata.safeParse(metadata)
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  const { schema, name = endpoint, approval, ...rest } = parsed.data
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new Error(`'${name.slice(0, 80)}' is not a valid tool name: use 1 to 64 of A-Z a-z 0-9 _ -`)
  if (!isCallable(subject, prefix)) throw new Error(`'${subject.slice(0, 120)}' is not a tool subject`)
  const settings = { ...rest, name, approval: approval === 'always', jsonSchema: objectSchema(schema) }
  return { service, subject, settings, fingerprint: hashOf({ service, subject, settings }) }
}

/** A node may publish where a service may not: it must not be talked into asking JetStream or an actor of ours for something. */
const isCallable = (subject: string, prefix: string): boolean =>
  subject.length <= 1024 &&
  /^[^\s\p{C}.*>]+(?:\.[^\s\p{C}.*>]+)*$/u.test(subject) &&
  !/^[$_]/.test(subject) &&
  (!subject.startsWith(`${prefix}.`) || /^tools?\./.test(subject.slice(prefix.length + 1)))

const objectSchema = (text: string): Record<string, unknown> => {
  const schema: unknown = JSON.parse(text)
  if (typeof schema !== 'object' || schema === null || !('type' in schema) || schema.type !== 'object')
    throw new Error('schema: it is not the JSON Schema of an object ({"type":"object", …})')
  const { $schema: _, ...rest } = schema as Record<string, unknown>
  return { properties: {}, ...rest }
}

const jsonIn = (data: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(data))
  } catch {
    return undefined
  }
}
