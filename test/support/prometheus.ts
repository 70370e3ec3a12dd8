/** Reads the text format of Prometheus, 0.0.4, as strictly as it is described; whatever does not belong there throws. */

type Series = { name: string; labels: Record<string, string>; value: number }
export type Parsed = { type: string; help: string; series: Series[] }

const nameShape = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelShape = /^[a-zA-Z_][a-zA-Z0-9_]*$/

const unescaped = (text: string, escapes: Record<string, string>): string => {
  let read = ''
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\\') {
      read += text[at]
      continue
    }
    const meant = escapes[text[++at] ?? '']
    if (meant === undefined) throw new Error(`'\\${text[at]}' is no escape`)
    read += meant
  }
  return read
}

const numberIn = (text: string): number => {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  if (text === 'NaN') return Number.NaN
  if (!/^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) throw new Error(`'${text}' is no number`)
  return Number(text)
}

const inOrder = (labels: Record<string, string>) => Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))

const seriesIn = (line: string): Series => {
  const [, name = '', labelled, value = ''] = /^([^{ ]+)(?:\{(.*)\})? ([^ ]+)$/.exec(line) ?? []
  if (!nameShape.test(name)) throw new Error(`'${line}' has no name`)
  const labels: Record<string, string> = Object.create(null)
  let rest = labelled ?? ''
  while (rest !== '') {
    const pair = /^([^=]+)="((?:[^"\\]|\\.)*)"(?:,|$)/.exec(rest)
    if (!pair?.[1] || pair[2] === undefined || !labelShape.test(pair[1])) throw new Error(`'${rest}' is no label`)
    if (pair[1] in labels) throw new Error(`'${pair[1]}' comes twice`)
    labels[pair[1]] = unescaped(pair[2], { '\\': '\\', n: '\n', '"': '"' })
    rest = rest.slice(pair[0].length)
  }
  return { name, labels, value: numberIn(value) }
}

/** @throws Error naming what is wrong */
export const parsePrometheus = (text: string): Map<string, Parsed> => {
  if (!text.endsWith('\n') && text !== '') throw new Error('the last line has no end')
  const families = new Map<string, Parsed>()
  const seen = new Set<string>()
  let help: [string, string] | undefined
  let present: [string, Parsed] | undefined
  for (const line of text.split('\n').slice(0, -1)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) ([^ ]+) (.*)$/.exec(line) ?? []
    if (word === 'HELP') {
      if (help) throw new Error(`${help[0]} has no type`)
      help = [name, unescaped(rest, { '\\': '\\', n: '\n' })]
    } else if (word === 'TYPE') {
      if (help?.[0] !== name) throw new Error(`${name} has no help before its type`)
      if (!/^(?:counter|gauge|histogram)$/.test(rest)) throw new Error(`'${rest}' is no type`)
      if (families.has(name)) throw new Error(`${name} comes twice`)
      present = [name, { type: rest, help: help[1], series: [] }]
      families.set(...present)
      help = undefined
    } else {
      const series = seriesIn(line)
      const suffixes = present?.[1].type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!present || !suffixes.some((suffix) => series.name === `${present?.[0]}${suffix}`)) throw new Error(`'${line}' stands under another name`)
      const key = JSON.stringify([series.name, inOrder(series.labels)])
      if (seen.has(key)) throw new Error(`'${line}' comes twice`)
      seen.add(key)
      if (present[1].type !== 'gauge' && (!(series.value >= 0) || series.value === Number.POSITIVE_INFINITY))
        throw new Error(`'${line}' cannot be counted`)
      if (present[1].type === 'counter' && !present[0].endsWith('_total')) throw new Error(`the counter ${present[0]} does not end with _total`)
      present[1].series.push(series)
    }
  }
  if (help) throw new Error(`${help[0]} has no type`)
  for (const [name, { type, series }] of families) if (type === 'histogram') checkBuckets(name, series)
  return families
}

const checkBuckets = (name: string, series: readonly Series[]): void => {
  const of = ({ labels: { le: _, ...labels } }: Series) => JSON.stringify(inOrder(labels))
  for (const group of Map.groupBy(series, of).values()) {
    const buckets = group.filter((one) => one.name === `${name}_bucket`)
    const ends = buckets.map(({ labels }) => numberIn(labels.le ?? ''))
    const [total] = group.filter((one) => one.name === `${name}_count`)
    if (!group.some((one) => one.name === `${name}_sum`) || total === undefined) throw new Error(`${name} lacks its sum or count`)
    if (ends.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== total.value) throw new Error(`the last bucket of ${name} is not all`)
    for (const [index, { value }] of buckets.entries())
      if (index > 0 && ((ends[index - 1] ?? 0) >= (ends[index] ?? 0) || (buckets[index - 1]?.value ?? 0) > value))
        throw new Error(`the buckets of ${name} do not rise`)
  }
}
