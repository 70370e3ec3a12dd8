/** A transport that forgets, for tests. */
export { createMemoryStore, openMemory } from './open.ts'
