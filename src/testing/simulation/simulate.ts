/**
 * A whole deployment in one process under one seed: nodes that crash, freeze and jump in time, a store that loses answers, clients that do not
 * give up. Time is virtual, so a minute takes milliseconds, and the same seed writes the same journals, byte for byte.
 */
import { type Logger, noFailPoints } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Transport } from '../../contracts/transport.ts'
import { createRuntime, type Runtime } from '../../runtime.ts'
import { createMemoryStore, openMemory } from '../../transport/memory/index.ts'
import { seededIds, seededRandom } from '../seeded.ts'
import { virtualClock } from '../virtual-clock.ts'
import { Node } from './node.ts'
import { checkPlan, drawPlan, type Fault, type Plan, pick } from './plan.ts'
import type { Outcome, Play, Scenario, Simulation } from './scenario.ts'

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** With one seed in two the nodes share the actors by partition; else they take over from each other at any moment. */
const isPartitioned = (seed: number): boolean => seed % 2 === 1

/** Nodes end without a word, and would leave watchers of real folders behind. */
const unwatched = { skills: false } as const

/** Virtual time after the last fault in which everything must have come to its end. */
const settleMaxMs = 20 * 60_000
const storyMax = 2000
/** Virtual ms after which a client takes it that nobody will answer. */
const patienceMs = 5000

/**
 * @param from a seed, a whole number, or a plan that was drawn or shrunk before
 * @throws RuntimeError bad_request for what is neither; whatever the scenario throws when it begins; why its runtime cannot start, when nothing had struck
 */
export const simulate = async <Act>(scenario: Scenario<Act>, from: number | Plan<Act>): Promise<Outcome<Act>> => {
  const plan = typeof from === 'object' && from !== null ? checkPlan(from) : drawPlan(from, scenario)
  const run = new Run(scenario, plan)
  return run.play()
}

const words = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

class Run<Act> implements Simulation {
  readonly clock = virtualClock()
  readonly #plan: Plan<Act>
  readonly #play: Play<Act>
  readonly #store = createMemoryStore()
  readonly #ids: ReturnType<typeof seededIds>
  readonly random: ReturnType<typeof seededRandom>
  readonly #nodes: Node[] = []
  readonly #story: string[] = []
  readonly #began: number
  /** The store has its own time, whatever becomes of its users. */
  readonly #storeEnvironment = { clock: this.clock, failPoints: noFailPoints, log: silent }
  #faults: Fault[]
  #steps = 0
  #struck = 0
  #started = 0
  #trouble: { code: 'log_full' | 'log_unavailable'; until: number } | undefined
  #transport: Transport | undefined
  skewMs = 0
  #order = 0
  #told = ''
  #left: string | undefined
  readonly #broken: string[] = []
  readonly #performing = new Set<string>()
  /** Why the runtime of this scenario cannot start at all. */
  #refusal: unknown
  readonly #unfit = Promise.withResolvers<never>()
  readonly #orders = new Map<string, number>()

  constructor(scenario: Scenario<Act>, plan: Plan<Act>) {
    this.#plan = plan
    this.#faults = plan.faults.slice()
    this.#ids = seededIds(plan.seed)
    this.random = seededRandom(plan.seed ^ 0x5eed)
    this.#began = this.clock.now()
    this.#play = scenario.begin(this)
    this.#unfit.promise.catch(() => undefined)
  }

  get seed(): number {
    return this.#plan.seed
  }
  get transport(): Transport {
    if (!this.#transport) throw new Error('the simulation has not begun')
    return this.#transport
  }

  tell(line: string): void {
    if (line === this.#told || this.#story.length >= storyMax) return
    this.#told = line
    this.#story.push(`${String(this.clock.now() - this.#began).padStart(8)} ${line}`)
  }

  order(): number {
    return ++this.#order
  }
  orderOf(address: Address, seq: number): number | undefined {
    return this.#orders.get(`${formatAddress(address)} ${seq}`)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms))
  }

  someone(): Runtime | undefined {
    const up = this.#nodes.filter(({ running, runtime }) => running && runtime)
    return up.length > 0 ? pick(this.random, up).runtime : undefined
  }

  async insist<T>(
    request: (runtime: Runtime) => Promise<T>,
    again = (error: unknown): boolean => !isRuntimeError(error) || error.retryable,
  ): Promise<T> {
    for (;;) {
      const runtime = this.someone()
      if (runtime) {
        const silence = this.sleep(patienceMs).then(() => undefined)
        const asked = request(runtime).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        const answer = await Promise.race([asked, silence])
        if (answer && 'value' in answer) return answer.value
        if (answer && !again(answer.error)) throw answer.error
      }
      await this.sleep(250)
    }
  }

  async play(): Promise<Outcome<Act>> {
    this.#transport = await openMemory({ environment: this.#storeEnvironment, store: this.#store, shared: true })
    const violations = this.#broken
    try {
      this.#start()
      await this.clock.until(Promise.race([this.#script(), this.#unfit.promise]))
      this.#faults = []
      this.#trouble = undefined
      await this.clock.until(Promise.race([this.#heal(), this.#unfit.promise]), settleMaxMs)
      violations.push(...(await this.#verdict()))
    } catch (error) {
      if (error === this.#refusal) throw error
      violations.push(`it does not come to an end, ${this.#left ?? 'in its script'}: ${words(error)}; what waits, waits with world.sleep`)
    }
    for (const node of this.#nodes) node.kill()
    return { plan: this.#plan, violations, story: this.#story, steps: this.#steps, struck: this.#struck }
  }

  async #script(): Promise<void> {
    for (const { act, afterMs } of this.#plan.acts) {
      const name = JSON.stringify(act)
      this.tell(`act ${name}`)
      this.#performing.add(name)
      const performed = async (): Promise<void> => this.#play.perform(act)
      performed()
        .catch((error: unknown) => void this.#broken.push(`${name} failed: ${String(error)}`))
        .finally(() => this.#performing.delete(name))
      await this.sleep(afterMs)
    }
  }

  async #verdict(): Promise<string[]> {
    try {
      const found: unknown = await this.clock.until(Promise.resolve(this.#play.check()))
      if (Array.isArray(found)) return found.map(String)
      return [`check() answered ${String(found)}; it is to answer with a list of what is wrong, empty when nothing is`]
    } catch (error) {
      return [`check() failed: ${words(error)}`]
    }
  }

  async #leftToDo(): Promise<string | undefined> {
    try {
      const left = (await this.#play.settle()) ?? undefined
      if (left !== undefined) return left
    } catch (error) {
      return `settle() failed: ${words(error)}`
    }
    const [act] = this.#performing
    return act === undefined ? undefined : `${act} is still being performed`
  }

  /** A node that was frozen goes on for a while, which must do no harm; then all are gone, and one that is new does what is left. */
  async #heal(): Promise<void> {
    this.tell('the faults are over')
    for (const node of this.#nodes) node.thaw()
    await this.sleep(1000)
    for (const node of this.#nodes.splice(0)) node.kill()
    this.#start()
    for (;;) {
      this.#left = await this.#leftToDo()
      if (this.#left === undefined) return
      await this.sleep(200)
    }
  }

  // ---- nodes

  #start(): void {
    const name = `node-${++this.#started}`
    const node = new Node({
      name,
      world: this.clock,
      environment: { ids: this.#ids, random: seededRandom(this.seed + this.#started), log: this.#log(name) },
      strike: (struck, step) => this.#strike(struck, step),
      trouble: () => this.#answerOfStore(),
      appended: (address, seq) => void this.#orders.set(`${formatAddress(address)} ${seq}`, this.order()),
    })
    this.#nodes.push(node)
    this.tell(`${name} starts`)
    void this.#boot(node)
  }

  async #boot(node: Node): Promise<void> {
    const inner = await openMemory({
      environment: this.#storeEnvironment,
      store: this.#store,
      shared: true,
      partitioned: isPartitioned(this.#plan.seed),
    })
    try {
      const options = this.#play.runtime(node)
      node.runtime = await createRuntime({ ...unwatched, ...options, transport: node.connect(inner), environment: node.environment })
    } catch (error) {
      this.tell(`${node.name} cannot start: ${String(error)}`)
      // Nothing was done to it yet: it never will.
      if (this.#struck === 0 && this.#started === 1) {
        this.#refusal = error
        this.#unfit.reject(error)
      }
      node.kill()
      this.#replace(1000)
    }
  }

  /** Somebody has to be there in the end; until then the clients wait. */
  #replace(ms: number): void {
    this.clock.setTimeout(() => {
      if (!this.#nodes.some(({ running }) => running)) this.#start()
    }, ms)
  }

  #log(name: string) {
    const line = (level: string) => (fields: object, message?: string) => {
      const { actor, error } = fields as { actor?: string; error?: { code?: string; message?: string } }
      this.tell(`${name} ${level}: ${message ?? ''} ${actor ?? ''} ${error ? `${error.code}: ${error.message}` : ''}`)
    }
    return { ...silent, warn: line('warn'), error: line('error') }
  }

  // ---- faults

  #strike(node: Node, step: string): Fault | undefined {
    this.#steps++
    const [fault] = this.#faults
    if (fault === undefined || fault.at > this.#steps) return undefined
    this.#faults.shift()
    this.#struck++
    this.tell(`${node.name} at ${step}: ${fault.kind} (${fault.ms} ms)`)
    const { kind, ms } = fault
    switch (kind) {
      case 'crash before':
        this.#replace(ms)
        return fault
      case 'crash after':
        // Where there is no answer to wait for, after is as good as before.
        this.#replace(ms)
        return step.startsWith('K') ? { ...fault, kind: 'crash before' } : fault
      case 'pause':
        this.clock.setTimeout(() => {
          this.tell(`${node.name} goes on`)
          node.thaw()
        }, ms)
        if (ms >= 300) this.#replace(200)
        return fault
      case 'clock jump':
        this.skewMs += ms
        return { ...fault, ms: this.random.next() < 0.5 ? -ms : ms }
      case 'full':
      case 'away':
        this.#trouble = { code: kind === 'full' ? 'log_full' : 'log_unavailable', until: this.clock.now() + ms }
        return undefined
      case 'join':
        this.#start()
        return undefined
      default:
        return fault
    }
  }

  #answerOfStore(): RuntimeError | undefined {
    if (this.#trouble === undefined || this.#trouble.until <= this.clock.now()) return undefined
    return new RuntimeError(this.#trouble.code, 'the store is in trouble', { retryable: true })
  }
}
