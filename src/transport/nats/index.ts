/** JetStream and core NATS as a transport. */
export { connectBus, requireServer } from './connect.ts'
export { shown } from './credentials.ts'
export { fromNats } from './errors.ts'
export { freeBytesOf } from './health.ts'
export { type Names, namesOf } from './names.ts'
export { type NatsOptions, openNats } from './open.ts'
export {
  grantedTo,
  inboxPrefixOf,
  missingTo,
  nameOf,
  type Permissions,
  passwordOf,
  permissionsOf,
  type Role,
  roles,
  serverConfig,
  type User,
} from './permissions.ts'
export { examineStreams } from './streams.ts'
