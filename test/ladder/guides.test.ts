/** The first program of each guide of the ladder runs as it stands, ends by itself, and prints what its comments say. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { textOf } from '../tidy/sources.ts'

const root = join(import.meta.dirname, '../..')
const prints: Readonly<Record<string, string>> = {
  'agent-runs': 'Danube 0 completed',
  workflows: "parcel fulfil/o-17/ship#1 [ 'charge completed', 'tell completed', 'ship completed' ]",
  supervisors: 'Bees dance to tell where flowers are. evaluate',
  orchestrators: "0 { questions: 1, answer: 'Within 14 days.' }",
  schedules: 'T0',
  'planner-and-batch': "{ train: { leaves: '8:12' }, seen: 'The minster.' }",
}
const blocks = (guide: string): string[] => [...textOf(`docs/guides/${guide}.md`).matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
/** The one about tests stands beside the first ones. */
const programs = [...Object.keys(prints).map((guide) => [guide, blocks(guide)[0] ?? '']), ['in tests', blocks('workflows').at(-1) ?? '']] as const

test('they run one after the other in an empty folder, without a key', async () => {
  // Inside of the repository, so that zod is found; as JavaScript, as types are not stripped below node_modules.
  const folder = mkdtempSync(join(root, 'node_modules', '.guides-'))
  const sources = { 'statecast/ladder': 'src/ladder.ts', 'statecast/testing': 'src/testing/index.ts', statecast: 'src/index.ts' }
  try {
    for (const [guide, code] of programs) {
      const pointed = Object.entries(sources).reduce(
        (text, [name, file]) => text.replaceAll(`'${name}'`, JSON.stringify(pathToFileURL(join(root, file)).href)),
        code,
      )
      writeFileSync(join(folder, `${guide}.mjs`), pointed)
    }
    const all = programs
      .map(([guide]) => `console.log(${JSON.stringify(`# ${guide}`)}); await import(${JSON.stringify(`./${guide}.mjs`)})`)
      .join('\n')
    writeFileSync(join(folder, 'main.mjs'), all)

    const { stdout } = await promisify(execFile)(process.execPath, ['main.mjs'], {
      cwd: folder,
      env: { ...process.env, STATECAST_MODEL: 'scripted/offline' },
    })

    const said = Object.fromEntries(
      stdout
        .split(/^# /m)
        .slice(1)
        .map((part) => [part.slice(0, part.indexOf('\n')), part]),
    )
    for (const [guide, words] of Object.entries({ ...prints, 'in tests': 'sent' })) expect(said[guide]).toContain(words)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
