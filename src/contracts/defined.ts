/** Without the fields that say nothing: they hide no others when objects are put together, and stand in no journal. */
export const definedOf = <Values extends object>(values: Values): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } => {
  const defined: Partial<Values> = {}
  for (const name of Object.keys(values) as (keyof Values)[]) if (values[name] !== undefined) defined[name] = values[name]
  return defined as never
}
