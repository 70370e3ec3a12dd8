/** Anything in any order again, on a folder on disk: ends, kills, races for the folder and damage come between the steps. */
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import { decodeCommit } from '../../src/actors/journal/codec.ts'
import { formatAddress } from '../../src/contracts/subjects.ts'
import { agent, createRuntime, isRuntimeError, type Runtime, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { afterThisFile } from '../support/cleanup.ts'
import { casesOf } from '../support/property.ts'
import { expectEndedOnce, expectPaired, type Story } from './harness.ts'

type Act =
  | { do: 'say'; mode: 'steer' | 'followup' | 'collect' | 'interrupt' }
  | { do: 'decide'; decision: 'approve' | 'deny' }
  | { do: 'pass'; ms: number }
  | { do: 'say at once' | 'repeat' | 'cancel' | 'reset' | 'reopen' | 'kill' | 'race' }
  /** One page, the last one or one before. */
  | { do: 'damage the log' | 'damage the database'; endOf: number }

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('say' as const), mode: fc.constantFrom('steer', 'followup', 'collect', 'interrupt') }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('decide' as const), decision: fc.constantFrom('approve', 'deny') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 5, 15) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom('say at once', 'repeat', 'cancel', 'reset', 'reopen', 'kill', 'kill', 'race'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('damage the log', 'damage the database'), endOf: fc.constantFrom(0.5, 0.8, 1) }) },
  ),
  { minLength: 4, maxLength: 14 },
)

/** What it does next follows from the length of the conversation. */
const script = ({ messages }: { messages: { role: string }[] }) => {
  const answers = messages.filter(({ role }) => role === 'assistant').length
  switch (answers % 4) {
    case 0:
      return { text: 'let me see', calls: [{ name: 'work', input: {} }], deltaDelayMs: 1 }
    case 2:
      return {
        calls: [
          { name: 'pay', input: {} },
          { name: 'work', input: {} },
        ],
      }
    default:
      return { text: 'so it is', deltaDelayMs: 1 }
  }
}

const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-random-'))
  afterThisFile(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const refusals = ['overloaded', 'already_decided', 'session_busy', 'bad_request', 'conflict', 'not_found']
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One conversation that moves from folder to folder, as after a kill its files do from a process to the next. */
const aConversation = async () => {
  let folder = aFolder()
  const paid: string[] = []
  const nothing = z.object({})
  const work = tool({ name: 'work', description: 'works', input: nothing, onCrash: 'retry', execute: () => pause(2).then(() => 'done') })
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: nothing,
    approval: true,
    execute: (_, { callId, attempt }) => void paid.push(`${callId} ${attempt}`),
  })
  const main = agent({ name: 'main', model: 'test/model', tools: [work, pay], limits: { steps: 6 } })
  const start = (resume = true) => createRuntime({ agents: [main], models: { 'test/model': script }, transport: `embedded:${folder}`, resume })
  let runtime: Runtime = await start()
  /** Acknowledged to us: what must never be lost. */
  const accepted = new Set<string>()
  let said = 0

  const session = () => runtime.session('main')
  const send = async (id: string, text: string, queueMode?: 'steer' | 'followup' | 'collect' | 'interrupt') => {
    const run = await session().send(text, { idempotencyKey: id, ...(queueMode ? { queueMode } : {}) })
    // A kill and a close end it; what becomes of the message stands in the journal.
    run.result().catch(() => undefined)
    accepted.add(id)
  }
  /** The files as a kill leaves them, in a folder of their own: the writer has come to rest, so it is one moment of theirs. */
  const kill = async (): Promise<void> => {
    const dead = runtime
    partsOf(dead).host.abandon()
    await partsOf(dead).transport.registry.put('last-write', 'done')
    const next = aFolder()
    cpSync(folder, next, { recursive: true })
    await partsOf(dead).transport.close()
    folder = next
  }

  /** Opens what was damaged: it either holds all that it held, or is refused with what to do. Goes on with the whole one. */
  const damaged = async (file: string, endOf: number): Promise<void> => {
    const whole = folder
    folder = aFolder()
    cpSync(whole, folder, { recursive: true })
    const path = join(folder, file)
    const content = readFileSync(path)
    const end = Math.floor(content.length * endOf)
    for (let at = Math.max(0, end - 4096); at < end; at += 64) content[at]! ^= 0x55
    writeFileSync(path, content)
    try {
      await using damagedRuntime = await start(false)
      runtime = damagedRuntime
      await expectAllAccepted()
    } catch (error) {
      if (!isRuntimeError(error)) throw error
      expect(error).toMatchObject({ code: expect.stringMatching(/^(corrupt_at|log_unavailable)$/), hint: expect.stringMatching(/restore|backup/) })
    } finally {
      folder = whole
    }
  }

  const expectAllAccepted = async (): Promise<void> => {
    const { address } = session()
    const { journal } = partsOf(runtime).transport
    const counts = new Map<string, number>()
    for (const { seq, bytes } of accepted.size > 0 ? await journal.read(address, 1) : [])
      for (const input of decodeCommit(bytes, { address: formatAddress(address), seq }).inputs)
        if ('event' in input && !('from' in input) && input.event.type === 'message')
          counts.set(String(input.event.id), (counts.get(String(input.event.id)) ?? 0) + 1)
    expect([...accepted].map((id) => [id, counts.get(id)])).toEqual([...accepted].map((id) => [id, 1]))
  }

  const perform = async (act: Act): Promise<unknown> => {
    switch (act.do) {
      case 'say':
        said += 1
        return send(`m${said}`, `message ${said}`, act.mode)
      case 'say at once':
        said += 1
        return Promise.all(Array.from({ length: 4 }, () => send(`m${said}`, `message ${said}`)))
      case 'repeat':
        return said > 0 && send(`m${said}`, `message ${said}`)
      case 'decide': {
        const [approval] = (await session().view()).approvals
        return approval && session().decide(approval, act.decision)
      }
      case 'pass':
        return pause(act.ms)
      case 'cancel':
        return session().cancel()
      case 'reset':
        return session().reset()
      case 'reopen':
        await runtime.close()
        runtime = await start()
        return
      case 'kill':
        await kill()
        runtime = await start()
        return
      case 'race': {
        await kill()
        const started = await Promise.allSettled([start(), start(), start()])
        const [winner, ...others] = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
        expect(others).toEqual([])
        for (const one of started) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'locked' })
        runtime = winner!
        return
      }
      case 'damage the log':
        await kill()
        if (statSync(join(folder, 'statecast.db-wal')).size > 0) await damaged('statecast.db-wal', act.endOf)
        runtime = await start()
        return
      case 'damage the database':
        await runtime.close()
        await damaged('statecast.db', act.endOf)
        runtime = await start()
    }
  }

  return {
    paid,
    get runtime() {
      return runtime
    },
    session,
    accepted,
    expectAllAccepted,
    perform: (act: Act) =>
      perform(act).catch((error: unknown) => {
        if (!isRuntimeError(error) || !refusals.includes(error.code)) throw error
      }),
    async comeToRest() {
      for (let round = 0; round < 1_000; round += 1) {
        const { state, approvals, queued } = await session().view()
        if (state === 'awaiting-input' && queued.length === 0) return
        for (const approval of approvals) await session().decide(approval, 'deny')
        await pause(2)
      }
      throw new Error('it does not come to an end')
    },
    reopen: () => perform({ do: 'reopen' }),
    close: () => runtime.close(),
  }
}

/** @param url of the test file */
export const anyOrderOnDisk = async (url: string): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      const told = await aConversation()
      try {
        for (const act of list) await told.perform(act)
        if (told.accepted.size === 0) return
        await told.comeToRest()
        await told.reopen()

        await told.expectAllAccepted()
        const { runtime } = told
        await expectEndedOnce({ runtime, main: told.session() } as Story)
        expect(new Set(told.paid).size).toBe(told.paid.length)
        expectPaired(await told.session().history())
        expect((await runtime.replay(told.session().address)).difference).toBeUndefined()
      } finally {
        await told.close()
      }
    }),
    casesOf(url, { endOnFailure: true }),
  )
}
