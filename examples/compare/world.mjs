/** What the programs act upon: an outside world that writes down whatever was done to it, and models that say what they are asked to. */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Where a program keeps whatever it stores. */
export const folder = process.env.COMPARE_FOLDER ?? '.'
const file = join(folder, 'world.jsonl')

/** All that was done, in its order. */
export const done = () =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
const did = (what, more = {}) => appendFileSync(file, `${JSON.stringify({ what, ...more })}\n`)

/** Hangs there for ever when that is asked for, so that the process can be killed at that place. */
const hold = (place) => {
  if (process.env.COMPARE_HOLD !== place) return undefined
  writeSync(1, `holding at ${place}\n`)
  return new Promise(() => setInterval(() => undefined, 1_000_000))
}

/** Each does something outside of the program that cannot be taken back. */
export const shop = {
  async fetch(id) {
    did('fetch')
    return { id, item: 'lamp', price: 49.9 }
  },
  async checkStock(order) {
    did('check stock')
    return `${order.item}: 3 left`
  },
  async checkFraud(order) {
    did('check fraud')
    return `${order.price} is usual`
  },
  /** The bank is busy when it is asked for the first time. */
  async charge(order, key) {
    const isFirst = !done().some(({ what }) => what === 'charge')
    if (!isFirst) await hold('charge')
    did('charge', { key })
    if (isFirst) throw new Error('the bank is busy')
    return `paid ${order.price}`
  },
  /** @param key a carrier that knows it sends one parcel, however often it is asked */
  async ship(order, key) {
    did('ship', { key })
    await hold('ship')
    return `parcel with a ${order.item}`
  },
}

const last = (messages) => messages.at(-1)?.text ?? ''
const answers = {
  shipper: (messages) => last(messages),
  router: () => JSON.stringify({ next: ['billing', 'stock', 'law'] }),
  billing: () => 'Nothing is owed.',
  stock: () => 'Three lamps are left.',
  law: () => 'It may be returned within 14 days.',
  writer: (messages) => `In short: ${['owed', 'left', '14 days'].filter((word) => last(messages).includes(word)).join(', ')}`,
  chat: (messages) => `answer to ${last(messages)}`,
  summarizer: () => 'a summary of what was said',
  observer: () => '<observations>\n* a summary of what was said\n</observations>',
}

/**
 * What a model with that job says. The fake models of all programs ask here.
 * @param messages texts with their roles, as the model sees them
 */
export const answer = async (job, messages) => {
  did('model', { job, saw: messages.map(({ role, text }) => `${role}: ${text}`) })
  await hold(job)
  await hold(`${job}: ${last(messages)}`)
  return answers[job](messages)
}

/** Runs the one of the verbs that the command line names, and prints what it comes to. */
export const main = async (verbs) => {
  const value = await verbs[process.argv[2]](process.argv[3])
  writeSync(1, `${JSON.stringify(value ?? { state: 'nothing' })}\n`)
  process.exit(0)
}
