/** Which subjects may be published and subscribed to. Stricter than a NATS server, which accepts wildcards and NUL in a published subject. */
import { RuntimeError } from '../contracts/errors.ts'
import { subjectCharactersMax } from './limits.ts'

const literal = /^[^\s\p{C}.*>]+(?:\.[^\s\p{C}.*>]+)*$/u
const withWildcards = /^(?:(?:\*|[^\s\p{C}.*>]+)\.)*(?:\*|>|[^\s\p{C}.*>]+)$/u

const refuse = (subject: unknown, noun: string): RuntimeError =>
  new RuntimeError('bad_request', `'${String(subject).slice(0, 120)}' is not a ${noun}`, {
    field: 'subject',
    hint: `write tokens joined by dots, without spaces or control characters, at most ${subjectCharactersMax} characters`,
  })

/** @throws RuntimeError bad_request */
export const checkSubject = (subject: string): string => {
  if (typeof subject === 'string' && subject.length <= subjectCharactersMax && literal.test(subject)) return subject
  throw refuse(subject, 'subject that can be published to')
}

/** `*` stands for one token, a final `>` for one or more. @throws RuntimeError bad_request */
export const checkPattern = (pattern: string): string => {
  if (typeof pattern === 'string' && pattern.length <= subjectCharactersMax && withWildcards.test(pattern)) return pattern
  throw refuse(pattern, 'pattern')
}

/** A test for one pattern; for many patterns at once use the trie. */
export const subjectMatcher = (pattern: string): ((subject: string) => boolean) => {
  const wanted = checkPattern(pattern).split('.')
  return (subject) => {
    const tokens = subject.split('.')
    for (const [index, token] of wanted.entries()) {
      if (token === '>') return tokens.length > index
      if (tokens[index] === undefined || (token !== '*' && token !== tokens[index])) return false
    }
    return tokens.length === wanted.length
  }
}
