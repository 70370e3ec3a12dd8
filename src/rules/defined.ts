/** Without the fields that say nothing, so that they hide no others when objects are put together. */
export const definedOf = <Layer extends object>(layer: Layer): Layer =>
  Object.fromEntries(Object.entries(layer).filter(([, value]) => value !== undefined)) as Layer
