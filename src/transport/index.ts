/** Stores and buses behind one contract; `nats/` and `embedded/` have an index.ts of their own, so that their packages are loaded only where they are used. */
export { nameCharactersMax } from './limits.ts'
export { openTransport, type TransportOptions } from './open.ts'
export { checkSubject } from './subject.ts'
