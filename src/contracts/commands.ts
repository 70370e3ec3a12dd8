/** The one list of commands. NATS, HTTP and the command line serve these, each with the same schema and the same answers. */
import { z } from 'zod'
import { Scopes } from './access.ts'
import { labelMax } from './beside.ts'
import { ClientResults, ClientTools } from './client-tools.ts'
import { Attachments, FileContent, FileRef } from './file.ts'
import { Origin } from './reply.ts'
import { QueueMode, ThinkingLevel, ToggleChanges } from './settings.ts'
import { SkillFilter } from './skill.ts'
import { maxIdBytes } from './subjects.ts'
import { callIdMax, isWhole, noteMax, textMax, wholeOnly } from './text.ts'
import { Kind, SessionKey, traceCommands } from './trace-commands.ts'

export const commands = {
  'chat.send': z
    .strictObject({
      sessionKey: SessionKey,
      message: z.string().max(textMax).refine(isWhole, wholeOnly).describe('what is said; empty only beside attachments'),
      attachments: Attachments.optional().describe('files that are sent with it, 10 at most; over HTTP, large ones go to POST /files first'),
      idempotencyKey: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('a repeat within the last 1,000 inputs is ignored and returns the original result'),
      agent: z.string().min(1).max(200).optional().describe('who answers; default: the first agent of the app'),
      clientTools: ClientTools.optional().describe('tools that the client runs: a call of one ends the run with `pendingCalls`'),
      model: z.string().min(1).max(200).optional().describe('another model for this message, provider/model-id'),
      queueMode: QueueMode.optional().describe('what becomes of it while a turn is running'),
      thinking: ThinkingLevel.optional().describe('how hard the model is to think about it'),
      timeoutMs: z.number().int().optional().describe('ms that its turn may work; 0 and less mean the default'),
      streaming: z.boolean().optional().describe('whether its answer goes to the channel in blocks while it is written'),
      skills: SkillFilter.optional().describe(
        'only these skills for this message, of those that its agent and channel allow; none where it is empty',
      ),
      parent: SessionKey.optional().describe('the session that this one is a thread of: its first message begins with what was said there'),
      deliver: z
        .boolean()
        .optional()
        .describe('whether the answer also goes to where the last message of a channel came from, if the session is of that channel; default false'),
      origin: Origin.optional().describe('where it came from, and so where the answer goes; orders such as /stop are read only where this is given'),
    })
    .describe('says something in a session, or beside it (/btw); answers at once with { runId, status }, and with `warnings` about files left out'),
  'tools.result': z
    .strictObject({
      sessionKey: SessionKey,
      results: ClientResults.describe('of `pendingCalls` of the newest run; a call without one gets an error'),
      message: z.string().min(1).max(textMax).refine(isWhole, wholeOnly).optional().describe('what is said besides'),
      idempotencyKey: z.string().min(1).max(200).optional(),
      agent: z.string().min(1).max(200).optional().describe('who answers; default: the first agent of the app'),
      clientTools: ClientTools.optional().describe('default: those of the run before'),
    })
    .describe('gives the results of tools that the client runs, and so resumes the conversation; answers like chat.send'),
  'chat.abort': z
    .strictObject({ sessionKey: SessionKey, runId: z.string().min(1).max(200).optional() })
    .describe('stops the running turn; what it said is kept'),
  'chat.inject': z
    .strictObject({
      sessionKey: SessionKey,
      message: z.string().min(1).max(textMax).refine(isWhole, wholeOnly).describe('what the assistant is to have said'),
      label: z
        .string()
        .trim()
        .min(1)
        .max(labelMax)
        .refine(isWhole, wholeOnly)
        .optional()
        .describe('where it comes from, for people; no model sees it'),
      idempotencyKey: z.string().min(1).max(200).refine(isWhole, wholeOnly).optional(),
    })
    .describe('puts a message of the assistant into the conversation, at once or when the running turn has ended; no model is asked'),
  'chat.history': z
    .strictObject({
      sessionKey: SessionKey,
      limit: z.number().int().min(1).max(1000).optional().describe('so many of the newest messages at most; default: 200'),
      before: z.string().min(1).max(500).optional().describe('only what stands before the message of this id: the first one of the page before'),
      details: z.boolean().optional().describe('also how the runs ended that answered'),
      maxChars: z
        .number()
        .int()
        .min(100)
        .max(500_000)
        .optional()
        .describe('characters of a text, a reasoning, the input or output of a call; what is longer is cut; default: 12,000'),
    })
    .describe('the newest messages of the conversation as people see it, at most 6 MiB; `more` says whether there are older ones'),
  'chat.message': z
    .strictObject({
      sessionKey: SessionKey,
      messageId: z.string().min(1).max(500),
      role: z.enum(['user', 'assistant', 'summary']).optional().describe('which one, where messages of several have this id'),
      part: z.enum(['text', 'reasoning', 'calls']).optional().describe('default: text; calls are JSON'),
      offset: z.number().int().min(0).optional().describe('in UTF-16 units'),
      limit: z.number().int().min(1).max(500_000).optional().describe('default: 100,000'),
    })
    .describe('one message of the conversation as it is stored, in pieces: all of what a history has cut'),
  'chat.output': z
    .strictObject({
      sessionKey: SessionKey,
      callId: z.string().min(1).max(callIdMax).describe('of the call, as session.tool has it, or the ref that a shortened result names'),
      offset: z.number().int().min(0).optional().describe('the first character; default 0'),
      limit: z.number().int().min(1).max(200_000).optional().describe('characters; default 200,000'),
    })
    .describe('all that a tool has answered, of which the model and events are shown a part'),
  'files.put': FileContent.extend({
    sessionKey: SessionKey.optional().describe('the session whose file it is; without it, that of the first message that names it'),
  }).describe('keeps a file of 5,000,000 bytes at most; answers { id, mimeType, bytes, fileName }, for the attachments of a message within a day'),
  'files.get': z
    .strictObject({ sessionKey: SessionKey, id: FileRef.shape.id })
    .describe('a file that belongs to a session, with its content in base64'),
  'files.list': z.strictObject({ sessionKey: SessionKey }).describe('the files that belong to a session, without what is in them'),
  'sessions.list': z
    .strictObject({
      limit: z.number().int().min(1).max(10_000).optional(),
      details: z.boolean().optional().describe('also what each is called, and what was said last in it; the newest 200 at most'),
    })
    .describe('all sessions with their state, and how many tool calls wait for a person'),
  'sessions.get': z.strictObject({ sessionKey: SessionKey }).describe('one session: state, run, what waits'),
  'sessions.context': z
    .strictObject({ sessionKey: SessionKey })
    .describe('what the model of a session is sent: sections of its prompt, files, skills, tools and history, each with its size'),
  'sessions.reset': z
    .strictObject({ sessionKey: SessionKey, reason: z.string().max(500).optional() })
    .describe('forgets the conversation, also of a session that was quarantined'),
  'sessions.compact': z.strictObject({ sessionKey: SessionKey }).describe('replaces old history by a summary'),
  'sessions.configure': z
    .strictObject({ sessionKey: SessionKey, toggles: ToggleChanges.describe('null removes a setting') })
    .describe('changes the settings that the session keeps for its users'),
  'sessions.patch': ToggleChanges.extend({ sessionKey: SessionKey }).describe(
    'changes settings of a session, its model among them; null clears one. From the next run on, in this session only',
  ),
  'sessions.resolve': z
    .strictObject({
      sessionKey: SessionKey.optional(),
      origin: Origin.optional().describe('where a message came from: whose session it is, session.scope of the configuration says'),
      agent: z.string().min(1).max(64).optional().describe('default: that of the key, else the first agent of the app'),
      tab: z.string().min(1).max(200).optional().describe('of the page: default main, for another agent its name; a new chat has a random one'),
      job: z.string().min(1).max(200).optional(),
      hook: z.string().min(1).max(200).optional(),
      topics: z.boolean().optional().describe('whether a thread of the origin is called a topic there'),
    })
    .describe('the one key of a session; without any of these, of the default tab'),
  'sessions.clear': z
    .strictObject({ sessionKeys: z.array(SessionKey).max(1000) })
    .describe('drops all messages that wait in these sessions, and counts them'),
  'sessions.delete': z.strictObject({ sessionKey: SessionKey }).describe('deletes a session with its journal'),
  'agent.wait': z
    .strictObject({
      sessionKey: SessionKey,
      runId: z.string().min(1).max(200),
      timeoutMs: z.number().int().min(0).max(3_600_000).optional().describe('ms to wait; default 30,000. The run goes on after it'),
    })
    .describe('the outcome of a run, waiting for it if need be'),
  'approvals.list': z.strictObject({ sessionKey: SessionKey.optional() }).describe('tool calls that wait for a person'),
  'approvals.resolve': z
    .strictObject({
      sessionKey: SessionKey,
      callId: z.string().min(1).max(callIdMax),
      decision: z.enum(['approve', 'deny']),
      inputHash: z.string().length(64),
      attempt: z.number().int().min(1).optional(),
      remember: z
        .literal('session')
        .optional()
        .describe('with a yes: calls of this tool need no further one in this session, until it is reset or configured with allowedTools: null'),
      by: z.string().max(200).optional().describe('who decided'),
      note: z.string().max(noteMax).optional().describe('why: kept in the journal, and told to the model with a refusal'),
    })
    .describe('decides about one, for the arguments with this hash'),
  'events.read': z
    .strictObject({
      kind: Kind.optional(),
      id: SessionKey,
      after: z
        .string()
        .max(40)
        .optional()
        .describe('place of the last event that was seen, `seq.part` or the `next` of the answer before; without it from the beginning'),
      limit: z.number().int().min(1).max(10_000).optional(),
    })
    .describe('the durable events of an actor from a place on, for listeners on a bus that have missed something'),
  ...traceCommands,
  'actors.send': z
    .strictObject({
      kind: Kind,
      id: SessionKey,
      event: z.looseObject({ type: z.string() }),
      input: z.unknown().optional().describe('what the actor is created with, if this is its first event'),
      messageId: z.string().min(1).max(200).optional(),
    })
    .describe('sends an event to an actor of any registered kind'),
  'actors.get': z.strictObject({ kind: Kind, id: SessionKey }).describe('state, context and output of an actor'),
  'actors.revive': z
    .strictObject({ kind: Kind, id: SessionKey })
    .describe('resumes an actor that was quarantined after repeated failures, from where its journal ends'),
  'actors.delete': z
    .strictObject({ kind: Kind, id: SessionKey })
    .describe('removes an actor of any kind with its journal, also while it works or when it is damaged'),
  'actors.list': z
    .strictObject({
      kind: Kind.optional().describe('only this kind'),
      after: z.string().max(4000).optional().describe('`next` of the page before'),
      limit: z.number().int().min(1).max(1000).optional(),
      states: z.boolean().optional().describe('false: only which there are, and no journal is read; default: true'),
    })
    .describe('all actors with their states, read from their journals: none is woken'),
  'models.list': z.strictObject({}).describe('models that can be named here'),
  'config.get': z
    .strictObject({
      key: z.string().min(1).max(500).optional().describe('one value only, such as agents.defaults.model'),
      schema: z.boolean().optional().describe('also the JSON Schema of the whole'),
    })
    .describe('the configuration that holds, its hash for config.set, and by key where the value comes from'),
  'config.set': z
    .strictObject({
      key: z.string().min(1).max(500).optional().describe('such as agents.defaults.model or agents.list[main].model'),
      value: z.unknown().optional().describe('null takes it away: what the app says holds again'),
      raw: z.record(z.string(), z.unknown()).optional().describe('all that is set, instead of one key'),
      baseHash: z.string().max(64).optional().describe('the hash of the last config.get'),
      by: z.string().max(200).optional().describe('who wants it: kept in the journal'),
    })
    .describe('changes the configuration of all nodes; refused where it has changed since it was read'),
  'tokens.create': z
    .strictObject({
      name: z.string().min(1).max(100),
      scopes: Scopes,
      sessions: z
        .array(z.string().min(1).max(maxIdBytes))
        .min(1)
        .max(100)
        .optional()
        .describe('keys of its sessions, * stands for anything; default: all'),
      expiresInMs: z.number().int().min(1000).max(315_360_000_000).optional().describe('ms; default: never'),
    })
    .describe('makes a token that opens the doors of all nodes, for these scopes and sessions; it is shown this once'),
  'tokens.list': z.strictObject({}).describe('the tokens that were made, without what opens doors'),
  'tokens.revoke': z
    .strictObject({ id: z.string().min(1).max(100).describe('id or name') })
    .describe('a token opens nothing any more; its sockets are closed'),
  'tools.list': z
    .strictObject({
      sessionKey: SessionKey.optional().describe('as for the next message of this session, from where its last one came'),
      agent: z.string().min(1).max(200).optional().describe('only of this agent; with a session the first one is meant otherwise'),
    })
    .describe(
      'tools by agent, and under `removed` those that it may not use, with the rule that says so; where a node does not have one, also after it has looked for it, `missingOn` names that node; `mcp` says how each MCP server is',
    ),
  'skills.list': z
    .strictObject({ sessionKey: SessionKey.optional().describe('as for the run of this session that goes on, or its next one') })
    .describe('skills with their sources, and why one cannot be used; folders that are none, and what to mend'),
  'environments.list': z.strictObject({}).describe('named environments that extensions bring, for whom, and how they are'),
  'agents.list': z.strictObject({}).describe('agents of the app'),
  'extensions.list': z
    .strictObject({})
    .describe('extensions of this node: where each was loaded from, how it is, how often and how fast it has started'),
  'extensions.reload': z
    .strictObject({ name: z.string().min(1).max(200) })
    .describe('loads the module of an extension anew, and puts it in the place of the old one'),
  'nodes.list': z.strictObject({}).describe('nodes that share the actors: what they do, and which of the 64 partitions they have'),
  'nodes.drain': z
    .strictObject({ node: z.string().min(1).max(200).describe('its id, as nodes.list says') })
    .describe('asks a node to give away what it has, and to end'),
  health: z.strictObject({}).describe('whether this node can do its work'),
} as const satisfies Record<string, z.ZodType>

export type CommandName = keyof typeof commands
export type CommandInput<Name extends CommandName> = z.infer<(typeof commands)[Name]>
export const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name)
