/** The phases of a turn are seams: each can be taken out, and is tested without the others. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { turnMachine } from '../../src/machines/turn.machine.ts'
import { importsIn, reachableFrom, repository, resolveImport, textOf } from '../tidy/sources.ts'
import { titlesOfTests } from '../tidy/titles.ts'

/** Each phase: where it is, where it is tested, and which other phases it is made of. */
const phases: Record<string, { source: string; test: string; of?: string[] }> = {
  'admission and the queue': { source: 'rules/queue', test: 'rules/queue' },
  'durable notes': { source: 'rules/memory-flush', test: 'machines/turn.machine' },
  'what a message asks for': { source: 'rules/directives', test: 'rules/directives', of: ['admission and the queue'] },
  // A message of a tool is shaped as every other text is: src/rules/shape.ts.
  execution: {
    source: 'machines/loop.machine',
    test: 'machines/loop.machine',
    of: ['execution of a tool', 'fallback', 'decoration', 'where blocks end', 'what an answer points at'],
  },
  'execution of a tool': { source: 'machines/tool.machine', test: 'machines/tool.machine' },
  fallback: { source: 'rules/fallback', test: 'rules/fallback' },
  'the texts of an answer': { source: 'rules/delivery', test: 'rules/delivery' },
  decoration: { source: 'rules/decorate', test: 'rules/decorate', of: ['the usage line'] },
  'the usage line': { source: 'rules/usage-line', test: 'rules/usage-line' },
  'blocks while the model speaks': { source: 'machines/stream.machine', test: 'machines/stream.machine' },
  'where blocks end': { source: 'rules/chunker', test: 'rules/chunker' },
  'small blocks wait': { source: 'rules/coalescer', test: 'rules/coalescer' },
  'what an answer points at': { source: 'rules/threading', test: 'rules/threading' },
  typing: { source: 'machines/typing.machine', test: 'machines/typing.machine' },
  'what a session keeps': { source: 'machines/session.record', test: 'machines/session.record' },
  'costs and tokens': { source: 'rules/cost', test: 'rules/cost' },
}
const sourceOf = (phase: string): string => `src/${phases[phase]!.source}.ts`
const testOf = (phase: string): string => `test/${phases[phase]!.test}.test.ts`
const names = Object.keys(phases)
/** What is not pure: where anything goes on that a phase could lean on. */
const impure = /^src\/(?:actors|transport|models|tools|runtime|gateway|cli|channels)\b|^src\/(?:runtime|environment|index)\.ts$/

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

  expect(needs.filter((path) => impure.test(path))).toEqual([])
  expect(others.filter((other) => !parts(phase).has(other))).toEqual([])
})

/** Those that a phase is made of, and theirs. */
const parts = (phase: string): Set<string> => new Set((phases[phase]!.of ?? []).flatMap((part) => [part, ...parts(part)]))

test.each(names)('[OC-03] %s has tests of its own, which run it without a session, a store or a runtime', (phase) => {
  expect(existsSync(join(repository, testOf(phase)))).toBe(true)
  const needed = importsIn(textOf(testOf(phase))).flatMap(({ path }) => resolveImport(testOf(phase), path) ?? [])

  expect(titlesOfTests(textOf(testOf(phase))).length).toBeGreaterThan(0)
  expect(reachableFrom([testOf(phase)])).toContain(sourceOf(phase))
  expect(needed.filter((path) => impure.test(path))).toEqual([])
})

test('[OC-03] the chart of a turn names its phases, and what goes on in them are actors that a test can replace', () => {
  expect(Object.keys(turnMachine.states)).toEqual([
    'admission',
    'waiting',
    'flushing',
    'running',
    'finalising',
    'delivering',
    'completed',
    'failed',
    'cancelled',
  ])
  expect(Object.keys(turnMachine.implementations.actors).sort()).toEqual(['lane', 'loop', 'stream'])
})
