/** A conversation whose old part becomes a summary, as an agent of the OpenAI Agents SDK with a session of one's own: those it has are in memory, or at OpenAI. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, run } from '@openai/agents'
import { folder, main } from '../world.mjs'
import { model } from './model.mjs'

const file = `${folder}/session.json`

/** In a file, as a whole each time. */
class FileSession {
  #items = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  async getSessionId() {
    return 's-1'
  }
  async getItems(limit) {
    return limit === undefined ? [...this.#items] : this.#items.slice(-limit)
  }
  async addItems(items) {
    this.#keep([...this.#items, ...items])
  }
  async popItem() {
    const item = this.#items.at(-1)
    this.#keep(this.#items.slice(0, -1))
    return item
  }
  async clearSession() {
    this.#keep([])
  }
  async compact() {
    if (this.#items.length < 7) return
    const old = this.#items.slice(0, -4)
    const { finalOutput } = await run(summarizer, JSON.stringify(old))
    this.#keep([{ role: 'system', content: finalOutput }, ...this.#items.slice(-4)])
  }
  #keep(items) {
    this.#items = items
    writeFileSync(file, JSON.stringify(items))
  }
}

const summarizer = new Agent({ name: 'summarizer', instructions: 'Say in short what was said.', model: model('summarizer') })
const desk = new Agent({ name: 'desk', instructions: 'You help customers.', model: model('chat') })

const talk = async (from) => {
  const session = new FileSession()
  let data
  for (let turn = from; turn <= 8; turn++) {
    data = (await run(desk, `message ${turn}`, { session })).finalOutput
    await session.compact()
  }
  return { state: 'done', data }
}

await main({
  begin: () => talk(1),
  // Nothing looks for turns that were cut off.
  boot: async () => undefined,
  // Whoever has got no answer says it again.
  resume: (turn) => talk(Number(turn)),
})
