/** What a node tells of itself in figures: every name, once, with what it means. `docs/reference/http.md` lists them from here. */

import { durationBuckets, type Metrics } from '../../runtime/metrics.rules.ts'
import type { Family, Labels } from './prometheus.rules.ts'

/** @property requests that were answered @property connections @property sockets open ones, where there is a server that counts them */
type Traffic = {
  requests: readonly { labels: Labels; value: number }[]
  streams: number
  connections: number | undefined
  sockets: number | undefined
}

type Health = {
  ready: boolean
  writable: boolean
  liveActors: number
  freeBytes: number | undefined
  transport: string
  durability: string
  node?: string
  mcp?: readonly { server: string; state: string; tools: number }[]
}

type NodeFigures = { version: string; health: Health; metrics: Metrics; traffic: Traffic }

const flag = (is: boolean) => [{ value: is ? 1 : 0 }]
const known = (value: number | undefined) => (value === undefined ? [] : [{ value }])

export const familiesOf = ({ version, health, metrics, traffic }: NodeFigures): Family[] => {
  const { agent_run_duration_ms: durations, runs, model_tokens_total: tokens, session_reset_count: resets } = metrics
  const { node = '', transport, durability, mcp = [] } = health
  return [
    {
      name: 'statecast_build_info',
      type: 'gauge',
      help: 'Always 1; its labels say what runs here.',
      samples: [{ labels: { version, transport, durability, node }, value: 1 }],
    },
    { name: 'statecast_ready', type: 'gauge', help: 'Whether this node takes work, 1 or 0.', samples: flag(health.ready) },
    { name: 'statecast_writable', type: 'gauge', help: 'Whether its store takes writes, 1 or 0.', samples: flag(health.writable) },
    { name: 'statecast_free_bytes', type: 'gauge', help: 'Space that the store has left, where that is known.', samples: known(health.freeBytes) },
    { name: 'statecast_live_actors', type: 'gauge', help: 'Actors in the memory of this node.', samples: known(health.liveActors) },
    {
      name: 'statecast_runs_total',
      type: 'counter',
      help: 'Runs of sessions that have ended, by how.',
      samples: [
        { labels: { status: 'completed' }, value: runs.ended - runs.failed - runs.aborted },
        { labels: { status: 'failed' }, value: runs.failed },
        { labels: { status: 'aborted' }, value: runs.aborted },
      ],
    },
    {
      name: 'statecast_run_duration_seconds',
      type: 'histogram',
      help: 'How long runs took, from their start to their outcome.',
      samples: [
        {
          buckets: durationBuckets.map((upToMs, index) => [upToMs / 1000, durations.buckets[index] ?? 0] as const),
          sum: durations.sum / 1000,
          count: durations.count,
        },
      ],
    },
    {
      name: 'statecast_model_tokens_total',
      type: 'counter',
      help: 'Tokens by model and kind: input that was in no cache, output, cache_read, cache_write.',
      samples: Object.entries(tokens).flatMap(([model, { input, output, cacheRead, cacheWrite }]) =>
        Object.entries({ input, output, cache_read: cacheRead, cache_write: cacheWrite }).map(([kind, value]) => ({
          labels: { model, kind },
          value,
        })),
      ),
    },
    { name: 'statecast_session_resets_total', type: 'counter', help: 'Conversations that were begun anew.', samples: [{ value: resets }] },
    {
      name: 'statecast_http_requests_total',
      type: 'counter',
      help: 'Requests that were answered, by method, route and status; a stream counts when it begins.',
      samples: traffic.requests,
    },
    { name: 'statecast_http_streams', type: 'gauge', help: 'Open streams of events and answers.', samples: [{ value: traffic.streams }] },
    { name: 'statecast_http_connections', type: 'gauge', help: 'Open connections.', samples: known(traffic.connections) },
    {
      name: 'statecast_mcp_server',
      type: 'gauge',
      help: 'Always 1; its labels say how each MCP server is.',
      samples: mcp.map(({ server, state }) => ({ labels: { server, state }, value: 1 })),
    },
    {
      name: 'statecast_mcp_tools',
      type: 'gauge',
      help: 'Tools of each MCP server.',
      samples: mcp.map(({ server, tools }) => ({ labels: { server }, value: tools })),
    },
    { name: 'statecast_sockets', type: 'gauge', help: 'Clients on the WebSocket.', samples: known(traffic.sockets) },
  ]
}
