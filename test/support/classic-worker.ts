/**
 * A tool served with the classic client, `nats` 2.29, in a process of its own, so that it can be killed:
 * `node classic-worker.ts <url> <service> <onCrash>`. What it does is what its input says.
 */
import { connect, headers, type ServiceMsg } from 'nats'

const [url = '', service = '', onCrash = 'once'] = process.argv.slice(2)
const nc = await connect({ servers: url, name: service })
const micro = await nc.services.add({ name: service, version: '1.0.0', description: 'for tests' })
const withHeaders = (record: Record<string, string>) => {
  const made = headers()
  for (const [name, value] of Object.entries(record)) made.set(name, value)
  return { headers: made }
}

type Input = { do: 'add'; a: number; b: number } | { do: 'progress' | 'hang' | 'refuse' | 'no-json' | 'giant' | 'twice' }

const work = (message: ServiceMsg): void => {
  const input = message.json<Input>()
  console.log(`asked to ${input.do} by ${message.headers?.get('Statecast-Call-Id')}, attempt ${message.headers?.get('Statecast-Attempt')}`)
  message.respond('', withHeaders({ 'Statecast-Worker': micro.info().id }))
  nc.subscribe(message.headers?.get('Statecast-Cancel') ?? '', { callback: (_, { data }) => console.log(`told to stop: ${String(data)}`), max: 1 })
  switch (input.do) {
    case 'add':
      return void message.respond(JSON.stringify(input.a + input.b))
    case 'progress':
      for (const step of [1, 2, 3]) message.respond('', withHeaders({ 'Statecast-Progress': `step ${step}` }))
      return void message.respond('"done"')
    case 'refuse':
      return void message.respondError(429, 'come back later')
    case 'no-json':
      return void message.respond('done')
    case 'giant':
      return void message.respond(JSON.stringify('x'.repeat(2 * 1024 * 1024)))
    case 'twice':
      message.respond('"first"')
      return void message.respond('"second"')
    case 'hang':
  }
}

micro.addEndpoint(service, {
  subject: `classic.${service}`,
  metadata: {
    description: 'does what its input says',
    schema: JSON.stringify({ type: 'object', properties: { do: { type: 'string' } }, required: ['do'] }),
    onCrash,
    timeoutMs: '120000',
  },
  handler: (error, message) => (error ? console.error(error) : work(message)),
})
await nc.flush()
console.log('serving')
