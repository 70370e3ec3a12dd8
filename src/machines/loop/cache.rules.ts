/** Whether the provider still has in its cache what was sent to it before. */
import type { Profile } from '../../contracts/profile.ts'

/** `new`: nothing was sent before. `expired`: it was too long ago. */
export type CacheState = 'new' | 'warm' | 'expired'

/** ms; providers keep what they were sent for five to ten minutes. */
const cacheMs = 300_000

/** @param at when the model is asked, like `lastCallAt` in ms since the epoch */
export const cacheState = ({ profile, lastCallAt }: { profile: Pick<Profile, 'cacheMs'>; lastCallAt?: number }, at: number): CacheState =>
  lastCallAt === undefined ? 'new' : at - lastCallAt <= (profile.cacheMs ?? cacheMs) ? 'warm' : 'expired'
