/** Prints as JSON which packages importing some files loads: `node test/support/loaded-packages.ts src/index.ts …`. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const packages = new Set<string>()
registerHooks({
  load(url, context, next) {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
    if (name !== undefined) packages.add(name)
    return next(url, context)
  },
})
for (const file of process.argv.slice(2)) await import(pathToFileURL(join(import.meta.dirname, '../..', file)).href)
console.log(JSON.stringify([...packages].sort()))
