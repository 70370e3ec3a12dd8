/** What a root remembers of its own journal. */
import { expect, test } from 'vitest'
import { advance, beginFork, claimWord, emptyLedger, persistLedger, recentMax, reviveLedger } from '../../../src/actors/journal/ledger.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { Commit, Input } from '../../../src/contracts/journal.ts'

const commit = (seq: number, part: Partial<Commit>): Commit => ({
  v: 1,
  address: 'm/one',
  seq,
  epoch: 1,
  writer: 'w',
  at: 0,
  prev: 0,
  inputs: [],
  states: {},
  digest: 0,
  ...part,
})
const message = (id: string, renews?: string): Input => ({ to: '/', event: { type: 'say' }, id, ...(renews ? { renews } : {}) })

test('[INV-1] a message that was refused and then accepted is remembered from its acceptance on, under the id that its sender knows', () => {
  const ledger = emptyLedger()
  const full = new RuntimeError('overloaded', 'full').toJSON()
  advance(ledger, commit(1, { refused: [{ input: message('late'), error: full }] }), 0)
  for (let seq = 2; seq < recentMax; seq++) advance(ledger, commit(seq, { inputs: [message(`m${seq}`)] }), 0)
  advance(ledger, commit(recentMax, { inputs: [message('refused at 1: late', 'late')] }), 0)
  for (let seq = 1; seq < recentMax - 2; seq++) advance(ledger, commit(recentMax + seq, { inputs: [message(`n${seq}`)] }), 0)

  expect(ledger.recent.get('late')).toEqual({ seq: recentMax, at: 0 })
  expect(ledger.recent.size).toBe(recentMax)
})

test('hosts that take over and get no further are counted, until somebody does, or leaves in good order', () => {
  const ledger = emptyLedger()
  const seen: number[] = []
  const claim = { claim: true as const }
  advance(ledger, commit(1, {}), 0)
  for (const [index, part] of [
    claim,
    claim,
    { inputs: [message('a')] },
    claim,
    { released: true as const },
    claim,
    claim,
    { ...claim, revived: true as const },
  ].entries()) {
    advance(ledger, commit(index + 2, part), 0)
    seen.push(ledger.takeovers)
  }

  expect(seen).toEqual([1, 2, 0, 1, 0, 1, 2, 0])
})

test('a fork begins its own count: neither the takeovers of what it shares nor its first commit are in it', () => {
  const claim = { claim: true as const }
  const past = emptyLedger()
  for (const [index, part] of [{}, claim, claim, claim].entries()) advance(past, commit(index + 1, part), 0)
  beginFork(past)
  const ledger = reviveLedger(persistLedger(past))
  const seen = [past.takeovers, ledger.takeovers]
  for (const seq of [5, 6, 7]) {
    advance(ledger, commit(seq, claim), 0)
    seen.push(ledger.takeovers)
  }

  expect(seen).toEqual([0, 0, 0, 1, 2])
})

test('who claims an actor took it over from another host, has it again, or goes on with the past of another actor', () => {
  const claim = commit(2, { claim: true, epoch: 2 })
  expect(claimWord(claim, commit(1, { writer: 'killed' }))).toBe('taken over')
  expect(claimWord(claim, commit(1, { writer: 'left', released: true }))).toBe('claimed')
  expect(claimWord(claim, commit(1, {}))).toBe('claimed')
  expect(claimWord(claim, commit(1, { address: 'm/origin', writer: 'killed' }))).toBe('forked')
  // Nobody knows who had it before.
  expect(claimWord(claim, undefined)).toBe('taken over')
  expect(claimWord(commit(2, {}), commit(1, {}))).toBeUndefined()
})
