/**
 * The world of the simulations: three conversations with tools of every crash policy, an approval, and a model that is slow and fails at times;
 * and an alarm clock, a machine of an author's own, whose timers and actions must survive as well.
 */
import { z } from 'zod'
import type { Clock } from '../../src/contracts/environment.ts'
import { type Approval, agent, isRuntimeError, type ModelRequest, type Runtime, type Session, tool } from '../../src/index.ts'
import type { Node } from '../../src/testing/simulation/node.ts'
import { pick } from '../../src/testing/simulation/plan.ts'
import type { Play, Scenario, Simulation } from '../../src/testing/simulation/scenario.ts'
import { checkSession } from '../checker/check.ts'
import type { ClientLine, EffectLine } from '../checker/evidence.ts'
import { type AlarmLine, alarmMachine, checkAlarm } from './alarm.ts'
import { checkPairs, evidenceOf } from './evidence.ts'

type QueueMode = 'steer' | 'followup' | 'collect' | 'interrupt'
export type ShopAct =
  | { do: 'say'; session: string; id: string; mode: QueueMode; twice: boolean }
  | { do: 'cancel' | 'cancel one' | 'compact' | 'reset'; session: string; id: string }
  | { do: 'post'; session: string; id: string }
  | { do: 'alarm'; id: string; ms: number }

const sessions = ['ann', 'bob', 'cleo']
/** Of a tool: what a restart does to it, and how long it takes. */
const tools = {
  lookup: { onCrash: 'retry', ms: 20, approval: false },
  charge: { onCrash: 'once', ms: 60, approval: false },
  file: { onCrash: 'idempotent', ms: 5, approval: false },
  ship: { onCrash: 'once', ms: 30, approval: true },
} as const

const drawActs: Scenario<ShopAct>['acts'] = (random) => {
  const acts: ShopAct[] = []
  const count = 3 + Math.floor(random.next() * 9)
  for (let index = 0; index < count; index++) {
    const session = pick(random, sessions)
    const roll = random.next()
    if (roll < 0.08) acts.push({ do: 'post', session, id: `m${index}` })
    else if (roll < 0.6) {
      const mode = pick(random, ['steer', 'steer', 'followup', 'collect', 'interrupt'] as const)
      acts.push({ do: 'say', session, id: `m${index}`, mode, twice: random.next() < 0.3 })
    } else if (roll < 0.88) acts.push({ do: 'alarm', id: `a${index}`, ms: pick(random, [0, 50, 60, 1000, 30_000]) })
    else acts.push({ do: pick(random, ['cancel', 'cancel one', 'compact', 'reset'] as const), session, id: `m${Math.max(0, index - 1)}` })
  }
  return acts
}

/** Depends on what it is shown alone, as every call may be made again. */
const answer = ({ messages, instructions }: ModelRequest) => {
  if (instructions.startsWith('You shorten')) return { text: 'SUMMARY', delayMs: 30 }
  const answers = messages.filter(({ role }) => role === 'assistant').length
  const call = (name: keyof typeof tools) => ({ name, input: { what: `item ${answers}` } })
  switch (answers % 6) {
    case 0:
      return { text: 'let me see', calls: [call('lookup'), call('charge')], deltaDelayMs: 5 }
    case 1:
      return { text: 'and now I file and ship it', calls: [call('file'), call('ship')], delayMs: 40 }
    case 2:
      return { text: 'there you are', deltaDelayMs: 10, errors: [{ status: 503 }] }
    case 3:
      return { calls: [call('charge'), call('charge')] }
    case 4:
      return { rawCalls: [{ name: 'nothing', input: '{' }] }
    default:
      return { text: 'thank you', delayMs: 500 }
  }
}

/** ms after which a client takes it that nobody will answer. */
const patienceMs = 5000
/** Errors after which repeating a request is of no use. */
const final = new Set(['overloaded', 'not_found', 'already_decided', 'session_busy', 'bad_request', 'conflict'])

class Shop implements Play<ShopAct> {
  readonly #world: Simulation
  readonly #client = new Map<string, ClientLine[]>()
  readonly #effects = new Map<string, EffectLine[]>()
  readonly #alarms: AlarmLine[] = []
  /** What clients are still after. */
  readonly #open = new Set<ShopAct>()
  #tokens = 0
  #watching = false
  readonly #deltas = new Map<string, number>()
  readonly #gaps: string[] = []

  constructor(world: Simulation) {
    this.#world = world
  }

  /** Whoever watches the bus gets each delta of an attempt once and in order. */
  #watch(): void {
    if (this.#watching) return
    this.#watching = true
    this.#world.transport.bus.subscribe('statecast.out.session.*.delta', ({ subject, data }) => {
      const { runId, attempt, index } = JSON.parse(new TextDecoder().decode(data)) as { runId: string; attempt: number; index: number }
      const stream = `${subject.split('.')[3]} ${runId} ${attempt}`
      const expected = this.#deltas.get(stream) ?? 0
      if (index !== expected) this.#gaps.push(`delta ${index} of ${stream} came when ${expected} was due`)
      this.#deltas.set(stream, index + 1)
    })
  }

  runtime({ environment: { clock } }: Node) {
    this.#watch()
    return {
      models: { 'shop/model': answer },
      agents: [agent({ name: 'main', model: 'shop/model', tools: this.#tools(clock), limits: { steps: 6 } })],
      machines: { alarm: alarmMachine((id) => this.#ring(id, clock)) },
      // Here others take over at any moment, without waiting for a lease to end.
      limits: { snapshotEvery: 2, idleMs: 1500, takeoverMs: 0 },
    }
  }

  #tools(clock: Clock) {
    return Object.entries(tools).map(([name, { onCrash, ms, approval }]) =>
      tool({
        name,
        description: `takes ${ms} ms`,
        input: z.object({ what: z.string() }),
        onCrash,
        approval,
        execute: async (_, { callId, session }) => {
          const trace = (phase: EffectLine['phase'], token?: string) => {
            this.#world.tell(`${session} ${name} ${callId} ${phase}`)
            listOf(this.#effects, session).push({ order: this.#world.order(), phase, call: callId, tool: name, policy: onCrash, approval, token })
          }
          trace('start')
          await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
          const token = `t${++this.#tokens}`
          trace('end', token)
          return { token }
        },
      }),
    )
  }

  /** It takes a while, so that others are committed meanwhile, and a crash may cut it off. */
  async #ring(id: string, clock: Clock): Promise<void> {
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 70))
    this.#alarms.push({ what: 'rang', id, order: this.#world.order(), at: this.#world.clock.now() })
  }

  async perform(act: ShopAct): Promise<void> {
    this.#open.add(act)
    try {
      if (act.do === 'alarm') await this.#setAlarm(act.id, act.ms)
      else if (act.do === 'post') await this.#post(act)
      else if (act.do === 'say') await Promise.all([this.#say(act), ...(act.twice ? [this.#say(act)] : [])])
      else await this.#tell(act)
    } finally {
      this.#open.delete(act)
    }
  }

  /** @returns undefined for what was refused for good @param refused told of every refusal */
  async #insist<T>(request: (runtime: Runtime) => Promise<T>, refused: (code: string) => void, last = final): Promise<T | undefined> {
    const again = (error: unknown): boolean => {
      if (!isRuntimeError(error)) return false
      refused(error.code)
      return !last.has(error.code)
    }
    return this.#world.insist(request, again).catch((error: unknown) => {
      if (isRuntimeError(error)) return undefined
      throw error
    })
  }

  async #say({ session, id, mode }: Extract<ShopAct, { do: 'say' }>): Promise<void> {
    const lines = listOf(this.#client, session)
    lines.push({ what: 'sent', id })
    const refused = (code: string) => void lines.push({ what: 'refused', id, code })
    const run = await this.#insist((runtime) => runtime.session(session).send(`message ${id}`, { idempotencyKey: id, queueMode: mode }), refused)
    if (!run) return
    // A twin of the same request counts as one client: it wants the same receipt.
    const known = lines.find((line) => line.what === 'acked' && line.id === id)
    if (!known) lines.push({ what: 'acked', id, seq: run.seq })
    else if (known.seq !== run.seq) lines.push({ what: 'acked', id, seq: run.seq })
    await this.#hear(session, id)
  }

  /** As somebody who has only a subject does it: stored in the inbox, and delivered by whichever node takes it. */
  async #post({ session, id }: Extract<ShopAct, { do: 'post' }>): Promise<void> {
    const lines = listOf(this.#client, session)
    lines.push({ what: 'sent', id })
    const body = new TextEncoder().encode(JSON.stringify({ type: 'message', text: `message ${id}` }))
    const subject = `statecast.in.session.${session}`
    // Whoever publishes twice under one id means one message.
    await Promise.all([1, 2].map(() => this.#world.transport.inbox.put(subject, id, body)))
    lines.push({ what: 'acked', id })
    await this.#hear(session, id)
  }

  /** Until there is an outcome. */
  async #hear(session: string, id: string): Promise<void> {
    const lines = listOf(this.#client, session)
    const outcome = async (runtime: Runtime) => {
      // It rejects for a turn that failed or was stopped, and for a node that goes; what became of the message is asked in any case.
      await runtime
        .session(session)
        .wait(id, patienceMs)
        .catch(() => undefined)
      return runtime.session(session).outcome(id)
    }
    const ended = await this.#insist(outcome, () => undefined, new Set())
    if (!ended) return
    const heard = lines.find((line) => line.what === 'answered' && line.id === id)
    if (heard?.status !== ended.status) lines.push({ what: 'answered', id, status: ended.status, text: ended.text })
  }

  async #tell({ do: what, session, id }: Extract<ShopAct, { do: 'cancel' | 'cancel one' | 'compact' | 'reset' }>): Promise<void> {
    const ask = (of: Session): Promise<unknown> =>
      what === 'compact' ? of.compact() : what === 'reset' ? of.reset() : of.cancel(what === 'cancel one' ? id : undefined)
    await this.#insist(
      (runtime) => ask(runtime.session(session)),
      () => undefined,
    )
  }

  async #setAlarm(id: string, ms: number): Promise<void> {
    const set = { type: 'set', id, ms }
    this.#alarms.push({ what: 'asked', id, order: this.#world.order(), at: this.#world.clock.now(), ms })
    await this.#insist(
      (runtime) => runtime.actor('alarm', 'clock').send(set, { id }),
      () => undefined,
    )
    this.#alarms.push({ what: 'set', id, order: this.#world.order(), at: this.#world.clock.now(), ms })
  }

  async settle(): Promise<string | undefined> {
    for (const session of sessions) {
      const view = await this.#insist(
        (runtime) => runtime.session(session).view(),
        () => undefined,
      )
      for (const approval of view?.approvals ?? []) await this.#decide(session, approval)
      if (view && (view.state !== 'awaiting-input' || view.queued.length > 0)) return `${session} is ${JSON.stringify(view.state)}`
    }
    const silent = this.#alarms.find(({ id }) => !this.#alarms.some((line) => line.what === 'rang' && line.id === id))
    if (silent) return `alarm ${silent.id} is silent`
    return this.#open.size > 0 ? `clients wait for ${[...this.#open].map((act) => JSON.stringify(act)).join(', ')}` : undefined
  }

  /** A person who agrees to what is asked, and to every second repetition of what is in doubt. */
  async #decide(session: string, approval: Approval): Promise<void> {
    const agrees = approval.why !== 'in_doubt' || this.#world.random.next() < 0.5
    await this.#insist(
      (runtime) => runtime.session(session).decide(approval, agrees ? 'approve' : 'deny'),
      () => undefined,
    )
  }

  async check(): Promise<string[]> {
    const { journal } = this.#world.transport
    const violations = [...this.#gaps]
    const expect = (fine: boolean, otherwise: string) => void (fine || violations.push(otherwise))
    for (const session of sessions) {
      const commits = await evidenceOf(this.#world, { kind: 'session', id: session }, expect)
      const client = this.#client.get(session) ?? []
      expect(commits.length > 0 || client.every(({ what }) => what !== 'acked'), `nothing is left of session/${session}`)
      if (commits.length === 0) continue
      violations.push(...checkSession({ address: `session/${session}`, commits, client, effects: this.#effects.get(session) ?? [] }).violations)
    }
    violations.push(...checkAlarm(await evidenceOf(this.#world, { kind: 'alarm', id: 'clock' }, expect), this.#alarms, this.#world.skewMs))
    violations.push(...(await this.#selfChecks(await journal.list())))
    return violations
  }

  /** What the runtime itself says of what is left: replays are identical, transcripts well formed, nobody wants to be woken. */
  async #selfChecks(heads: { address: { kind: string; id: string }; wakeAt: number | null }[]): Promise<string[]> {
    const violations: string[] = []
    const runtime = this.#world.someone()
    if (!runtime) return ['nobody is left']
    for (const { address } of heads) {
      const replayed = await runtime.replay(address)
      if (replayed.verdict !== 'identical') violations.push(`replay of ${address.kind}/${address.id}: ${JSON.stringify(replayed.difference)}`)
      if (address.kind === 'session') violations.push(...checkPairs(address.id, await runtime.session(address.id).history()))
    }
    return violations
  }
}

const listOf = <T>(map: Map<string, T[]>, key: string): T[] => {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

export const shop: Scenario<ShopAct> = { acts: drawActs, begin: (simulation) => new Shop(simulation) }
