/** `statecast`: the commands and their options. What a command needs is loaded when it runs, so that `--version` is quick. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { version } from '../runtime/version.ts'
import { watchOptions } from './contradictions.ts'
import { exitCodeOf, exitCodes, leaveQuietlyWhenNobodyReads, note, printJson, reportError } from './output.ts'
import { leave, listen, runWith, type Streams, type Surroundings, streams } from './surroundings.ts'

/**
 * Runs one command line. All that it reads, writes and listens to comes through `own` and `around`, so several may run at once in one program.
 * @param argv without the node and script
 * @param own by default those of the process
 * @param around by default the process; where it is another one, the process neither ends nor changes
 * @returns the exit code
 */
export const main = (argv: string[], own: Streams = process, around: Surroundings = process): Promise<number> =>
  // The command has the process for itself: nothing needs to be kept apart, which would cost a node time.
  own === process && around === process ? run(argv) : runWith({ streams: own, surroundings: around }, () => run(argv))

const run = async (argv: string[]): Promise<number> => {
  leaveQuietlyWhenNobodyReads()
  const json = argv.includes('--json')
  const strayError = (error: unknown): void => {
    reportError(error, { json })
    leave(exitCodes.failed)
  }
  const stops = (['uncaughtException', 'unhandledRejection'] as const).map((event) => listen(event, strayError))

  let code: number = exitCodes.fine
  const program = commandLine((running) => async (...args: unknown[]) => {
    const command = args.at(-1) as Command
    code = await running(command.optsWithGlobals(), ...command.processedArgs)
  })
  const check = watchOptions(program)
  program.hook('preAction', async (_, command) => {
    check()
    ;(await import('./connect.ts')).givenUrl(command.optsWithGlobals())
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError && error.code === 'commander.help') {
      program.outputHelp()
      return exitCodes.fine
    }
    if (error instanceof CommanderError)
      return usageError(error, { json, command: program.commands.find((known) => known.name() === program.args[0]) })
    return exitCodeOf(reportError(error, { json }).code)
  } finally {
    for (const stop of stops) stop()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: commander knows the shape of options only at run time
type Running = (options: any, ...args: any[]) => Promise<number>
type Action = (running: Running) => (...args: unknown[]) => Promise<void>

/** What goes wrong `main` reports itself. */
const output = {
  writeErr: () => undefined,
  writeOut: (text: string) => void streams().stdout.write(text),
  getOutHelpWidth: () => streams().stdout.columns ?? 80,
}

/** The tree of all commands. @param action what carries one out */
export const commandLine = (action: Action): Command => {
  const program = new Command('statecast')
    .description('Conversations with agents and tools that survive kill -9.')
    .version(version, '-V, --version', 'print the version')
    .option(
      '--url <url>',
      'where the data is: embedded:<folder>, nats://host:port, or http://… of a node (env STATECAST_URL; default embedded:./.statecast)',
    )
    .option('--app <file>', 'your agents, tools and machines (default statecast.config.ts, .mts, .js, .mjs or .json if present)')
    .option('--json', 'one JSON object a line on stdout')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput(output)
    .showHelpAfterError(false)
    // Also in the help of each command: --url and --json are looked for there.
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', '\nExit codes: 0 fine, 1 the work failed, 2 wrong usage, 3 refused, 4 not found, 130 interrupted.')

  const add = (name: string, description: string): Command => {
    const command = program.command(name).description(description)
    return command.exitOverride().configureOutput(output)
  }

  add('up', 'run a node that other commands and programs talk to')
    .option('--port <port>', 'port of the gateway; 0 takes a free one', wholeNumber(0, 65_535), 4111)
    .option('--host <host>', 'address to listen on; other machines need STATECAST_TOKEN', '127.0.0.1')
    .option('--roles <roles>', 'what this node does (default gateway,session,turn,tool)')
    .option('--data <folder>', 'data folder, the same as --url embedded:<folder>')
    .option('--retain-days <days>', 'delete conversations and actors unused for this long; default: keep all', wholeNumber(1, 36_500))
    .option('--no-resume', 'resume no unfinished or stored work, only actors that are sent to: for a folder whose work crashes the node')
    .action(action(async (options) => (await import('./up.ts')).up(options)))
  add('chat', 'talk in the terminal, or line by line through a pipe')
    .argument('[key]', 'which conversation (default main)')
    .option('--session <key>', 'the same as the argument')
    .option('--agent <name>', 'who answers')
    .option('--model <ref>', 'another model, provider/model-id')
    .action(action(async (options, key) => (await import('./chat/chat.ts')).chat(options, key)))
  add('send', 'say one thing and print the answer')
    .argument('<key>', 'which conversation')
    .argument('<text>', 'what to say; - reads stdin')
    .addOption(repeatable('--file <path>', 'an image, a PDF or a text that goes with it; may be given several times'))
    .option('--idempotency-key <id>', 'a repeat within the last 1,000 inputs is ignored and returns the original result')
    .option('--wait', 'wait for the answer (default)')
    .option('--no-wait', 'return as soon as the message is stored')
    .option('--agent <name>', 'who answers')
    .option('--model <ref>', 'another model, provider/model-id')
    .action(action(async (options, key, text) => (await import('./send.ts')).send(options, key, text)))
  add('history', 'print what was said in a conversation since it last started over')
    .argument('<key>', 'which conversation')
    .option('--limit <n>', 'only the newest messages, results of tools included', wholeNumber(1, 1000))
    .action(action(async (options, key) => (await import('./history.ts')).history(options, key)))
  add('approvals', 'list the tool calls that wait for a person, and how to answer').action(
    action(async (options) => (await import('./approvals.ts')).approvals(options)),
  )
  add('approve', 'approve or deny a tool call that waits for a person')
    .argument('<key>', 'which conversation')
    .argument('<call>', 'which call, as statecast approvals names it')
    .option('--deny', 'refuse it')
    .option('--always', 'agree to all calls of this tool in this conversation, until it is reset')
    .option('--note <text>', 'why: kept in the journal, and told to the model with a refusal')
    .option('--by <name>', 'who decides', 'command line')
    .option('--wait', 'wait for the answer of the turn; without a node it runs here, and is always waited for')
    .action(action(async (options, key, call) => (await import('./approve.ts')).approve(options, key, call)))
  add('sessions', 'list the conversations').action(action(async (options) => (await import('./sessions.ts')).sessions(options)))
  add('actors', 'list conversations and machines with their states and child actors')
    .option('--kind <kind>', 'only this kind, such as session')
    .option('--all', 'also those that have ended')
    .action(action(async (options) => (await import('./actors.ts')).actors(options)))
  add('trace', 'print the events of a conversation or actor, one a line')
    .argument('[key]', 'a conversation, or kind/id of an actor; none with --traces')
    .option('--follow', 'keep printing what happens')
    .option('--from <seq>', 'start at this commit', wholeNumber(1))
    .option('--timing', 'show instead when its newest run did what, as its node observed it')
    .option('--run <id>', 'with --timing: another run')
    .option('--traces <path>', 'exported traces instead, a file or a folder of them: what stands in them')
    .action(
      action(async (options, key) => {
        if (options.traces !== undefined) return (await import('./trace-exported.ts')).traceExported(options, key)
        if (key === undefined) throw (await import('./trace-exported.ts')).nothingToTrace()
        return options.timing ? (await import('./timing.ts')).timing(options, key) : (await import('./trace.ts')).trace(options, key)
      }),
    )
  add('revive', 'resume a conversation or actor that was quarantined after repeated failures')
    .argument('<key>', 'a conversation, or kind/id of an actor')
    .action(action(async (options, key) => (await import('./revive.ts')).revive(options, key)))
  add('delete', 'delete a conversation or another actor, with its journal')
    .argument('<key>', 'a conversation, or kind/id of an actor')
    .action(action(async (options, key) => (await import('./delete.ts')).deleteConversation(options, key)))
  add('replay', 'replay the journal and compare every state')
    .argument('[key]', 'a conversation, or kind/id of an actor; none: all that there are, with --against or --traces')
    .option('--to <seq>', 'stop after this commit', wholeNumber(1))
    .option('--against <file>', 'use the machines of another app module, such as an edited copy, and report the first difference')
    .option('--traces <path>', 'exported traces instead, a file or a folder of them')
    .option('--kind <kind>', 'without a key: only this kind, such as session')
    .option('--only-states', 'without a key: states alone count, not what machines remember')
    .addOption(repeatable('--report <file>', 'without a key: write what was found to a .json or .html file; may be given several times'))
    .action(
      action(async (options, key) =>
        key === undefined ? (await import('./replay-all.ts')).replayAll(options) : (await import('./replay.ts')).replay(options, key),
      ),
    )
  add('fork', 'begin another conversation with the past of this one, up to a moment; nothing is copied')
    .argument('<key>', 'a conversation, or kind/id of an actor')
    .requiredOption('--as <key>', 'its key')
    .option('--at <seq>', 'the last commit that both share; default: the newest', wholeNumber(1))
    .option('--live', 'ask models and tools anew; default: they answer as recorded, where they are given the same')
    .option(
      '--change <seq:n>',
      'what if: fork right before this commit, and let its input N be another one: N counts its lines in statecast trace from 0, without “taken over by”; default: 0',
    )
    .option('--event <json>', 'with --change: what is different in its event, such as {"decision":"deny"}')
    .action(action(async (options, key) => (await import('./fork.ts')).fork(options, key)))
  add('test', 'fold exported traces by the machines of the app: each must arrive at the states that were recorded')
    .option('--traces <path>', 'a folder of traces, or one of them')
    .option('--only-states', 'states alone count, not what machines remember')
    .action(action(async (options) => (await import('./test.ts')).test(options)))
  add('export', 'write the journal of a conversation or actor to stdout, to be imported elsewhere')
    .argument('<key>', 'a conversation, or kind/id of an actor')
    .option('--redact', 'replace what was said, tool arguments and results, names and ids: it still replays, and cannot be resumed')
    .action(
      action(async (options, key) =>
        options.redact
          ? (await import('./export-redacted.ts')).exportRedacted(options, key)
          : (await import('./export.ts')).exportJournal(options, key),
      ),
    )
  add('import', 'import an exported journal and resume it')
    .argument('<file>', 'the file; - reads stdin')
    .action(action(async (options, file) => (await import('./import.ts')).importJournal(options, file)))
  add('tools', 'list the tools of the agents; on NATS also those of services, and how many servers answer').action(
    action(async (options) => (await import('./tools.ts')).tools(options)),
  )
  add('skills', 'list the skills, why one cannot be used, and the environments of agents').action(
    action(async (options) => (await import('./skills.ts')).skills(options)),
  )
  add('nodes', 'list the nodes on a NATS server, or say which one has a conversation')
    .argument('[key]', 'a conversation, or kind/id of an actor')
    .action(action(async (options, key) => (await import('./nodes.ts')).nodes(options, key)))
  add('drain', "hand a node's work to the others, then stop it")
    .argument('<node>', 'its id, as statecast nodes says')
    .action(action(async (options, node) => (await import('./nodes.ts')).drain(options, node)))
  const under = (parent: Command, name: string, description: string): Command =>
    parent.command(name).description(description).exitOverride().configureOutput(output)
  const config = add('config', 'print the configuration, and where each value comes from').action(
    action(async (options) => (await import('./config.ts')).configGet(options)),
  )
  under(config, 'get', 'print one value')
    .argument('<key>', 'such as agents.defaults.model')
    .action(action(async (options, key) => (await import('./config.ts')).configGet(options, key)))
  under(config, 'set', 'change one value, for all nodes')
    .argument('<key>', 'such as agents.defaults.model')
    .argument('<value>', 'JSON, or else a text; null takes it away')
    .action(action(async (options, key, value) => (await import('./config.ts')).configSet(options, key, value)))
  const token = add('token', 'list the tokens that open the doors of nodes').action(
    action(async (options) => (await import('./token.ts')).tokenList(options)),
  )
  under(token, 'create', 'make a token for some scopes and sessions; it is shown once')
    .requiredOption('--name <name>', 'what it is called here')
    .requiredOption('--scopes <scopes>', 'read, write, approve, admin; with commas between them')
    .option('--sessions <keys>', 'only these, with commas between them; * stands for anything')
    .option('--expires <time>', 'how long it holds, such as 12h or 30d; default: until it is revoked')
    .action(action(async (options) => (await import('./token.ts')).tokenCreate(options)))
  under(token, 'list', 'list them').action(action(async (options) => (await import('./token.ts')).tokenList(options)))
  under(token, 'revoke', 'let one open nothing any more')
    .argument('<name>', 'its name or id')
    .action(action(async (options, name) => (await import('./token.ts')).tokenRevoke(options, name)))
  add('machines', 'list or draw the statecharts')
    .argument('[name]', 'one of them')
    .addOption(new Option('--format <format>', 'how to draw').choices(['mermaid', 'json', 'svg', 'scxml']))
    .action(action(async (options, name) => (await import('./machines.ts')).machines(options, name)))
  add('inspect', 'print the address of the inspector of the node that runs')
    .argument('[key]', 'a conversation, or kind/id of an actor')
    .option('--stately', 'also an address that shows it to other visualisers, without a token')
    .option('--expires <time>', 'how long that one holds, such as 30m or 12h (default 1h, at most 1d)')
    .option('--open', 'open the page in a browser')
    .action(action(async (options, key) => (await import('./inspect.ts')).inspect(options, key)))
  add('check', 'check the statecharts: unreachable states, dead ends, and transitions that nothing recorded has taken')
    .option('--kind <kind>', 'only this kind, such as session')
    .option('--traces <path>', 'exported traces instead of what is recorded here, a file or a folder of them')
    .action(action(async (options) => (await import('./check.ts')).check(options)))
  add('doctor', 'find what could keep Statecast from working; models get one tiny request')
    .option('--offline', 'ask no model')
    .action(action(async (options) => (await import('./doctor/doctor.ts')).doctor(options)))
  add('permissions', 'print users for the configuration of nats-server, with the permissions of each role')
    .addOption(new Option('--role <role>', 'only this one').choices(['node', 'gateway', 'tool', 'viewer']))
    .option('--service <name...>', 'a user for the tools of this service, who hears no other tool')
    .option('--prefix <prefix>', 'first tokens of all subjects, as in your app', 'statecast')
    .action(action(async (options) => (await import('./permissions.ts')).permissions(options)))
  return program
}

/** A list to which each adds itself; without any there is none. */
const repeatable = (flags: string, about: string): Option =>
  new Option(flags, about).default([], 'none').argParser((value: string, before: string[]) => [...before, value])

const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Give a whole number from ${min}${max < 1e9 ? ` to ${max}` : ''}.`)
    return value
  }

/** Help and version come as errors of their own, with exit code 0. */
const usageError = (error: CommanderError, { json, command }: { json: boolean; command: Command | undefined }): number => {
  if (error.exitCode === 0) return exitCodes.fine
  const [message = '', ...more] = error.message.replace(/^error: /, '').split('\n')
  const near = /^\(?Did you mean (?:one of )?(.*?)\?\)?$/.exec(more.join(' '))?.[1]
  note(`error: ${message}`)
  const hint = near ? `did you mean ${near}?` : `see statecast ${command ? `${command.name()} ` : ''}--help`
  note(`hint: ${hint}`)
  if (json) printJson({ error: { code: 'bad_request', message, hint, retryable: false } })
  return exitCodes.usage
}
