/** SQLite as a transport. */
export { makeDataFolder } from './data-folder.ts'
export { freeBytesMinimum, measureFreeBytes } from './free-space.ts'
export { type Owner, readOwner, writeOwner } from './lock.ts'
export { openEmbedded } from './open.ts'
