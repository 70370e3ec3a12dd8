/** A workflow as long as they get. */
import { test } from 'vitest'
import { tellLong } from './long.ts'

test('[WL-113, WL-111] a thousand steps on disk, with a sleep of two days, a crash in it and a person who is asked, are each done once, and weigh the same at the end', () =>
  tellLong({ steps: 1_000, edge: 100 }))
