import { gateway } from './requirements.gateway.ts'
import { ladder } from './requirements.ladder.ts'
import { orchestrator } from './requirements.orchestrator.ts'
import { codegen, support } from './requirements.systems.ts'

/**
 * What Statecast promises, one row each. A test that shows a promise cites its id in its title: `[INV-6]`, `[INV-1, INV-7]`, `[K01…K20]`.
 * `requirements.test.ts` finds the rows that no test cites.
 */
export type Requirement = {
  id: string
  /** The promise in one sentence. */
  text: string
  /** The issue in which it is to be shown. */
  issue: number
  /** A missing test in `npm test` fails the suite. */
  due: boolean
  /** How we do it where we do otherwise than the row says. */
  differently?: string
  /** The number of the page in docs/decisions that gives the reason for `differently`, and names the row. */
  decision?: number
  /** It speaks of more runs than `npm test` has time for, so `npm run test:long` shows it. */
  long?: true
  /** A store keeps this promise, so `npm test` shows it on the embedded transport and on NATS. */
  onBoth?: true
}

/** The rows of these issues are not due yet. The issue that builds such a system takes its number out. */
const toCome = new Set([36, 37])

type Tier = Pick<Requirement, 'long' | 'onBoth'>
const row = (id: string, issue: number, text: string, tier: Tier = {}): Requirement => ({ id, text, issue, due: !toCome.has(issue), ...tier })

/** What holds after any fault. */
const invariants = [
  row('INV-1', 2, 'an acknowledged message is in the journal exactly once, whatever fails afterwards', { onBoth: true }),
  row('INV-2', 2, 'one message gets at most one committed turn; what is tried again is an attempt inside it'),
  row('INV-3', 2, 'entries of a root are numbered without a gap and chained by checksum; damage is reported, never skipped', { onBoth: true }),
  row('INV-4', 2, 'the epoch never falls, and only the host that claimed it writes in it', { onBoth: true }),
  row('INV-5', 2, 'of two hosts one commits; the fenced one drops its actors and starts no model or tool call more', { onBoth: true }),
  row('INV-6', 2, 'a tool call has at most one recorded result and does not run after it; one that must not run twice becomes in_doubt instead'),
  row('INV-7', 2, 'a turn that began ends exactly once, within its deadline'),
  row('INV-8', 2, 'a reader that resumes after entry n sees n+1, n+2, … each once and in order', { onBoth: true }),
  row('INV-9', 2, 'streamed text is a hint, numbered by run, attempt and index; at the end the text is what the journal says'),
  row('INV-10', 2, 'a fault in one session neither ends the process nor reaches another session'),
  row('INV-11', 2, 'every queue and buffer has a bound, too much is refused with a code, and memory comes back down', { onBoth: true }),
  row('INV-12', 2, 'of several decisions on one approval the first counts, for exactly these arguments; later ones are told so'),
  row('INV-13', 2, 'replay gives the recorded state at every entry, from the start as from any snapshot'),
  row('INV-14', 2, 'a wrong wall clock costs time, never safety, and recorded times do not run backwards'),
  row('INV-15', 2, 'when a turn has ended nothing of it is alive: no actor, timer, process, socket or subscription'),
  row('INV-16', 2, 'acknowledged means durable at the level that the backend states', { onBoth: true }),
  row('INV-17', 3, 'the simulator writes byte-identical journals for the same seed'),
  row('INV-18', 2, 'no secret stands in a log line, a trace, an error or on a page'),
  row('INV-19', 6, 'a credential opens its own sessions only; a foreign session looks like one that does not exist'),
  row('INV-20', 2, 'a journal that lost its end (restored, recreated, rotten) is noticed before anything is appended', { onBoth: true }),
]

/** `kill -9` of the real process at each point: every accepted message is answered once, replay says identical. */
const crashPoints = [
  row('K01', 2, 'killed when a message is received, not appended'),
  row('K02', 2, 'killed when an append is sent, not acknowledged'),
  row('K03', 2, 'killed when the append is acknowledged, the client not told'),
  row('K04', 2, 'killed when the owner has read the message, the turn not started'),
  row('K05', 2, 'killed when the turn is started, the model not called'),
  row('K06', 2, 'killed when the model is called, no token received'),
  row('K07', 2, 'killed in the middle of the stream'),
  row('K08', 2, 'killed when the model is done, its answer not appended'),
  row('K09', 2, 'killed when a tool is requested, not dispatched'),
  row('K10', 2, 'killed while a tool runs'),
  row('K11', 2, 'killed when the effect of a tool is done, its reply not sent'),
  row('K12', 2, 'killed when the reply of a tool is in, not appended'),
  row('K13', 2, 'killed when the result of a tool is appended'),
  row('K14', 2, 'killed when the final text is there, not appended'),
  row('K15', 2, 'killed when the turn is completed, subscribers not told'),
  row('K16', 2, 'killed while a snapshot is written'),
  row('K17', 2, 'killed in a takeover, before and after the claim'),
  row('K18', 2, 'killed while an approval is pending'),
  row('K19', 2, 'killed when a cancel is received, not appended'),
  row('K20', 2, 'killed while draining'),
]

/** Each is answered by its typed error; other sessions go on; nothing accepted is lost. */
const badInput = [
  row('BAD-JSON', 2, 'malformed JSON'),
  row('BAD-FIELDS', 2, 'fields that the schema does not know'),
  row('BAD-RESERVED', 2, 'events of a reserved xstate.* type'),
  row('BAD-ID-DOT', 2, 'an id with a dot, such as a.b'),
  row('BAD-ID-WILDCARD', 2, 'ids that are subject wildcards: * and >'),
  row('BAD-ID-EMPTY', 2, 'an empty id'),
  row('BAD-ID-NUL', 2, 'an id with NUL'),
  row('BAD-ID-LONG', 2, 'an id of 5,000 characters'),
  row('BAD-ID-PROTO', 2, 'an id named __proto__'),
  row('BAD-MODEL-GARBAGE', 2, 'a model that streams garbage'),
  row('BAD-MODEL-ENDLESS', 2, 'a model that never ends'),
  row('BAD-MODEL-CUT', 2, 'a model that stops in mid-word'),
  row('BAD-MODEL-TOOL', 2, 'a model that calls unknown tools with broken JSON'),
  row('BAD-TOOL-THROWS', 2, 'a tool that throws'),
  row('BAD-TOOL-HANGS', 2, 'a tool that hangs'),
  row('BAD-TOOL-HUGE', 2, 'a tool that returns 100 MB'),
  row('BAD-TOOL-CIRCULAR', 2, 'a tool that returns a circular object'),
]

/** What the durable core must show to whoever tries it. */
const shown = [
  row('SHOW-DEMO', 2, 'from an empty folder with Node 20 and npm, `npm ci && npm run demo` exits 0 in under 60 s'),
  row('SHOW-CHAT', 2, 'two questions piped into `statecast chat` are answered 391 and 400 through real tool calls'),
  row('SHOW-OPENAI', 2, 'with OPENAI_BASE_URL at a local server of that wire format the same goes through it, streamed'),
  row('SHOW-ONCE', 2, 'over all crash points no tool marked once runs twice', { long: true }),
  row('SHOW-REPLAY', 2, 'over all crash points replay says identical', { long: true }),
  row('SHOW-SEMANTICS', 2, 'the same events give the same states, actions and outputs under the root host as in plain XState, on many machines'),
  row('SHOW-BENCH-TURN', 2, 'a durable plain turn is measured beside the bare appends that it needs', { long: true }),
  row('SHOW-BENCH-EVENT', 2, 'an event of a root without I/O costs at most 1.6 times plain XState', { long: true }),
  row('SHOW-BENCH-RECOVERY', 2, 'recovery costs at most 10 µs an input', { long: true }),
  row('SHOW-SEEDS', 3, '2,000 seeds of the simulator without a violation', { long: true }),
  row('SHOW-PLANTED', 3, 'planted bugs, each of which is noticed'),
  row('SHOW-IMAGES', 3, 'images of the store at random moments hold every acknowledged entry'),
  row('SHOW-COMMITS', 3, 'exactly 2 commits for a plain turn, 2 more per step with tools, which parallel calls share, none for deltas'),
]

type Row = { id: string; text: string; differently?: string; decision?: number }
/** @param decision the page for rows that name none */
const rows = (issue: number, listed: readonly Row[], decision?: number): Requirement[] =>
  listed.map(({ id, text, differently, decision: own = decision }) => ({
    ...row(id, issue, text),
    ...(differently === undefined ? {} : { differently, ...(own === undefined ? {} : { decision: own }) }),
  }))

const numbered = (prefix: string, issue: number, texts: readonly string[]): Requirement[] =>
  texts.map((text, index) => row(`${prefix}-${String(index + 1).padStart(3, '0')}`, issue, text))

export const requirements: Requirement[] = [
  ...invariants,
  ...crashPoints,
  ...badInput,
  ...shown,
  ...rows(5, orchestrator, 5),
  ...rows(15, gateway),
  ...rows(17, ladder, 25),
  ...numbered('ED', 36, codegen),
  ...numbered('SV', 37, support),
]
