/**
 * The tarball in an empty TypeScript project, as `npm install` puts it together from the registry: with the oldest version of everything
 * that package.json allows, with the newest, or with what lies between. One run covers one of the three.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startAnthropicServer } from './support/anthropic-server.ts'
import { startOpenAiServer } from './support/openai-server.ts'
import { codeIn, type Packed, pack, removeFolder, runIn } from './support/package.ts'
import { choosePart } from './support/share.ts'
import { textOf } from './tidy/sources.ts'

vi.setConfig({ testTimeout: 300_000 })

let packed: Packed
beforeAll(async () => void (packed = await pack()), 300_000)
afterAll(() => removeFolder(packed.folder))

const { peerDependencies: peers } = JSON.parse(textOf('package.json')) as { peerDependencies: Record<string, string> }
/** `^1.0.0 || ^2.0.0` is two ranges. */
const rangesOf = (name: string): string[] => peers[name]!.split(' || ')
const lowest = (name: string): string => `${name}@${rangesOf(name)[0]!.slice(1)}`
const highest = (name: string): string => `${name}@${rangesOf(name).at(-1)!}`
const names = Object.keys(peers)
const sdks = names.filter((name) => name.startsWith('@ai-sdk/'))

const cases: [string, string[]][] = [
  ['the oldest of everything that we allow, and TypeScript 5', [...names.map(lowest), 'typescript@5.9']],
  [
    'the newest that we allow, with the AI SDK between',
    [...names.filter((name) => !sdks.includes(name)).map(highest), ...sdks.map((name) => `${name}@${rangesOf(name)[1]!}`), 'typescript@6'],
  ],
  ['the newest of everything that we allow', [...names.map(highest), 'typescript@7']],
]

/** What a user writes who brings a model of an SDK along: it must fit our types whichever version it is of. */
const models = `
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { agent, createRuntime } from 'statecast'
import { connect, follow } from 'statecast/client'
import { permissionsOf } from 'statecast/nats'
import { testRuntime } from 'statecast/testing'

const url = process.env.SERVER ?? ''
await using runtime = await createRuntime({
  transport: 'memory:',
  agents: ['a', 'b', 'c'].map((name) => agent({ name, model: \`own/\${name}\`, instructions: 'Be brief.' })),
  models: {
    'own/a': createAnthropic({ apiKey: 'k', baseURL: \`\${process.env.ANTHROPIC}/v1\` })('m'),
    'own/b': createOpenAI({ apiKey: 'k', baseURL: url }).chat('m'),
    'own/c': createOpenAICompatible({ name: 'c', apiKey: 'k', baseURL: url })('m'),
  },
})
for (const name of ['a', 'b', 'c']) {
  const run = await runtime.session(name, { agent: name }).send('what is 6*7?')
  console.log(name, (await run.result()).text)
}
await using virtual = await testRuntime()
console.log(typeof virtual.runtime, typeof permissionsOf, typeof connect, typeof follow)
`

const part = choosePart(import.meta.url, cases.length)

test.each(cases.filter((_, place) => part.includes(place)))(
  '%s: installs without a conflict, type-checks without skipLibCheck, and runs',
  async (_, versions) => {
    const project = join(packed.folder, versions.at(-1)!)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
    const readme = codeIn('README.md')
    for (const [place, code] of readme.entries()) writeFileSync(join(project, `readme-${place}.ts`), code)
    writeFileSync(join(project, 'models.ts'), models)
    for (const [place, code] of codeIn('docs/guides/models.md').entries()) writeFileSync(join(project, `guide-${place}.ts`), code)
    writeFileSync(join(project, 'app.ts'), codeIn('docs/guides/app.md')[0]!)
    // Only what a user cannot leave out: neither `types` nor a `lib` of our wishes.
    for (const [resolution, module] of Object.entries({ nodenext: 'nodenext', bundler: 'esnext' }))
      writeFileSync(
        join(project, `tsconfig.${resolution}.json`),
        JSON.stringify({
          compilerOptions: { strict: true, noEmit: true, skipLibCheck: false, target: 'es2022', module, moduleResolution: resolution },
          include: ['*.ts'],
        }),
      )
    await using openai = Object.assign(await startOpenAiServer({ script: () => ({ text: 'six times seven is 42' }) }), asyncDispose)
    await using anthropic = Object.assign(await startAnthropicServer({ script: [{ text: 'six times seven is 42' }] }), asyncDispose)

    await runIn(project, 'npm', ['install', '--strict-peer-deps', '--prefer-offline', '--no-audit', '--no-fund', packed.tarball, ...versions])
    for (const resolution of ['nodenext', 'bundler'])
      await runIn(project, process.execPath, ['node_modules/typescript/bin/tsc', '-p', `tsconfig.${resolution}.json`])
    const said: string[] = []
    for (const [place] of readme.entries()) said.push(await runIn(project, process.execPath, [`readme-${place}.ts`]))
    const answers = await runIn(project, process.execPath, ['models.ts'], { SERVER: openai.url, ANTHROPIC: anthropic.url })
    const sent = (model: string, env: Record<string, string>) =>
      runIn(
        project,
        process.execPath,
        ['node_modules/statecast/bin/statecast.js', 'send', `by-${model.split('/')[0]}`, 'hello', '--model', model],
        env,
      )

    expect(said.join('')).toContain('add: 42')
    expect(answers.match(/six times seven is 42/g)).toHaveLength(3)
    // The same packages as our own providers use them.
    expect(await sent('anthropic/m', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: anthropic.url })).toContain('six times seven is 42')
    expect(await sent('openai/m', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url })).toContain('six times seven is 42')
    expect(await sent('openai-compatible/m', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url })).toContain('six times seven is 42')
  },
)

const asyncDispose = {
  async [Symbol.asyncDispose](this: { close(): Promise<void> }) {
    await this.close()
  },
}
