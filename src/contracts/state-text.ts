/** How people write states. */

/** A state value as people write it: `running.answering`, with `&` between what is active side by side. */
export const stateText = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value : '-'
  return Object.entries(value)
    .map(([key, inner]) => {
      const text = stateText(inner)
      return text === '-' || text === '' ? key : `${key}.${text.includes(' & ') ? `(${text})` : text}`
    })
    .join(' & ')
}
