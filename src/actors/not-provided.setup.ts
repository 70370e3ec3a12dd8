/** What stands in a machine for an effect: a machine alone does nothing, and its charts can be drawn and walked without one. */
export const notProvided = (): Promise<never> => Promise.reject(new Error('not provided'))
