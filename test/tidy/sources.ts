/** Reads the repository's own files for the tidy test. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../..', import.meta.url))
const generated = new Set(['node_modules', 'dist', '.git', '.statecast', 'coverage'])

/** Paths below a folder, from the repository's root with `/`, sorted; none when the folder does not exist. */
export const filesUnder = (folder: string): string[] => {
  const root = join(repository, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(repository, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => generated.has(part)))
    .sort()
}

export const textOf = (path: string): string => readFileSync(join(repository, path), 'utf8')

/** The text with comments blanked, lines kept; strings stay. Good enough to search in, not to compile. */
export const withoutComments = (text: string): string =>
  text.replace(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`)|\/\/.*|\/\*[\s\S]*?\*\//g, (all, string: string | undefined) =>
    string === undefined ? all.replace(/[^\n]/g, ' ') : string,
  )

// Clauses hold nothing but names, braces, commas and stars, so no other text can be taken for one.
const statements = [
  /(?<=^|\n)\s*import\s+(?<type>type\s)?[\w$*{},\s]+?\sfrom\s*['"](?<path>[^'"\n]+)['"]/g,
  /(?<=^|\n)\s*export\s+(?<type>type\s)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*['"](?<path>[^'"\n]+)['"]/g,
  /(?<=^|\n)\s*import\s*['"](?<path>[^'"\n]+)['"]/g,
  /\bimport\s*\(\s*['"](?<path>[^'"\n]+)['"]/g,
  // How a worker or a child process is named, also where the source chooses between itself and its build.
  /new\s+URL\((?:[^,\n]*\?)?\s*['"](?<path>\.[^'"\n]+)['"][^,\n]*,\s*import\.meta\.url/g,
]

export type Import = { path: string; typeOnly: boolean }

/** What a source text imports, loads lazily or starts as a worker. */
export const importsIn = (text: string): Import[] => {
  const code = withoutComments(text)
  return statements.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(({ groups }) => ({ path: groups?.path ?? '', typeOnly: groups?.type !== undefined })),
  )
}

/** The file that a relative import in `from` means, as a path from the repository; undefined for a package. */
export const resolveImport = (from: string, path: string): string | undefined =>
  path.startsWith('.')
    ? relative(repository, resolve(repository, dirname(from), path))
        .split(sep)
        .join('/')
    : undefined

/** Read once a process: several rules ask for what a file leads to. */
const importedBy = new Map<string, string[]>()
const importedFiles = (file: string): string[] => {
  const known = importedBy.get(file)
  if (known) return known
  const found = existsSync(join(repository, file)) ? importsIn(textOf(file)).flatMap(({ path }) => resolveImport(file, path) ?? []) : []
  const files = found.filter((path) => path.endsWith('.ts'))
  importedBy.set(file, files)
  return files
}

/** Everything that the entry files lead to, themselves included. @param within folders to stay in, such as `test/` */
export const reachableFrom = (entries: string[], within = ''): Set<string> => {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file) || !file.startsWith(within) || !existsSync(join(repository, file))) return
    seen.add(file)
    importedFiles(file).forEach(visit)
  }
  entries.forEach(visit)
  return seen
}

/** `path:line: text` for every line of code that matches. */
export const linesMatching = (files: string[], pattern: RegExp, { comments = false } = {}): string[] =>
  files.flatMap((file) => {
    const text = textOf(file)
    return (comments ? text : withoutComments(text))
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : []))
  })
