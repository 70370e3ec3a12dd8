/** Every story, killed at one of its first commits. */
import { retellKilled } from './killed.ts'

retellKilled()
