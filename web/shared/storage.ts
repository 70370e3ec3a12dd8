/** The browser's storage, which may be off, full or hold what somebody else has put there. Then the page forgets, and works. */

export const kept = (name: string): string | null => {
  try {
    return localStorage.getItem(`statecast.${name}`)
  } catch {
    return null
  }
}

/** An empty text is not kept. */
export const keep = (name: string, value: string): void => {
  try {
    if (value === '') localStorage.removeItem(`statecast.${name}`)
    else localStorage.setItem(`statecast.${name}`, value)
  } catch {
    // It stays in this page only.
  }
}

/** Calls with what another tab has kept under this name, until it is told to stop. */
export const whenKeptElsewhere = (name: string, then: (value: string) => void): (() => void) => {
  const heard = (event: StorageEvent) => {
    if (event.key === `statecast.${name}`) then(event.newValue ?? '')
  }
  addEventListener('storage', heard)
  return () => removeEventListener('storage', heard)
}
