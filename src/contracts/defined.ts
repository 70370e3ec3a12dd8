/** Without the fields that say nothing, so that they hide no others when objects are put together. */
export const definedOf = <Values extends object>(values: Values): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
