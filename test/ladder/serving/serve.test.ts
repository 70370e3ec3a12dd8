/** Executables over HTTP, with a real server and real requests. */
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, batch, serve, supervisor, workflow } from '../../../src/ladder/index.ts'
import { allFramesIn as all, type Frame, framesIn } from '../../support/event-stream.ts'
import { aServer, listening, token } from './a-server.ts'

const sum = workflow({
  name: 'sum',
  input: z.object({ a: z.number(), b: z.number() }),
  steps: [
    { name: 'first', run: () => 'begun' },
    { name: 'add', run: ({ input }) => (input as { a: number; b: number }).a + (input as { a: number; b: number }).b },
  ],
})

/** Waits until it is let go. */
const gated = (ran: string[] = []) => {
  const gate = Promise.withResolvers<void>()
  const aborted: string[] = []
  const flow = workflow({
    name: 'gated',
    steps: [
      { name: 'before', run: ({ runId }) => void ran.push(runId) },
      {
        name: 'wait',
        run: ({ signal }) => {
          signal.addEventListener('abort', () => aborted.push('aborted'))
          return gate.promise.then(() => 'let go')
        },
      },
      { name: 'after', run: () => 'done' },
    ],
  })
  return { flow, open: gate.resolve, aborted }
}

test('[WL-136] a run is a stream: what it is called, a frame for each event, its result, and the mark of the end', async () => {
  const { post } = await aServer([sum])

  const response = await post('/sum', { input: { a: 2, b: 3 }, runId: 'r' })
  const frames = await all(response)

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(response.headers.get('x-run-id')).toBe('r')
  expect(frames.map(({ event }) => event)).toEqual([
    'run',
    'workflow.starting',
    'workflow.step.starting',
    'workflow.step.completed',
    'workflow.step.starting',
    'workflow.step.completed',
    'workflow.completed',
    'result',
    'done',
  ])
  expect(frames[0]?.data).toEqual({ runId: 'r', name: 'sum' })
  expect(frames[2]).toMatchObject({ id: expect.stringMatching(/^\d+\.\d+/), data: { type: 'workflow.step.starting', runId: 'r', step: 'first' } })
  expect(frames.at(-2)?.data).toMatchObject({ runId: 'r', status: 'completed', data: 5, usage: { total: 0 }, report: { type: 'workflow' } })
  expect(frames.at(-1)?.data).toBe('[DONE]')
})

test('[WL-136] every rung is served alike; a run that fails has its error in the result', async () => {
  const writer = agent({ name: 'writer', model: 'test/a' })
  const desk = supervisor({ name: 'desk', intents: { write: writer }, route: ({ iteration }) => (iteration === 0 ? 'write' : '__end__') })
  const many = batch(writer)
  const broken = workflow({ name: 'broken', steps: [{ name: 'x', run: () => Promise.reject(new Error('no ink')) }] })
  const { post } = await aServer([writer, desk, many, broken], {}, { models: { 'test/a': () => ({ text: 'hello' }) } })

  const result = async (name: string, input: unknown) => (await all(await post(`/${name}`, { input }))).find(({ event }) => event === 'result')?.data
  expect(await result('writer', 'hi')).toMatchObject({ status: 'completed', data: 'hello', report: { type: 'agent' } })
  expect(await result('desk', 'hi')).toMatchObject({ status: 'completed', report: { type: 'supervisor' } })
  expect(await result('writer-batch', ['a', 'b'])).toMatchObject({ data: ['hello', 'hello'], report: { type: 'batch' } })
  expect(await result('broken', null)).toMatchObject({
    status: 'failed',
    error: { code: 'STEP_FAILED', category: 'execution', message: expect.stringContaining('no ink') },
  })
  const deltas = (await all(await post('/writer', { input: 'hi' }))).filter(({ event }) => event === 'agent.trip.streaming')
  expect(deltas.map(({ data }) => data.delta).join('')).toBe('hello')
})

test('[WL-136, WL-098, WL-115] what an event means besides has a frame too: pieces of an intent that streams, and of a step', async () => {
  const writer = agent({ name: 'writer', model: 'test/a' })
  const desk = supervisor({
    name: 'desk',
    state: { text: '' },
    intents: { write: { agent: writer, mode: 'stream', streamTo: 'text' } },
    route: ({ iteration }) => (iteration === 0 ? 'write' : '__end__'),
  })
  const tale = workflow({ name: 'tale', steps: [{ name: 'tell', agent: writer }] })
  const { post } = await aServer([desk, tale], {}, { models: { 'test/a': () => ({ text: 'hello' }) } })
  const framed = async (name: string, type: string) =>
    (await all(await post(`/${name}`, { input: 'hi', runId: 'r' }))).flatMap(({ event, data }) => (event === type ? [data] : []))

  expect(await framed('desk', 'supervisor.agent.streaming')).toMatchObject([{ agent: 'write', delta: 'hello', runId: 'r' }])
  expect(await framed('tale', 'workflow.step.streaming')).toMatchObject([{ step: 'tell', delta: 'hello', runId: 'r' }])
})

test('[WL-136] each bad request gets its status and says what to do, and nothing runs', async () => {
  const ran = vi.fn()
  const flow = workflow({ name: 'flow', input: z.object({ n: z.number() }), steps: [{ name: 'x', run: ran }] })
  const { post, url } = await aServer([flow], { bodyBytesMax: 1_000 })
  const bad = async (made: Promise<Response>) => {
    const response = await made
    return { status: response.status, headers: Object.fromEntries(response.headers), ...((await response.json()) as { error: object }) }
  }
  const bearer = { authorization: `Bearer ${token}` }

  expect(await bad(fetch(`${url}/flow`, { headers: bearer }))).toMatchObject({
    status: 405,
    headers: { allow: 'POST' },
    error: { code: 'method_not_allowed' },
  })
  expect(await bad(fetch(`${url}/flow`, { method: 'OPTIONS' }))).toMatchObject({ status: 405 })
  expect(await bad(post('/flow', {}, { headers: { authorization: '' } }))).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    error: { code: 'unauthorised' },
  })
  for (const authorization of [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token])
    expect(await bad(post('/flow', {}, { headers: { authorization } }))).toMatchObject({ status: 401 })
  // Whoever is not let in learns of no name whether it is there.
  expect(await bad(post('/other', {}, { headers: { authorization: '' } }))).toMatchObject({ status: 401 })
  expect(await bad(post('/other', { input: { n: 1 } }))).toMatchObject({ status: 404 })
  expect(await bad(post('/flow/more', { input: { n: 1 } }))).toMatchObject({ status: 404 })
  expect(await bad(post('/__proto__', { input: { n: 1 } }))).toMatchObject({ status: 404 })
  expect(await bad(post('/flow', '{"input":'))).toMatchObject({
    status: 400,
    error: { code: 'bad_request', message: expect.stringContaining('no JSON') },
  })
  expect(await bad(post('/flow', '[1]'))).toMatchObject({ status: 400 })
  expect(await bad(post('/flow', { input: { n: 1 }, more: true }))).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('more') },
  })
  expect(await bad(post('/flow', { input: { n: 1 }, runId: '' }))).toMatchObject({ status: 400 })
  expect(await bad(post('/flow', undefined, { body: new Uint8Array([0x22, 0xff, 0x22]) }))).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('UTF-8') },
  })
  expect(await bad(post('/flow', { input: { n: 1 } }, { headers: { 'content-type': 'text/plain' } }))).toMatchObject({ status: 415 })
  expect(await bad(post('/flow', { input: 'x'.repeat(2_000) }))).toMatchObject({ status: 413, error: { code: 'too_large' } })
  expect(await bad(post('/flow', { input: { n: 'one' } }))).toMatchObject({ status: 400, error: { context: { code: 'SCHEMA_VALIDATION_FAILED' } } })
  expect(await bad(post('/flow', { runId: 'nobody' }))).toMatchObject({ status: 404 })
  expect(await bad(post('/flow?cancel=maybe', { input: { n: 1 } }))).toMatchObject({ status: 400 })
  expect(await bad(post('/flow', { input: { n: 1 } }, { headers: { 'last-event-id': '1.0' } }))).toMatchObject({ status: 400 })
  expect(ran).not.toHaveBeenCalled()
})

test('[WL-136] the same runId attaches and never begins twice; with Last-Event-ID what was missed comes first', async () => {
  const ran: string[] = []
  const { flow, open } = gated(ran)
  const { post } = await aServer([flow])
  const first = framesIn(await post('/gated', { input: 1, runId: 'r' }))
  const seen: Frame[] = []
  while (seen.at(-1)?.event !== 'workflow.step.completed') seen.push((await first.next()).value as Frame)
  const place = seen.find(({ event }) => event === 'workflow.step.starting')?.id as string
  await first.return(undefined)

  // With input as the first time, and without any.
  const again = await post('/gated', { input: 1, runId: 'r' })
  const resumed = await post('/gated', { runId: 'r' }, { headers: { 'last-event-id': place } })
  open()
  const [attached, missed] = [await all(again), await all(resumed)]

  expect(ran).toEqual(['r'])
  expect(attached.at(-2)?.data).toMatchObject({ status: 'completed', data: 'done' })
  expect(missed.map(({ event, data }) => `${event} ${data.step ?? ''}`.trim())).toEqual([
    'run',
    'workflow.step.completed before',
    'workflow.step.starting wait',
    'workflow.step.completed wait',
    'workflow.step.starting after',
    'workflow.step.completed after',
    'workflow.completed',
    'result',
    'done',
  ])
  // One that has ended answers again.
  expect((await all(await post('/gated', { runId: 'r' }))).map(({ event }) => event)).toEqual(['run', 'result', 'done'])
})

test('[WL-136] a client that hangs up leaves the run going, unless it was said otherwise', async () => {
  const { flow, open, aborted } = gated()
  const { post, runtime } = await aServer([flow])
  const hangUp = async (path: string, runId: string) => {
    const stop = new AbortController()
    const frames = framesIn(await post(path, { input: 1, runId }, { signal: stop.signal }))
    for await (const { event, data } of frames) if (event === 'workflow.step.starting' && data.step === 'wait') break
    stop.abort()
  }
  await hangUp('/gated', 'stays')
  await hangUp('/gated?cancel=on-close', 'goes')

  const gone = await runtime.actor('gated', 'goes').waitFor((at) => at.hasTag('settled'))
  expect(gone.matches('cancelled')).toBe(true)
  expect(aborted).toEqual(['aborted'])
  expect((await runtime.actor('gated', 'stays').snapshot()).hasTag('settled')).toBe(false)
  open()
  expect((await all(await post('/gated', { runId: 'stays' }))).at(-2)?.data).toMatchObject({ status: 'completed' })
})

test('[WL-136] a reader who stands still holds up no run and fills no memory: it is told of the gap, and gets the result', async () => {
  const text = 'so many words '.repeat(30_000)
  const writer = agent({ name: 'writer', model: 'test/a', limits: { modelCall: { outputCharsMax: 1_000_000 } } })
  const { runtime } = await aServer([writer], {}, { models: { 'test/a': () => ({ text }) } })
  const handler = serve([writer], { token })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const response = await handler(new Request('http://localhost/writer', { method: 'POST', body: '{"input":"go","runId":"r"}', headers }))
  await runtime.actor('writer', 'r').waitFor((at) => at.status === 'done')

  const frames = await all(response)
  expect(frames.filter(({ event }) => event === 'agent.trip.streaming').length).toBeLessThan(30_000)
  expect(frames.slice(-3).map(({ event }) => event)).toEqual(['gap', 'result', 'done'])
  expect(frames.at(-2)?.data.data).toBe(text)
})

test('[WL-136] without a token nothing is served by mistake: it has to be said, and then this machine alone is served', async () => {
  expect(() => serve([sum], {})).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.stringContaining('token: null') }))
  expect(() => serve([sum], { token: 'short' })).toThrow(/guessed/)
  expect(() => serve([], { token })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
  expect(() => serve([sum, sum], { token })).toThrow(/one name/)
  expect(() => serve([sum], { token, path: 'agents' })).toThrow(/path/)

  const { post, url } = await aServer([sum], { token: null, path: '/agents/' })
  const input = { a: 1, b: 2 }
  expect((await all(await post('/agents/sum', { input }))).at(-2)?.data).toMatchObject({ data: 3 })
  expect((await post('/sum', { input })).status).toBe(404)
  expect((await post('/agents/sum', { input }, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
  const handler = serve([sum], { token: null })
  const asked = (from: string, environment?: unknown) =>
    handler(new Request(`${from}/sum`, { method: 'POST', body: '{"runId":"x"}', headers: { 'content-type': 'application/json' } }), environment)
  expect((await asked(url)).status).toBe(403)
  expect((await asked('http://evil.example', { incoming: { socket: { remoteAddress: '127.0.0.1' } } })).status).toBe(403)
  expect((await asked(url, { incoming: { socket: { remoteAddress: '10.0.0.7' } } })).status).toBe(403)
  expect((await asked(url, { incoming: { socket: { remoteAddress: '::ffff:127.0.0.1' } } })).status).toBe(404)
})

test('[WL-136] no token that is like the right one opens the door', async () => {
  const handler = serve([sum], { token })
  const ask = async (given: string) =>
    (await handler(new Request('http://localhost/sum', { method: 'POST', headers: { authorization: `Bearer ${given}` } }))).status
  expect(await ask(token)).toBe(415)
  for (let n = 0; n < 1_500; n++) expect(await ask(`${token.slice(0, -4)}${String(n).padStart(4, '0')}`), String(n)).toBe(401)
})

test('[WL-136] an author may let requests in by a rule of their own, and one that throws lets nobody in', async () => {
  const { url } = await aServer([sum], {})
  const own = await listening(
    serve([sum], {
      authorise: ({ headers }) => {
        if (headers.get('x-key') === 'boom') throw new Error('boom')
        return headers.get('x-key') === 'mine'
      },
    }),
  )
  const ask = (at: string, key: string) =>
    fetch(`${at}/sum`, { method: 'POST', body: '{"input":{"a":1,"b":2}}', headers: { 'content-type': 'application/json', 'x-key': key } })
  expect((await ask(own, 'mine')).status).toBe(200)
  expect((await ask(own, 'theirs')).status).toBe(401)
  expect((await ask(own, 'boom')).status).toBe(401)
  expect((await ask(url, 'mine')).status).toBe(401)
})

test('[WL-136] where its runtime has ended, a request is told to come again later', async () => {
  const { runtime, post } = await aServer([sum])
  await runtime.close()
  const response = await post('/sum', { input: { a: 1, b: 2 } })
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ error: { code: 'unavailable', context: { code: 'LADDER_CONFIG' } } })
})

test.each([
  ['a text', 'yes'],
  ['a number', 1],
  ['an object', { allowed: false }],
  ['an empty list', []],
  ['a promise of a text', Promise.resolve('true')],
  ['nothing', undefined],
  ['false', false],
])('[WL-136] a request that authorise answers with %s is not let in, and nothing runs', async (_, answer) => {
  const ran = vi.fn()
  const { post } = await aServer([workflow({ name: 'flow', steps: [{ name: 'x', run: ran }] })], { authorise: () => answer as boolean })

  const response = await post('/flow', { input: null })

  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ error: { code: 'unauthorised' } })
  expect(ran).not.toHaveBeenCalled()
})

test.each([true, Promise.resolve(true)])('[WL-136] a request that authorise answers with true is let in (%#)', async (answer) => {
  const { post } = await aServer([sum], { authorise: () => answer })

  expect((await post('/sum', { input: { a: 1, b: 1 } })).status).toBe(200)
})
