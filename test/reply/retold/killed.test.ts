/** A fixed sample of the stories, killed at one of their first commits. killed.long.test.ts tells all of them. */
import { retellKilled } from './killed.ts'
import { oneIn } from './retold.ts'

retellKilled(oneIn(12))
