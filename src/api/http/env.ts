/** What the routes of the gateway find in a request. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Caller } from './guard.ts'

export type Env = { Bindings: { incoming?: { socket: Socket }; outgoing?: ServerResponse }; Variables: { caller: Caller } }
