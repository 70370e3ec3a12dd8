/** What each test file begins with: patience, and an end for what helpers open. */
import { afterAll, afterEach, beforeEach, type TaskMeta, vi } from 'vitest'
import { cleanUpFile, cleanUpTest } from './support/cleanup.ts'
import { costFromHere } from './support/cost.ts'

const cost = costFromHere()
let meta: TaskMeta | undefined
beforeEach(({ task }) => {
  meta = task.file.meta
})
// First, so that they run after the hooks of the file.
afterAll(() => {
  if (meta) meta.cost = cost()
})
afterAll(cleanUpFile)
afterAll(cleanUpTest)
// Tests that run beside each other end theirs with the last one.
afterEach(({ task }) => (task.concurrent ? undefined : cleanUpTest()))

/** Where a test waits for a fact it may take its time: test files share a machine of two cores, with servers and processes of their own. */
const patience = { timeout: 60_000, interval: 50 }
const { waitFor } = vi

/** Files that share a process share `vi` as well. */
const patient = 'patient'
if (waitFor.name !== patient) {
  const patientWaitFor: typeof waitFor = (fact, options = {}) =>
    waitFor(fact, typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options })
  vi.waitFor = Object.defineProperty(patientWaitFor, 'name', { value: patient })
}
