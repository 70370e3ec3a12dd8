/** Stores and buses behind one contract; `nats/` and `embedded/` have doors of their own, so that what one of them needs is loaded when it is used. */
export { nameCharactersMax } from './limits.ts'
export { openTransport, type TransportOptions } from './open.ts'
export { checkSubject } from './subject.ts'
