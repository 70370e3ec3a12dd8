/** Which models can read what a model has attached to its answers. */

/**
 * The family of a model: the letters that its id begins with, without the vendor in front of it.
 * @example `us.anthropic.claude-sonnet-4-5` is `claude`, `models/gemini-3-pro` is `gemini`
 */
export const familyOf = (modelId: string): string => {
  const name = modelId
    .slice(modelId.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z]+(?:-gov)?\.)+/, '')
  return /^[a-z]+/.exec(name)?.[0] ?? name
}

/** @param provider as its model names itself, such as `anthropic.messages` */
export const metadataSource = (provider: string | undefined, modelId: string | undefined): string => `${provider ?? ''} ${familyOf(modelId ?? '')}`
