/** The text format of Prometheus, 0.0.4. */

/** By name; their values may be any text. */
export type Labels = Readonly<Record<string, string>>
type Sample = { labels?: Labels; value: number }
/** @property buckets how many were at most so large, in rising order; all of them are in `count` */
type Distribution = { labels?: Labels; buckets: readonly (readonly [upTo: number, count: number])[]; sum: number; count: number }

export type Family = { name: string; help: string } & (
  | { type: 'counter' | 'gauge'; samples: readonly Sample[] }
  | { type: 'histogram'; samples: readonly Distribution[] }
)

export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapedLabel = (text: string): string => escapedHelp(text.toWellFormed()).replaceAll('"', '\\"')

const shownNumber = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

const line = (name: string, labels: Labels, value: number): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${shownNumber(value)}\n`
}

const distribution = (name: string, { labels = {}, buckets, sum, count }: Distribution): string => {
  const all = [...buckets, [Number.POSITIVE_INFINITY, count] as const]
  const rows = all.map(([upTo, within]) => line(`${name}_bucket`, { ...labels, le: shownNumber(upTo) }, within))
  return `${rows.join('')}${line(`${name}_sum`, labels, sum)}${line(`${name}_count`, labels, count)}`
}

/** What has no samples is left out. */
export const prometheusText = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => {
      const { name, help, type } = family
      const rows =
        family.type === 'histogram'
          ? family.samples.map((sample) => distribution(name, sample))
          : family.samples.map(({ labels = {}, value }) => line(name, labels, value))
      return `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n${rows.join('')}`
    })
    .join('')
