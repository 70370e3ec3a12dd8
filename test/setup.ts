/** Where a test waits for a fact it may take its time: two test files share a machine of two cores, with servers and processes of their own. */
import { vi } from 'vitest'

const patience = { timeout: 60_000, interval: 50 }
const { waitFor } = vi

/** Files that share a process share `vi` as well. */
const patient = 'patient'
if (waitFor.name !== patient) {
  const patientWaitFor: typeof waitFor = (fact, options = {}) =>
    waitFor(fact, typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options })
  vi.waitFor = Object.defineProperty(patientWaitFor, 'name', { value: patient })
}
