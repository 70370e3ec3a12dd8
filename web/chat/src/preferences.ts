/** How somebody likes the page, kept in the browser; public/assets/looks.js reads the first two before the first paint. */
import { createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { keep, kept, whenKeptElsewhere } from '../../shared/storage.ts'
import type { SendMode } from './model.ts'

export type Preferences = {
  theme: 'system' | 'light' | 'dark'
  density: 'roomy' | 'compact'
  enterSends: boolean
  whileRunning: SendMode
  openThinking: boolean
  showUse: boolean
  keys: boolean
}

const usual: Preferences = {
  theme: 'system',
  density: 'roomy',
  enterSends: true,
  whileRunning: 'steer',
  openThinking: false,
  showUse: true,
  keys: true,
}

const read = (text: string | null): Preferences => {
  try {
    const found: unknown = JSON.parse(text ?? '{}')
    return typeof found === 'object' && found !== null ? { ...usual, ...found } : usual
  } catch {
    return usual
  }
}

type Kept = { preferences: Preferences; change(changes: Partial<Preferences>): void }

const PreferencesContext = createContext<Kept>({ preferences: usual, change: () => {} })
export const PreferencesProvider = PreferencesContext.Provider
export const usePreferences = (): Kept => useContext(PreferencesContext)

/** Once, for the whole page: reads them, shows them, and follows the device where that is wanted. */
export const useKeptPreferences = (): Kept => {
  const [preferences, set] = useState(() => read(kept('preferences')))
  useEffect(() => whenKeptElsewhere('preferences', (text) => set(read(text))), [])
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const show = () => {
      const { theme, density } = preferences
      document.documentElement.dataset.theme = theme === 'dark' || (theme === 'system' && dark.matches) ? 'dark' : 'light'
      document.documentElement.dataset.density = density
    }
    show()
    dark.addEventListener('change', show)
    return () => dark.removeEventListener('change', show)
  }, [preferences])
  return useMemo(
    () => ({
      preferences,
      change: (changes) => {
        const next = { ...preferences, ...changes }
        keep('preferences', JSON.stringify(next))
        set(next)
      },
    }),
    [preferences],
  )
}
