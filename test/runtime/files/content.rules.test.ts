import { expect, test } from 'vitest'
import { cleanFileName, decodedContent } from '../../../src/runtime/files/content.rules.ts'
import { sniff } from '../../../src/runtime/files/sniff.rules.ts'

const bytes = (...values: number[]) => new Uint8Array(values)
const text = (value: string) => new TextEncoder().encode(value)

test('what a file is stands in its content', () => {
  expect(sniff(bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), 'text/html')).toBe('image/png')
  expect(sniff(bytes(0xff, 0xd8, 0xff, 0xe0))).toBe('image/jpeg')
  expect(sniff(text('GIF89a…'))).toBe('image/gif')
  expect(sniff(text('RIFF1234WEBPVP8 '))).toBe('image/webp')
  expect(sniff(text('%PDF-1.7'))).toBe('application/pdf')
  expect(sniff(text('a,b'), 'text/csv; charset=utf-8')).toBe('text/csv')
  expect(sniff(text('<svg/>'), 'image/svg+xml')).toBe('text/plain')
  expect(sniff(text('\u001b[31mred\u001b[0m\r\n\ttab'))).toBe('text/plain')
  expect(sniff(text('a\0b'))).toBeUndefined()
  expect(sniff(bytes(0xff, 0xfe, 0x41, 0))).toBeUndefined()
})

test('base64 comes with and without padding, line ends and the prefix of a data URL', () => {
  const said = (content: string) => new TextDecoder().decode(decodedContent(content, 'content').bytes)

  expect([said('aGVsbG8='), said('aGVsbG8'), said('aGVs\r\nbG8='), said('data:text/plain;charset=utf-8;base64,aGVsbG8=')]).toEqual(
    Array(4).fill('hello'),
  )
  expect(decodedContent('data:image/png;base64,aGVsbG8=', 'content').mimeType).toBe('image/png')
  for (const wrong of ['aGVsbG8-', 'aGVsb', 'aGVsbG8==', '=', 'data:,x'])
    expect(() => decodedContent(wrong, 'content')).toThrow(expect.objectContaining({ code: 'bad_request', field: 'content' }))
})

test('no name leads anywhere, ends a line or turns the direction of writing', () => {
  expect(cleanFileName('/etc/../passwd', 'text/plain')).toBe('passwd')
  expect(cleanFileName('a\u202Egnp.exe\u0000\r\n', '')).toBe('agnp.exe')
  expect(cleanFileName(' .. ', 'image/png')).toBe('file.png')
  expect(cleanFileName(undefined, 'application/pdf')).toBe('file.pdf')
  expect(cleanFileName('Übersicht 2026 (3).md', '')).toBe('Übersicht 2026 (3).md')
  expect(cleanFileName(`${'x'.repeat(199)}😀`, '')).toBe('x'.repeat(199))
})
