import { expect, test } from 'vitest'
import { prometheusText } from '../../../src/api/http/prometheus.rules.ts'
import { parsePrometheus } from '../../support/prometheus.ts'

test('whatever stands in a label or a help comes back as it was', () => {
  const hostile = ['a "quoted" one', 'back\\slash\\n', 'two\nlines', 'x="1",y="2"} 3', '', '\\', 'ünï 🎈', '# HELP x y']
  const samples = hostile.map((model, value) => ({ labels: { model }, value }))

  const text = prometheusText([{ name: 'tokens_total', type: 'counter', help: 'a \\ and\na line', samples }])

  expect(parsePrometheus(text).get('tokens_total')).toEqual({
    type: 'counter',
    help: 'a \\ and\na line',
    series: hostile.map((model, value) => ({ name: 'tokens_total', labels: { model }, value })),
  })
})

test('a distribution is its buckets, all of it, the sum and the count', () => {
  const buckets = [
    [0.1, 1],
    [2.5, 3],
  ] as const
  const text = prometheusText([
    { name: 'took_seconds', type: 'histogram', help: 'time', samples: [{ labels: { of: 'x' }, buckets, sum: 7.25, count: 4 }] },
  ])

  expect(text).toBe(`# HELP took_seconds time
# TYPE took_seconds histogram
took_seconds_bucket{of="x",le="0.1"} 1
took_seconds_bucket{of="x",le="2.5"} 3
took_seconds_bucket{of="x",le="+Inf"} 4
took_seconds_sum{of="x"} 7.25
took_seconds_count{of="x"} 4
`)
  expect(parsePrometheus(text).get('took_seconds')?.series).toHaveLength(5)
})

test('a value may be any number, and what has none is left out', () => {
  const values = [0, -1.5, 1e21, 1e-9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const samples = values.map((value, n) => ({ labels: { n: String(n) }, value }))

  const read = parsePrometheus(
    prometheusText([
      { name: 'any', type: 'gauge', help: '', samples },
      { name: 'none', type: 'gauge', help: 'nothing', samples: [] },
    ]),
  )

  expect(read.get('any')?.series.map(({ value }) => value)).toEqual(values)
  expect([...read.keys()]).toEqual(['any'])
})

test.each([
  ['a counter without its ending', '# HELP x y\n# TYPE x counter\nx 1\n'],
  ['a line without an end', '# HELP x y\n# TYPE x gauge\nx 1'],
  ['a bare quote', '# HELP x y\n# TYPE x gauge\nx{a="""} 1\n'],
  ['a foreign name', '# HELP x y\n# TYPE x gauge\ny 1\n'],
  ['the same twice', '# HELP x y\n# TYPE x gauge\nx 1\nx 2\n'],
  ['buckets that fall', '# HELP x y\n# TYPE x histogram\nx_bucket{le="1"} 2\nx_bucket{le="+Inf"} 1\nx_sum 1\nx_count 1\n'],
])('the reader of these tests refuses %s', (_, text) => {
  expect(() => parsePrometheus(text)).toThrow()
})
