/** Light or dark, kept where the chat keeps it; /assets/looks.js reads it before the first paint. */
import { useEffect, useState } from 'preact/hooks'
import { keep, kept, whenKeptElsewhere } from '../../shared/storage.ts'

type Theme = 'system' | 'light' | 'dark'

const preferences = (): Record<string, unknown> => {
  try {
    const found: unknown = JSON.parse(kept('preferences') ?? '{}')
    return typeof found === 'object' && found !== null ? { ...found } : {}
  } catch {
    return {}
  }
}
const themeKept = (): Theme => {
  const { theme } = preferences()
  return theme === 'dark' || theme === 'light' ? theme : 'system'
}

export const useTheme = (): { turn(): void } => {
  const [theme, set] = useState(themeKept)
  useEffect(() => whenKeptElsewhere('preferences', () => set(themeKept())), [])
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const show = () => {
      document.documentElement.dataset.theme = theme === 'dark' || (theme === 'system' && dark.matches) ? 'dark' : 'light'
    }
    show()
    dark.addEventListener('change', show)
    return () => dark.removeEventListener('change', show)
  }, [theme])
  return {
    turn: () => {
      const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
      keep('preferences', JSON.stringify({ ...preferences(), theme: next }))
      set(next)
    },
  }
}
