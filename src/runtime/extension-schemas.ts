/** How it is checked what an extension is and what it gives: it may come from JavaScript. */
import { z } from 'zod'

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value) as null)

/** An object of options: of one that is written out nothing else is taken; an object of a class may have fields of its own. */
export const knownOnly = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .unknown()
    .superRefine((value, context) => {
      const keys = isPlain(value) ? Object.keys(value).filter((key) => !Object.hasOwn(shape, key)) : []
      if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, input: value as Record<string, unknown> })
    })
    .pipe(z.looseObject(shape))

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')

export const callable = z.custom<(...given: never[]) => unknown>((value) => typeof value === 'function', 'must be a function')

const logic = z.custom((value) => hasMethods(value, ['transition', 'getInitialSnapshot']), 'must be the logic of an actor, such as a machine')

/** What `session()` of an extension gives. */
export const Sockets = knownOnly({
  desk: knownOnly({ logic, annotations: z.custom((value) => hasMethods(value, ['safeParse', 'optional']), 'must be a zod schema') }).optional(),
  publisher: knownOnly({ logic, follows: callable, conclude: callable }).optional(),
  receive: callable.optional(),
  shown: z.custom((value) => hasMethods(value, ['finished', 'growing', 'showsHeartbeats']), 'must say what is shown').optional(),
  understanding: z.custom((value) => hasMethods(value, ['lookUp', 'say']), 'must look at links and media').optional(),
  references: callable.optional(),
})
