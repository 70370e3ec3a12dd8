/** A reference to a model: `provider/model-id`. */
import { z } from 'zod'

export const ModelReference = z
  .string()
  .max(200)
  .regex(/^[^/\s]+\/.+$/, 'is not a model reference, which is provider/model-id')

/** What stands before the first slash; nothing where there is none. */
export const providerOf = (ref: string): string => ref.slice(0, Math.max(0, ref.indexOf('/')))

/** What stands behind it: all of a reference without one. */
export const modelIdOf = (ref: string): string => ref.slice(ref.indexOf('/') + 1)
