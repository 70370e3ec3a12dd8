/** What there is to look up in a message. */
import { expect, test } from 'vitest'
import { defaultProfile } from '../../../src/contracts/profile.ts'
import { linksIn, plansOf, unreadIn } from '../../../src/machines/understanding/items.rules.ts'

test.each<[text: string, links: string[]]>([
  ['nothing here', []],
  ['see https://a.example/x.', ['https://a.example/x']],
  ['(https://a.example/x)', ['https://a.example/x']],
  ['https://a.example/wiki/Tea_(drink)', ['https://a.example/wiki/Tea_(drink)']],
  ['<https://a.example/x>, "https://b.example/"', ['https://a.example/x', 'https://b.example/']],
  ['https://a.example/x#one https://a.example/x#two', ['https://a.example/x']],
  ['HTTPS://A.example', ['https://a.example/']],
  ['1 https://a.b/1 2 https://a.b/2 3 https://a.b/3 4 https://a.b/4', ['https://a.b/1', 'https://a.b/2', 'https://a.b/3']],
  ['[text](https://a.example/x) and ![image](https://a.example/y.png) and [https://a.example/z](https://a.example/z)', []],
  ['ftp://a.example xhttp://a.example http:// https://', []],
  ['http://localhost/ http://a.localhost:3000/ http://127.1/ http://[::1]/ http://0.0.0.0/ http://[::ffff:127.0.0.1]/ http://2130706433/', []],
  [`https://a.example/${'x'.repeat(3000)}`, []],
])('[CH-21] of %s these are looked up: %j', (text, links) => {
  expect(linksIn(text)).toEqual(links)
})

test('a place of this machine that is allowed is looked up', () => {
  expect(linksIn('http://127.0.0.1:8000/a http://127.0.0.1:8001/b', ['127.0.0.1:8000'])).toEqual(['http://127.0.0.1:8000/a'])
})

const file = (mimeType: string) => ({ id: 'f'.repeat(64), mimeType, bytes: 1, fileName: 'f' })
const message = (text: string, ...types: string[]) => ({
  id: 'm1',
  text,
  files: types.map(file),
  annotations: { origin: { channel: 'web', to: 'x' } },
})
const profile = (understanding: object) => ({ ...defaultProfile, agent: 'main', model: 't/m', understanding })

test('[CH-20] what nobody is configured for is not looked at', () => {
  const both = message('https://a.example/', 'image/png', 'audio/wav', 'text/plain')

  expect(unreadIn(both, { ...profile({}), understanding: undefined })).toBeUndefined()
  expect(unreadIn(both, profile({ video: ['v'] }))).toBeUndefined()
  expect(unreadIn(both, profile({ image: ['v'] }))?.items.map(({ kind }) => kind)).toEqual(['image'])
  expect(unreadIn(both, profile({ links: ['read'], audio: ['a'] }))?.items.map(({ kind }) => kind)).toEqual(['audio', 'link'])
})

test('[CH-20] only a recording that is all of its message may be an order', () => {
  const asked = profile({ audio: ['a'], image: ['i'] })
  const spoken = [
    message('', 'audio/wav'),
    message(' \n', 'audio/wav'),
    message('hear', 'audio/wav'),
    message('', 'audio/wav', 'audio/ogg'),
    message('', 'image/png'),
  ]

  expect(spoken.map((one) => unreadIn(one, asked)?.annotations !== undefined)).toEqual([true, true, false, false, false])
})

test('[CH-20] and none that is said together with other messages', () => {
  const unread = unreadIn(message('', 'audio/wav'), profile({ audio: ['a'] }))!
  const at = { session: 's', runId: 'r', agent: 'main', candidates: { audio: ['a'] } }

  expect(plansOf({ ...at, unread: [unread] }).map(({ annotations }) => annotations !== undefined)).toEqual([true])
  expect(plansOf({ ...at, unread: [unread, { ...unread, id: 'm2' }] }).map(({ annotations, id }) => [annotations !== undefined, id])).toEqual([
    [false, 'm1:lookup-0'],
    [false, 'm2:lookup-0'],
  ])
})
