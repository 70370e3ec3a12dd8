/** The variables around a command, secrets from files included. */
import type { Variables } from '../models/index.ts'
import { variables } from '../runtime/variables.ts'
import { surroundings } from './surroundings.ts'

/** @throws RuntimeError bad_request */
export const commandVariables = (): Variables => variables(surroundings().env, surroundings().cwd())
