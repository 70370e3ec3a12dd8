/** Some of the stories, killed at one of their first commits; all of them: killed.long.test.ts. */
import { retellKilled } from './killed.ts'
import { oneIn } from './retold.ts'

retellKilled(oneIn(5))
