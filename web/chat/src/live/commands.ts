/** What the commands of a gateway answer, as far as the page reads it. */
import type { HistoryMessage, HistoryRun } from '../../../../src/client/socket/index.ts'
import type { FileRef } from '../../../../src/contracts/file.ts'
import type { Toggles } from '../../../../src/contracts/settings.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'

export type Listed = {
  sessions: {
    key: string
    state: unknown
    at: number
    busy: boolean
    waiting: number
    title?: string
    last?: string
    lastRole?: 'user' | 'assistant'
  }[]
}

export type Viewed = {
  run: { runId: string; ids: string[] } | null
  queued: string[]
  approvals: Approval[]
  record: { toggles: Toggles; tokens?: { total: number; window?: number }; spent: { costUsd: number } }
}

export type History = {
  messages: HistoryMessage[]
  more: boolean
  waiting: { id: string; text: string; files?: FileRef[] }[]
  runs: HistoryRun[]
}

export type Models = { default: string; models: { ref: string; available: boolean; why?: string }[] }
export type Agents = { agents: { name: string; model: string; tools?: string[]; default: boolean }[] }
