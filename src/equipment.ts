/** What agents work with, made of the options of a runtime: their tools, skills and models. Nothing of it runs yet. */
import { closedPlaces } from './closed-places.ts'
import { definedOf } from './contracts/defined.ts'
import type { Environment } from './contracts/environment.ts'
import { credentialFile } from './credential-file.ts'
import { createModels, proxiedFetch, readCredentialStore } from './models/index.ts'
import { agentTable, type Extension, gatesOf, openSkills, type RuntimeOptions, type variables, version } from './runtime/index.ts'
import { isFileInside, mcpServers, serviceDirectory } from './tools/index.ts'

type Place = {
  workspace: string
  environment: Environment
  extensions: readonly Extension[]
  env: ReturnType<typeof variables>
  /** Of the subjects on which services are found. */
  prefix: string
}

/** @throws RuntimeError bad_request, conflict: what the options say of agents, tools, skills or models cannot be */
export const equip = (options: RuntimeOptions, { workspace, environment, extensions, env, prefix }: Place) => {
  const serviceTools = serviceDirectory(environment, prefix)
  const skills = openSkills(options, { workspace, environment, extensions, env })
  const mcp = mcpServers(options.mcp, { environment, env, version, fetch: proxiedFetch(env) })
  const closed = closedPlaces(options, env, workspace, environment.folder)
  const agents = agentTable(options.agents ?? [], {
    workspace,
    closed,
    environment,
    directory: serviceTools,
    mcp,
    fallbacks: options.fallbacks,
    prompt: options.prompt,
    toolPolicy: options.toolPolicy,
    brought: extensions.flatMap((extension) => extension.agents ?? []),
    beforeTool: gatesOf(extensions),
    skills,
  })
  const models = createModels({
    environment,
    env,
    folder: workspace,
    ...definedOf({ custom: options.models, credentials: options.credentials, order: options.credentialOrder }),
    store: readCredentialStore(credentialFile(options, env, environment.folder), environment.folder),
  })
  const place = { workspace, isWorkspaceFile: (path: string) => isFileInside({ folder: workspace, closed }, path) }
  return { serviceTools, skills, mcp, agents, models, place }
}
