/**
 * `npm run demo`: the main job of Statecast in a few seconds, without a key or a server. Every claim it prints has been checked; one that does
 * not hold ends it with exit code 1. As `--app scripts/demo.ts` the same file is the app that the demo talks to.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { agent, builtInTools, defineApp, type Model, type ModelRequest, scriptedModel, tool } from '../src/index.ts'
import { systemClock } from '../src/runtime/system-environment.ts'

// ---- the app

const brew = tool({
  name: 'brew_coffee',
  description: 'Brews a cup of coffee; takes some seconds.',
  input: z.object({ cups: z.number().int().min(1) }),
  // Says what a crash in the middle means: this one may simply be run again.
  onCrash: 'retry',
  execute: async ({ cups }, { callId, attempt, signal }) => {
    if (process.env.DEMO_LOG) appendFileSync(process.env.DEMO_LOG, `${JSON.stringify({ callId, attempt, pid: process.pid })}\n`)
    await pause(1500, undefined, { signal })
    return { brewed: cups }
  },
})

/** A script in place of a language model: it depends on the conversation alone, so it goes on after a crash where it was. */
const scripted = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  const asked = askedIn(messages)
  const usage = { inputTokens: messages.length * 10, outputTokens: 10 }
  if (last?.role === 'tool' && asked === '') {
    const output = last.output as { value?: number; brewed?: number }
    return last.name === 'calculate'
      ? { text: `It is ${output.value}. A calculator has computed that, not I.`, deltaDelayMs: 40, usage }
      : { text: `Here you are: ${output.brewed} cup${output.brewed === 1 ? '' : 's'} of coffee.`, deltaDelayMs: 40, usage }
  }
  if (asked.includes('coffee')) return { calls: [{ name: 'brew_coffee', input: { cups: Number(/\d+/.exec(asked)?.[0] ?? 1) } }], usage }
  if (asked.includes('17*23')) return { calls: [{ name: 'calculate', input: { expression: '17*23' } }], usage }
  return { text: 'In short: what has been written down cannot get lost.', deltaDelayMs: 40, usage }
})

/** What was said since the last answer. */
const askedIn = (messages: ModelRequest['messages']): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .flatMap((message) => (message.role === 'user' ? [message.text] : []))
    .join(' ')

const story = 'Once upon a time there was a statechart. It had many states, and each of them was written down before anything happened.'
/** The word after which the listener interrupts. */
const interruptedAt = 4

/** Streams the story, and waits in the middle of it until the other wish has arrived: on a busy machine the process that brings it starts late. */
const tell: Model['call'] = async (_, { signal, onDelta }) => {
  for (const [index, word] of story.split(/(?<= )/).entries()) {
    await pause(60, undefined, { signal })
    onDelta({ kind: 'text', text: word })
    while (index === interruptedAt && process.env.DEMO_WISH && !existsSync(process.env.DEMO_WISH)) await pause(20, undefined, { signal })
  }
  const usage = { inputTokens: 10, outputTokens: 24, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
  return { text: story, reasoning: '', calls: [], usage, finish: 'stop', model: 'demo/assistant', partial: false }
}

const assistant: Model = {
  ref: 'demo/assistant',
  call: (request, how) => (askedIn(request.messages).endsWith('story') ? tell(request, how) : scripted.call(request, how)),
}

export default defineApp({
  agents: [agent({ name: 'main', model: 'demo/assistant', tools: [brew, ...builtInTools({ workspace: '.', clock: systemClock })] })],
  models: { 'demo/assistant': assistant },
})

// ---- the demo

const bin = fileURLToPath(new URL('../bin/statecast.js', import.meta.url))
const app = fileURLToPath(import.meta.url)

type Event = { type: string; [key: string]: unknown }
type TraceLine = { event: string; detail?: { id?: string } }

class Demo {
  readonly folder = mkdtempSync(join(tmpdir(), 'statecast-demo-'))
  readonly log = join(this.folder, 'brewed.jsonl')
  /** A file that is there when the wish to hear no more has been accepted. */
  readonly wish = join(this.folder, 'wish')
  readonly children = new Set<ChildProcess>()
  /** Shown when something goes wrong. */
  nodeLog = ''

  start(...args: string[]): ChildProcess {
    const env = { ...process.env, DEMO_LOG: this.log, DEMO_WISH: this.wish, STATECAST_URL: `embedded:${this.folder}/data` }
    const child = spawn(process.execPath, [bin, '--app', app, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.children.add(child)
    child.once('exit', () => this.children.delete(child))
    return child
  }

  /** Runs a command and hands over every line of it as it comes. */
  async run(args: string[], onLine: (line: string) => void = () => undefined): Promise<{ code: number | null; output: string }> {
    const child = this.start(...args)
    let errors = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString()
    })
    const ended = once(child, 'exit')
    let output = ''
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      output += `${line}\n`
      onLine(line)
    }
    const [code] = (await ended) as [number | null]
    return { code, output: output + errors }
  }

  async node(): Promise<{ child: ChildProcess; url: string }> {
    const child = this.start('up', '--port', '0', '--json')
    child.stderr?.on('data', (chunk: Buffer) => {
      this.nodeLog += chunk.toString()
    })
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream }))
      return { child, url: (JSON.parse(line) as { url: string }).url }
    throw new Error('the node did not start')
  }

  /** Says something and shows what comes back, as it comes. */
  async say(text: string, options: { key?: string; onEvent?: (event: Event) => void } = {}): Promise<{ events: Event[]; code: number | null }> {
    const events: Event[] = []
    const { code } = await this.run(['send', 'demo', text, '--json', ...(options.key ? ['--idempotency-key', options.key] : [])], (line) => {
      const event = JSON.parse(line) as Event
      events.push(event)
      show(event)
      options.onEvent?.(event)
    })
    return { events, code }
  }
}

let streaming = false
/** What came in pieces since the message was accepted. */
let heard = ''
let attempt: unknown
const show = (event: Event): void => {
  // Another call of the model begins a line of its own.
  if (streaming && event.type === 'delta' && event.attempt !== attempt) {
    process.stdout.write('\n')
    streaming = false
  }
  attempt = event.attempt
  if (event.type === 'delta') process.stdout.write(`${streaming ? '' : '   agent: '}${String(event.text)}`)
  else if (streaming) process.stdout.write('\n')
  streaming = event.type === 'delta'
  if (event.type === 'accepted') heard = ''
  if (streaming) heard += String(event.text)
  // Who asks again gets the answer as a whole where he came too late for the beginning of it.
  if (event.type === 'final' && !heard.endsWith(String(event.text))) console.log(`   agent: ${String(event.text)}`)
  if (event.type === 'tool' && event.phase === 'requested') console.log(`   tool:  ${String(event.name)} ${JSON.stringify(event.input)}`)
  if (event.type === 'tool' && event.phase === 'completed') console.log(`   tool:  → ${JSON.stringify(event.output)}`)
}

let step = 0
const title = (text: string): void => console.log(`\n${++step}. ${text}`)
const look = (text: string): void => console.log(`   ✓ ${text}`)
const claim = (holds: unknown, what: string): void => {
  if (!holds) throw new Error(what)
}
const outcome = (events: Event[]): { text: string; ids: string[]; runId: string } =>
  (events.findLast(({ type }) => type === 'final') ?? { text: '', ids: [], runId: '' }) as never

const narrate = async (demo: Demo): Promise<void> => {
  const began = Date.now()
  console.log(`Statecast: a conversation that survives kill -9. Everything below happens in real processes, with data in ${demo.folder}.`)

  title('A message, answered through a real tool call, streamed')
  console.log('   you:   what is 17*23?')
  const first = await demo.say('what is 17*23?')
  claim(first.code === 0 && outcome(first.events).text.includes('391'), 'the answer should be 391')
  claim(
    first.events.some(({ type, name, phase }) => type === 'tool' && name === 'calculate' && phase === 'completed'),
    'the tool should have been called',
  )
  claim(first.events.filter(({ type }) => type === 'delta').length > 3, 'the answer should have come in pieces')
  look('the answer came word by word, and the tool call is in the journal')

  title('Steering: you change your mind while the answer is coming')
  let node = await demo.node()
  console.log(`   (a node runs at ${node.url}; commands of other processes go to it)`)
  console.log('   you:   tell me a long story')
  let steer: Promise<{ code: number | null; output: string }> | undefined
  const story = await demo.say('tell me a long story', {
    onEvent: ({ type, index }) => {
      if (type !== 'delta' || index !== interruptedAt || steer) return
      process.stdout.write(' …\n   you:   make it short!  (from another process)\n')
      streaming = false
      steer = demo
        .run(['send', 'demo', 'make it short!', '--json'], (line) => {
          if ((JSON.parse(line) as Event).type === 'accepted') writeFileSync(demo.wish, '')
        })
        .finally(() => writeFileSync(demo.wish, ''))
    },
  })
  const steered = await steer
  claim(steered?.code === 0 && outcome(story.events).text.startsWith('In short'), 'the turn should have taken the new wish')
  claim(outcome(story.events).ids.length === 2, 'one turn should have answered both messages')
  look('one turn answered both messages; nothing was started over')

  title('kill -9 in the middle of a tool')
  console.log('   you:   coffee for 2, please')
  const key = 'coffee-1'
  const cut = demo.say('coffee for 2, please', { key })
  await until(() => brewings(demo).length === 1, 'the tool should have started')
  node.child.kill('SIGKILL')
  await once(node.child, 'exit')
  const lost = await cut
  claim(lost.code !== 0 && outcome(lost.events).text === '', 'the client should have lost its answer')
  console.log(`   kill -9 ${node.child.pid}: the node is gone, the tool was half done, and the client has no answer`)
  const trace = await demo.run(['replay', 'demo'])
  claim(trace.code === 0 && trace.output.startsWith('identical'), `the journal should replay also after the kill: ${trace.output}`)
  look('the journal on disk is whole and replays, up to the last event before the kill')

  title('A new process takes the turn up where it was')
  node = await demo.node()
  console.log('   you:   coffee for 2, please  (the same message, the same key: an impatient client)')
  const again = await demo.say('coffee for 2, please', { key })
  show({ type: 'end' })
  const answer = await demo.run(['send', 'demo', 'coffee for 2, please', '--idempotency-key', key])
  claim(again.code === 0 && answer.output.includes('2 cups of coffee'), 'the turn should have been finished')
  const calls = brewings(demo)
  claim(calls.length === 2 && calls[0]?.callId === calls[1]?.callId, 'the tool should have run once more, under its own name')
  claim(calls[0]?.pid !== calls[1]?.pid, 'the second attempt should have been in another process')
  look(
    `one call, two attempts, in processes ${calls[0]?.pid} and ${calls[1]?.pid}: the tool says onCrash: 'retry'; with 'once' a person would be asked`,
  )
  const recorded = (await demo.run(['trace', 'demo', '--json'])).output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceLine)
  claim(recorded.filter(({ event, detail }) => event === 'message' && detail?.id === key).length === 1, 'the message should be in the journal once')
  look('the message was sent three times and is in the conversation once')

  title('Replay: the recorded inputs, run through the machines again')
  const ended = once(node.child, 'exit')
  node.child.kill('SIGTERM')
  const [code] = (await ended) as [number | null]
  claim(code === 0, 'the node should have drained')
  const replay = await demo.run(['replay', 'demo'])
  claim(replay.code === 0 && replay.output.startsWith('identical'), 'replay should give the recorded states')
  console.log(`   ${replay.output.trim().split('\n').join('\n   ')}`)
  look('every state is the one that was recorded, kill and all')

  title('The machine behind a tool call')
  const chart = await demo.run(['machines', 'tool', '--format', 'mermaid'])
  claim(chart.code === 0 && chart.output.startsWith('stateDiagram'), 'there should be a statechart')
  const arrows = chart.output.split('\n').filter((line) => line.includes('-->'))
  for (const line of arrows) console.log(`   ${line.trim().replace(/\btool_/g, '')}`)
  look('`statecast machines tool` prints all of it as Mermaid; docs/statecharts/ draws it')

  console.log(`\nAll of this was checked while it ran, in ${((Date.now() - began) / 1000).toFixed(1)} s. Next: npx statecast chat`)
}

const brewings = ({ log }: Demo): { callId: string; pid: number }[] =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { callId: string; pid: number })
    : []

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (let waited = 0; waited < 30_000; waited += 20) {
    if (holds()) return
    await pause(20)
  }
  throw new Error(what)
}

if (import.meta.main) {
  const demo = new Demo()
  try {
    await narrate(demo)
  } catch (error) {
    console.error(
      `\nThe demo failed: ${error instanceof Error ? error.message : String(error)}. That is a defect, please report it.\n${demo.nodeLog}`,
    )
    process.exitCode = 1
  } finally {
    for (const child of demo.children) child.kill('SIGKILL')
    rmSync(demo.folder, { recursive: true, force: true })
  }
}
