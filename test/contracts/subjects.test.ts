/** What an id from outside may do to a subject: nothing. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  escapeBytes,
  escapeToken,
  formatAddress,
  maxIdBytes,
  parseAddress,
  shownAddress,
  subjects,
  unescapeBytes,
  unescapeToken,
} from '../../src/contracts/subjects.ts'
import { casesOf } from '../support/property.ts'

/** Any text, low bytes, wildcards and our own escape sign above all. */
const character = fc.oneof(
  fc.integer({ min: 0, max: 0x1f }).map((code) => String.fromCharCode(code)),
  fc.constantFrom('.', '*', '>', ' ', '=', '/', '\x7f', '\u0085', '=0A', '=41', 'a', 'Z', '9'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const ids = fc.array(character, { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''))
const tokens = fc
  .array(fc.constantFrom('=', '0', '1', '4', 'a', 'A', 'C', 'c', 'F', 'f', '3', '8', 'é'), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''))
test('any bytes that were escaped come back as the text that Node reads in them', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(Uint8Array.of(0xef, 0xbb, 0xbf, 65))), (bytes) => {
      expect(unescapeBytes(escapeBytes(bytes, /^[A-Za-z0-9]$/))).toBe(Buffer.from(bytes).toString('utf8'))
    }),
    casesOf(import.meta.url),
  )
})

const refusal = expect.objectContaining({ code: 'bad_request' })

describe('an id', () => {
  test('[BAD-ID-DOT, BAD-ID-WILDCARD, BAD-ID-NUL] becomes one plain token, and comes back as it was', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const token = escapeToken(id)
        expect(token).toMatch(/^(?:[A-Za-z0-9_:-]|=[0-9A-F]{2})+$/)
        expect(unescapeToken(token)).toBe(id)
      }),
      casesOf(import.meta.url),
    )
  })

  test('each low byte has two digits, so that what follows it is not taken for one', () => {
    for (let code = 0; code < 0x20; code++)
      for (const after of ['', '0', 'A', 'F']) {
        const id = String.fromCharCode(code) + after
        expect(escapeToken(id)).toBe(`=${code.toString(16).toUpperCase().padStart(2, '0')}${after}`)
        expect(unescapeToken(escapeToken(id))).toBe(id)
      }
  })

  test('two ids never share a token, and one id never has two', () => {
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(ids, (id) => {
        const token = escapeToken(id)
        expect(seen.get(token) ?? id).toBe(id)
        seen.set(token, id)
      }),
      casesOf(import.meta.url),
    )
    fc.assert(
      fc.property(tokens, (token) => {
        let id: string
        try {
          id = unescapeToken(token)
        } catch (error) {
          expect(error).toEqual(refusal)
          return
        }
        expect(escapeToken(id)).toBe(token)
      }),
      casesOf(import.meta.url),
    )
  })

  test.each(['=41', '=2D', '=0a', '=C3', '=FF', '=ED=A0=80', 'a=', '=4', 'a.b', '*', '>', 'é', ''])('%j is no spelling of any', (token) => {
    expect(() => unescapeToken(token)).toThrow(refusal)
  })

  test('[BAD-ID-EMPTY, BAD-ID-LONG] that is empty, longer than its bytes may be, or no text is refused', () => {
    expect(escapeToken('é'.repeat(maxIdBytes / 2))).toHaveLength((maxIdBytes / 2) * 6)
    expect(() => escapeToken('é'.repeat(maxIdBytes / 2 + 1))).toThrow(expect.objectContaining({ code: 'too_large' }))
    expect(() => escapeToken('a'.repeat(maxIdBytes + 1))).toThrow(expect.objectContaining({ code: 'too_large' }))
    for (const id of ['', '\ud800', 'a\udc00b']) expect(() => escapeToken(id)).toThrow(refusal)
  })
})

test('an address is read back from how it is written and from every subject that names it, whatever its id', () => {
  for (const prefix of ['statecast', 'a.b']) {
    const names = subjects(prefix)
    fc.assert(
      fc.property(ids, (id) => {
        const address = { kind: 'session', id }
        expect(parseAddress(formatAddress(address))).toEqual(address)
        for (const subject of [names.in(address), names.out(address, 'final'), names.inspect(address), names.journal(address)]) {
          expect(names.address(subject)).toEqual(address)
          expect(subject).toMatch(/^[A-Za-z0-9_:=.-]+$/)
        }
        expect(names.in(address).split('.')).toHaveLength(prefix.split('.').length + 3)
      }),
      casesOf(import.meta.url, { numRuns: 300 }),
    )
  }
})

test('people are shown an address as they write it; what would be read as another one is escaped', () => {
  expect(shownAddress({ kind: 'order', id: 'no 1/"x" =' })).toBe('order/no 1/"x" =')
  expect(shownAddress({ kind: 'session', id: 'agent:main:web' })).toBe('session/agent:main:web')
  expect(shownAddress({ kind: 'order', id: 'a=2Fb' })).toBe('order/a=3D2Fb')
})
