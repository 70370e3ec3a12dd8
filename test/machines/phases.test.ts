/** The phases of a turn are seams: each can be taken out, and is tested without the others. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { turnMachine } from '../../src/machines/turn/turn.machine.ts'
import { isPure } from '../tidy/layers.ts'
import { importsIn, reachableFrom, repository, resolveImport, textOf } from '../tidy/sources.ts'
import { titlesOfTests } from '../tidy/titles.ts'

/** Each phase: where it is, where it is tested, and which other phases it is made of. */
const phases: Record<string, { source: string; test: string; of?: string[] }> = {
  'admission and the queue': { source: 'machines/session/collect.rules', test: 'machines/session/collect.rules' },
  'durable notes': { source: 'machines/turn/memory-flush.rules', test: 'machines/turn/turn.machine' },
  'what a message asks for': {
    source: 'chat/directives/directives.rules',
    test: 'chat/directives/directives.rules',
    of: ['admission and the queue'],
  },
  execution: { source: 'machines/loop/loop.machine', test: 'machines/loop/loop.machine', of: ['execution of a tool', 'fallback'] },
  'execution of a tool': { source: 'machines/tool-call/tool.machine', test: 'machines/tool-call/tool.machine' },
  fallback: { source: 'models/fallback.rules', test: 'models/fallback.rules' },
  'the texts of an answer': { source: 'chat/delivery/settings.rules', test: 'chat/delivery/settings.rules' },
  decoration: { source: 'chat/delivery/decorate.rules', test: 'chat/delivery/decorate.rules', of: ['the usage line'] },
  'the usage line': { source: 'chat/delivery/usage-line.rules', test: 'chat/delivery/usage-line.rules' },
  // The whole answer is rendered as well: src/chat/delivery/render.rules.ts.
  'blocks while the model speaks': {
    source: 'chat/delivery/delivery.machine',
    test: 'chat/delivery/delivery.machine',
    of: ['decoration', 'where blocks end', 'what an answer points at'],
  },
  'the messages of an answer, one after the other': {
    source: 'chat/delivery/dispatcher.machine',
    test: 'chat/delivery/dispatcher.machine',
    of: ['decoration', 'where blocks end', 'small blocks wait', 'what an answer points at'],
  },
  'where blocks end': { source: 'chat/delivery/chunker.rules', test: 'chat/delivery/chunker.rules' },
  'small blocks wait': { source: 'chat/delivery/coalescer.rules', test: 'chat/delivery/coalescer.rules' },
  'what an answer points at': { source: 'chat/delivery/threading.rules', test: 'chat/delivery/threading.rules' },
  typing: { source: 'chat/delivery/typing.machine', test: 'chat/delivery/typing.machine' },
  'what a session keeps': { source: 'machines/session/record.rules', test: 'machines/session/record.rules' },
  'costs and tokens': { source: 'machines/loop/cost.rules', test: 'machines/loop/cost.rules' },
}
const sourceOf = (phase: string): string => `src/${phases[phase]!.source}.ts`
const testOf = (phase: string): string => `test/${phases[phase]!.test}.test.ts`
const names = Object.keys(phases)
/** What is not pure: where anything goes on that a phase could lean on. Contracts, the test kit's chance and the names that charts share act on nothing. */
const impure = (file: string): boolean =>
  file.startsWith('src/') && !isPure(file) && !/^src\/(?:contracts|testing)\/|^src\/actors\/not-provided\.setup\.ts$/.test(file)

/** What a file needs in order to run: its types come from anywhere. */
const needsOf = (file: string, seen = new Set<string>()): Set<string> => {
  for (const { path, typeOnly } of importsIn(textOf(file))) {
    const target = typeOnly ? undefined : resolveImport(file, path)
    if (target === undefined || seen.has(target)) continue
    seen.add(target)
    needsOf(target, seen)
  }
  return seen
}

test.each(names)('[OC-03] %s stands by itself: it needs nothing that is not pure, and no other phase but those that it is made of', (phase) => {
  const needs = [...needsOf(sourceOf(phase))]
  const others = names.filter((other) => other !== phase && needs.includes(sourceOf(other)))

  expect(needs.filter(impure)).toEqual([])
  expect(others.filter((other) => !parts(phase).has(other))).toEqual([])
})

/** Those that a phase is made of, and theirs. */
const parts = (phase: string): Set<string> => new Set((phases[phase]!.of ?? []).flatMap((part) => [part, ...parts(part)]))

test.each(names)('[OC-03] %s has tests of its own, which run it without a session, a store or a runtime', (phase) => {
  expect(existsSync(join(repository, testOf(phase)))).toBe(true)
  const needed = importsIn(textOf(testOf(phase))).flatMap(({ path }) => resolveImport(testOf(phase), path) ?? [])

  expect(titlesOfTests(textOf(testOf(phase))).length).toBeGreaterThan(0)
  expect(reachableFrom([testOf(phase)])).toContain(sourceOf(phase))
  expect(needed.filter(impure)).toEqual([])
})

test('[OC-03] the chart of a turn names its phases, and what goes on in them are actors that a test can replace', () => {
  expect(Object.keys(turnMachine.states)).toEqual([
    'admission',
    'waiting',
    'flushing',
    'understanding',
    'understood',
    'running',
    'finalising',
    'delivering',
    'completed',
    'failed',
    'cancelled',
  ])
  expect(Object.keys(turnMachine.implementations.actors).sort()).toEqual(['lane', 'loop', 'publisher', 'understanding'])
})
