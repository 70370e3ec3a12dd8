/** Anything in any order, on a folder on disk; for longer: random.disk.long.test.ts. */
import { test } from 'vitest'
import { anyOrderOnDisk } from './random.disk.ts'

test('on disk, whatever comes between the steps: nothing accepted is lost or done twice, every call paired, replay identical [INV-1, INV-2, INV-5, INV-7, INV-13]', () =>
  anyOrderOnDisk(import.meta.url))
