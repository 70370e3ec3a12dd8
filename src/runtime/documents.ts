/** The documents that all nodes share: the configuration, and the tokens with what each allows. */
import { z } from 'zod'
import { TokenEntry } from '../contracts/access.ts'
import type { AgentTable } from '../contracts/agent.ts'
import { errorBody } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import { ConfigurationStore, checkConfiguration } from './configuration.ts'
import { type DocumentParts, SharedDocument } from './shared-document.ts'
import { StaleOverrides } from './stale-overrides.ts'

const Tokens = z.strictObject({ tokens: z.array(TokenEntry).max(1000).optional() })
export type TokenDocument = SharedDocument<z.infer<typeof Tokens>>

/** @param given the configuration of the app @throws RuntimeError bad_request naming the key */
export const openDocuments = (parts: DocumentParts, given: unknown = {}, agents?: AgentTable) => {
  const config = new ConfigurationStore(parts, checkConfiguration(given, agents))
  const tokens: TokenDocument = new SharedDocument(parts, 'tokens', (value) => parseInput(Tokens, value))
  const both = [config, tokens]
  return {
    config,
    tokens,
    overrides: new StaleOverrides(() => config.view.hash),
    /** @param mustRead a node that answers people may not go by another configuration than the others */
    async start(mustRead: boolean): Promise<void> {
      for (const one of both) {
        await one.load().catch((error: unknown) => {
          if (mustRead) throw error
          parts.environment.log.warn({ error: errorBody(error) }, 'the configuration cannot be read: what the app says holds')
        })
        if (mustRead) one.follow()
      }
    },
    stop(): void {
      for (const one of both) one.stop()
    },
  }
}
