/** Regular expressions of a source, and whether a hostile text can make one slow. */
import { analyse } from 'scslre'
import { parseAst } from 'vitest/node'
import { scan } from './scans.ts'

type Found = { line: number; source: string; flags: string }

/** Literals, and `new RegExp(…)`, whose source cannot be judged. */
export const patternsIn = (text: string): { literals: Found[]; made: number[] } => {
  const literals: Found[] = []
  const made: number[] = []
  const lineAt = (at: number) => text.slice(0, at).split('\n').length
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, regex, callee } = node as {
      type?: string
      start?: number
      regex?: { pattern: string; flags: string }
      callee?: { name?: string }
    }
    if (regex) literals.push({ line: lineAt(start ?? 0), source: regex.pattern, flags: regex.flags })
    else {
      if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp') made.push(lineAt(start ?? 0))
      for (const part of Object.values(node)) visit(part)
    }
  }
  visit(parseAst(text, { lang: 'ts' }).body)
  return { literals, made }
}

/** Why matching can take more than linear time; undefined where it cannot. */
export const slowness = ({ source, flags }: Pick<Found, 'source' | 'flags'>): string | undefined => {
  const [report] = analyse({ source, flags }).reports
  if (report === undefined) {
    const again = scan({ source, flags })
    return again === undefined ? undefined : `reads what '${again}' has read again from each place in it where the pattern may begin`
  }
  return report.type === 'Move' ? 'begins anew at each place of a run that it has read before' : 'can share a run between two parts in many ways'
}
