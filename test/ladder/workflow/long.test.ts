/** A small one of those that `long.long.test.ts` tells whole. */
import { test } from 'vitest'
import { tellLong } from './long.ts'

test('[WL-113] sixty steps on disk, with a sleep of two days, a crash in it and a person who is asked, are each done once, and weigh the same at the end', () =>
  tellLong({ steps: 60, edge: 20 }))
