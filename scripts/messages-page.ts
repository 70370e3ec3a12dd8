/** `docs/reference/messages.md`: what a session takes and what every interface offers, from the zod schemas that check it. */
import { z } from 'zod'
import { commands } from '../src/contracts/commands.ts'
import { SessionCommand } from '../src/contracts/session.ts'

type Schema = {
  type?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

export const messagesPage = (note: string): string => `# Messages

${note}

Unknown fields are refused with the field named; so is whatever does not fit its type.

## What a session takes

As JSON on \`statecast.in.session.<key>\`, and behind every command below. A message may bring its own \`id\`; without one it gets one.

${SessionCommand.options.map(sessionCommand).join('\n')}
## Commands

One list, the same on every interface: \`POST /rpc/<command>\` and \`statecast.api.<command>\` take the fields as a JSON object. Send numbers of more than 15 digits as text: one that JavaScript
cannot keep is refused.

${Object.entries(commands)
  .map(([name, schema]) => section(`\`${name}\``, jsonSchema(schema)))
  .join('\n')}`

const jsonSchema = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema

const sessionCommand = (option: z.ZodType): string => {
  const schema = jsonSchema(option)
  const { type, ...properties } = schema.properties ?? {}
  return section(`\`${String(type?.const)}\``, { ...schema, ...(type?.description ? { description: type.description } : {}), properties })
}

const section = (title: string, { description, properties = {}, required = [] }: Schema): string => {
  const rows = Object.entries(properties)
  const table = rows.map(
    ([name, field]) => `| \`${name}\` | ${typeOf(field)} | ${required.includes(name) ? 'yes' : ''} | ${field.description ?? ''} |\n`,
  )
  return `### ${title}\n\n${description ? `${sentence(description)}\n` : ''}${rows.length === 0 ? '' : `\n| field | type | needed | means |\n| --- | --- | --- | --- |\n${table.join('')}`}`
}

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`

const typeOf = (field: Schema): string => {
  if (field.const !== undefined) return `\`${JSON.stringify(field.const)}\``
  if (field.enum) return field.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (field.type === 'string')
    return field.minLength !== undefined && field.minLength === field.maxLength
      ? `string, ${field.minLength} characters`
      : bounded('string', field.minLength, field.maxLength, ' characters')
  if (field.type === 'integer' || field.type === 'number')
    return bounded('whole number', field.minimum, field.maximum === Number.MAX_SAFE_INTEGER ? undefined : field.maximum, '')
  if (field.type === 'object')
    return `object${
      field.properties
        ? ` with ${Object.keys(field.properties)
            .map((name) => `\`${name}\``)
            .join(', ')}`
        : ''
    }`
  return field.type ?? 'any'
}

const bounded = (name: string, min: number | undefined, max: number | undefined, unit: string): string => {
  if (max === undefined) return min === undefined || min === 0 ? name : `${name}, from ${min}`
  return `${name}, ${min ?? 0}–${max.toLocaleString('en')}${unit}`
}
