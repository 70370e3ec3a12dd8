/** Exports that no other file asks for: what is for its own file alone says so by not being exported. */
import { filesUnder, importsIn, resolveImport, textOf, withoutComments } from './sources.ts'

/** Exports that nobody imports on purpose, each with the reason. */
export const kept: Record<string, string> = {}

const declaration = /(?<=^|\n)export (?:declare |abstract |async )*(?:const|let|function\*?|class|type|interface) ([\w$]+)/g

/** The names that a source text declares and exports. */
export const exportsIn = (text: string): string[] => [...new Set([...withoutComments(text).matchAll(declaration)].map(([, name = '']) => name))]

/** `file: name` for every export of `sources` that none of the other files that import its file mentions; a door and what runs by itself are read by others. */
export const unusedExports = (sources: readonly string[], readers: readonly string[], read = textOf): string[] => {
  /** By file, the texts of those that import it. */
  const texts = new Map<string, string[]>()
  for (const reader of readers) {
    const text = withoutComments(read(reader))
    for (const { path } of importsIn(text)) {
      const target = resolveImport(reader, path)
      if (target !== undefined && target !== reader) texts.set(target, [...(texts.get(target) ?? []), text])
    }
  }
  const isMentioned = (file: string, name: string): boolean => (texts.get(file) ?? []).some((text) => text.split(/[^\w$]+/).includes(name))
  return sources.flatMap((file) => exportsIn(read(file)).flatMap((name) => (isMentioned(file, name) ? [] : [`${file}: ${name}`])))
}

const entries = new Set(['src/index.ts', 'src/client.ts', 'src/client.browser.ts', 'src/nats.ts', 'src/testing/index.ts'])

export const unusedExportsOfOurs = (): string[] => {
  const ts = (folder: string) => filesUnder(folder).filter((file) => file.endsWith('.ts'))
  const sources = ts('src')
  const readers = [...sources, ...['test', 'bench', 'scripts', 'examples'].flatMap(ts)]
  return unusedExports(
    sources.filter((file) => !file.endsWith('/index.ts') && !entries.has(file)),
    readers,
  )
}
