/** What stands before a conversation when a model is asked: named sections, and how much each of them takes. */

/** A part of the system prompt. Of two with one name, or with one text, the first counts. */
export type PromptSection = {
  name: string
  text: string
  /** What it is made of, where that is of interest: one skill each. */
  items?: readonly { name: string; chars: number }[]
}

/** What an agent's system prompt has beside its instructions. */
export type PromptOptions = {
  /** Who it is; stands first. */
  identity?: string | undefined
  /** How it is to use its tools; left out where it has none. */
  tools?: string | undefined
  /** Files of the workspace that are read with each call, such as `AGENTS.md`, at most 20,000 characters of each. */
  files?: readonly string[] | undefined
  /** How it is to talk. */
  conversation?: string | undefined
  /** `minimal` leaves out skills, files and the rules of conversation. Default `full`, `minimal` in sessions of sub-agents. */
  mode?: 'full' | 'minimal' | undefined
}

/** A file that was to stand in the prompt. `text` is left out where there is none; `chars` is how long it is. */
export type PromptFile = { path: string; chars: number; text?: string }

/** Sizes in characters, and tokens at about four characters each. */
type Size = { chars: number; tokens: number }

/** What stands before the conversation, part by part; `chars` and `tokens` are those of all of it. */
export type PromptReport = Size & {
  /** ms since the epoch when it was first sent like this. */
  at: number
  model: string
  /** In their order, with what joins each to the one before. */
  sections: ({ name: string } & Size)[]
  /** `injected` characters of `raw`. */
  files: { path: string; raw: number; injected: number; truncated: boolean; missing?: true; repeated?: true }[]
  skills: ({ name: string } & Size)[]
  /** `schema` is the part of the characters that its parameters take. */
  tools: ({ name: string; schema: number; properties: number } & Size)[]
  /** By part: stands for what it says, so that two can be compared. */
  hashes: PromptHashes
}

/** Of the model, of each section, and of the tools. */
export type PromptHashes = Record<string, string>

/** All that the model would be sent now; `chars` is the sum of the prompt and the history. */
export type ContextReport = Size & {
  prompt: PromptReport
  history: ({ role: 'summary' | 'user' | 'assistant' | 'tool'; count: number } & Size)[]
}
