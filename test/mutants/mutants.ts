/** Bugs that somebody might plant by mistake, each a small change of the real code, with the promise that it breaks. */

export type Mutant = {
  name: string
  /** Below `src/`. */
  file: string
  /** Has to be there exactly once. */
  find: string
  replace: string
  /** Who notices, where it is none of those that run.ts asks about every bug. */
  tests?: string[]
}

export const mutants: Mutant[] = [
  {
    name: 'act before the commit',
    file: 'actors/journal/append.ts',
    find: 'export const appendCommit = async (append: Append): Promise<void> => {',
    replace:
      'export const appendCommit = async (append: Append): Promise<void> => void appendLater(append).catch(() => undefined)\nconst appendLater = async (append: Append): Promise<void> => {',
  },
  {
    name: 'skip the fence',
    file: 'actors/journal/append.ts',
    find: "if (appended.outcome === 'ok') return",
    replace: "if (appended.outcome !== 'unknown') return",
  },
  {
    name: 'believe a timeout to be a success',
    file: 'actors/journal/append.ts',
    find: "if (appended.outcome === 'ok') return",
    replace: "if (appended.outcome !== 'fenced') return",
  },
  {
    name: 'believe a timeout to be a failure',
    file: 'actors/journal/append.ts',
    find: '    const last = await lastOf(journal, address)\n    if (last',
    replace: '    if (failed) throw failed\n    const last = await lastOf(journal, address)\n    if (last',
  },
  {
    name: 'drop the de-duplication',
    file: 'actors/root/state.ts',
    find: 'const before = recent.get(input.id)',
    replace: 'const before = undefined as any',
  },
  {
    name: 'forget the de-duplication in a snapshot',
    file: 'actors/journal/ledger.ts',
    find: '({ ...ledger, recent: [...ledger.recent] })',
    replace: '({ ...ledger, recent: [] })',
  },
  {
    name: 'forget timers after recovery',
    file: 'actors/replica/replica.ts',
    find: 'for (const timer of snapshot.timers) {',
    replace: 'for (const timer of snapshot.timers.slice(0, 0)) {',
  },
  {
    name: 'forget to be woken for a timer',
    file: 'actors/root/state.ts',
    find: ': timers.nextDue(), at }',
    replace: ': null, at }',
  },
  {
    name: 'fire recovered timers at once',
    file: 'actors/replica/timers.ts',
    find: 'if (restored) restored.dueAt = timer.dueAt',
    replace: 'if (restored) restored.dueAt = 0',
  },
  { name: 're-use an incarnation', file: 'actors/replica/paths.ts', find: '(before ?? uses.floor) + 1', replace: '1' },
  {
    name: 'take the word of an incarnation that is gone',
    file: 'actors/replica/replica.ts',
    find: "return alive(input.to) && (!('from' in input) || alive(input.from))",
    replace: 'return alive(input.to)',
  },
  { name: 'skip the claim', file: 'actors/root/root.ts', find: '    await this.#committer.note(quarantine ? { quarantine } : extra)\n', replace: '' },
  {
    name: 'claim without a new epoch',
    file: 'actors/root/state.ts',
    find: 'const epoch = this.ledger.epoch + (this.claimed ? 0 : 1)',
    replace: 'const epoch = Math.max(1, this.ledger.epoch)',
  },
  {
    name: 'commit half a batch',
    file: 'actors/root/committer.ts',
    find: 'applied.map(({ waiting }) => waiting.input)',
    replace: 'applied.slice(0, Math.ceil(applied.length / 2)).map(({ waiting }) => waiting.input)',
  },
  { name: 'break the chain of commits', file: 'actors/journal/ledger.ts', find: '  ledger.prev = crc\n', replace: '' },
  { name: 'let recorded time go back', file: 'actors/root/state.ts', find: 'Math.max(this.ledger.at, now)', replace: 'now' },
  {
    name: 'forget the actions of the last commit',
    file: 'actors/journal/recovery.ts',
    find: 'if (outputs.some(mustBeRepeated)) doubtful.set(seq, { commit, outputs: outputs.filter(mustBeRepeated) })',
    replace: '',
  },
  {
    name: 'forget actions that had begun before the last commit',
    file: 'actors/journal/recovery.ts',
    find: 'if (!commit.owed?.includes(before)) doubtful.delete(before)',
    replace: 'doubtful.delete(before)',
  },
  {
    name: 'take a snapshot while an action still runs',
    file: 'actors/root/root.ts',
    find: 'this.#effects.hasPending ? undefined : this.#state.saveEvery',
    replace: 'this.#state.saveEvery',
  },
  {
    name: 'restart an effect without what it was sent',
    file: 'actors/root/effect-runner.ts',
    find: 'this.#launch(effect, epoch, effect.sent.slice())',
    replace: 'this.#launch(effect, epoch, [])',
  },
  {
    name: 'give up on the result of an effect when the store is full',
    file: 'actors/root/committer.ts',
    find: 'patienceMs: patient ? host.limits.patienceMs : 0',
    replace: 'patienceMs: 0',
  },
  {
    name: 'run again what may run once',
    file: 'machines/tool-call/tool.effects.ts',
    find: "if (info.restarted && onCrash === 'once')",
    replace: 'if (info.attempt < 0)',
  },
  { name: 'act as a zombie', file: 'tools/run.ts', find: '      await confirm()\n', replace: '' },
  {
    name: 'show what is not durable',
    file: 'actors/root/root.ts',
    find: 'while (this.#uncommitted.pending && !this.#gone) {',
    replace: 'while (this.#uncommitted.pending && !this.#gone && this.#phase === undefined) {',
  },
  {
    name: 'lose a message while a summary is made',
    file: 'machines/session/session.machine.ts',
    find: "        admit: acceptForLater,\n        cancel: [\n          { guard: 'namesNoRun', target: 'admission'",
    replace: "        admit: {},\n        cancel: [\n          { guard: 'namesNoRun', target: 'admission'",
  },
  {
    name: 'drop queued messages without an outcome',
    file: 'machines/session/session.setup.ts',
    find: "      enqueue.emit({ type: 'transcript', ended: outputs.map(outcomeOf) })\n    }),\n    keepApproval",
    replace: '    }),\n    keepApproval',
  },
  {
    name: 'decide an approval twice',
    file: 'machines/tool-call/tool.machine.ts',
    find: '    ranPerhaps: (_, { error }: { error: unknown }) => errorBody(error).code ===',
    replace: '    ranPerhaps: (_, { error }: { error: unknown }) => !errorBody(error).code && errorBody(error).code ===',
  },
  {
    name: 'leave a skipped call without a result',
    file: 'machines/loop/calls.rules.ts',
    find: "    return [{ call, status: index < launched ? ('cancelled' as const) : ('skipped' as const), message }]",
    replace: "    return index < launched ? [{ call, status: 'cancelled' as const, message }] : []",
  },
  {
    name: 'receipts before durability',
    file: 'actors/root/root.ts',
    find: '      const commit = await this.#committer.commit(applied, outputs, extra)\n',
    replace:
      '      for (const { waiting } of applied) waiting.resolve({ seq: this.seq + 1, at: this.#state.ledger.at, duplicate: false, emitted: waiting.emitted })\n      const commit = await this.#committer.commit(applied, outputs, extra)\n',
  },
  {
    name: 'launch after a rest while a commit is on its way',
    file: 'actors/root/effect-runner.ts',
    find: 'this.#host.alone(() => this.#later === later && this.launchAll(replica, epoch))',
    replace: 'this.launchAll(replica, epoch)',
    tests: ['test/actors/root/supervision.test.ts'],
  },
  {
    name: 'acknowledge what is not synced',
    file: 'transport/embedded/database.ts',
    find: 'PRAGMA synchronous = FULL',
    replace: 'PRAGMA synchronous = NORMAL',
    tests: ['test/crash/power-cut.test.ts'],
  },
  {
    name: 'begin a journal that somebody else has begun',
    file: 'transport/nats/link.ts',
    find: 'expect: expected === undefined ? undefined',
    replace: 'expect: !expected ? undefined',
    tests: ['test/transport/nats.test.ts'],
  },
  {
    name: 'forget what comes after one page of the past',
    file: 'actors/journal/recovery.ts',
    find: 'if (frames.length < limit) break',
    replace: 'break',
    tests: ['test/actors/pages.test.ts'],
  },
  {
    name: 'write a low byte with one digit',
    file: 'contracts/subjects.ts',
    find: ".toUpperCase().padStart(2, '0')",
    replace: '.toUpperCase()',
    tests: ['test/contracts/subjects.test.ts'],
  },
  {
    name: 'read two spellings of one name',
    file: 'contracts/subjects.ts',
    find: 'if (escapeToken(id) !== token) throw',
    replace: "if (id === '') throw",
    tests: ['test/contracts/subjects.test.ts'],
  },
  {
    name: 'log secrets',
    file: 'runtime/system-environment.ts',
    find: 'log[level](redacted({ ...fields(), ...details }), message)',
    replace: 'log[level]({ ...fields(), ...details }, message)',
    tests: ['test/runtime/system-environment.test.ts'],
  },
  {
    name: 'forget who may be answered',
    file: 'chat/chat.ts',
    find: 'sendRules: sendPolicy',
    replace: 'sendRules: []',
    tests: ['test/chat/inbound/send-policy.test.ts'],
  },
  {
    name: 'acknowledge what went into a folder that was moved',
    file: 'transport/embedded/group-commit.ts',
    find: '      files.require()\n      mark.committed()',
    replace: '      mark.committed()',
    tests: ['test/transport/embedded.group-commit.test.ts'],
  },
  {
    name: 'take the lease of a living node',
    file: 'cluster/node.effects.ts',
    find: 'membership.isAlive(lease.holder)\n',
    replace: 'lease.holder === me\n',
    tests: ['test/actors/host/placement.test.ts'],
  },
  {
    name: 'forget who had a partition before',
    file: 'cluster/node.effects.ts',
    find: '{ holder: wanted, previous: me }',
    replace: '{ holder: wanted, previous: null }',
    tests: ['test/actors/host/placement.test.ts'],
  },
  {
    name: 'drain without a word',
    file: 'cluster/node.effects.ts',
    find: 'draining = true\n          void say()',
    replace: 'draining = true',
    tests: ['test/actors/host/placement.test.ts'],
  },
  {
    name: 'renew the own word only once',
    file: 'cluster/node.effects.ts',
    find: 'void say().then(() => ended || soon())',
    replace: 'void say()',
    tests: ['test/actors/host/placement.test.ts'],
  },
  {
    name: 'take an actor that another node still has',
    file: 'cluster/cluster.ts',
    find: 'if (holds === true) throw elsewhereError(address, previous)',
    replace: '',
    tests: ['test/cluster/admission.test.ts'],
  },
  {
    name: 'take work of others while draining',
    file: 'cluster/remote-effects.ts',
    find: '      for (const one of stops.splice(0)) one()\n      await Promise.allSettled(running)',
    replace: '      await Promise.allSettled(running)\n      for (const one of stops.splice(0)) one()',
    tests: ['test/cluster/remote-effects.test.ts'],
  },
  {
    name: 'end a failed turn as if it were fine',
    file: 'cli/answer.ts',
    find: 'return exitCodes.failed',
    replace: 'return exitCodes.fine',
    tests: ['test/cli/send.test.ts'],
  },
  {
    name: 'keep as much free of a small window as of a large one',
    file: 'machines/loop/loop.context.ts',
    find: 'Math.min(reserveTokens, window * reserveShare)',
    replace: 'reserveTokens',
    tests: ['test/machines/loop/loop.machine.test.ts'],
  },
  {
    name: 'keep the costs of every day',
    file: 'machines/session/record.rules.ts',
    find: 'days.slice(-daysMax)',
    replace: 'days',
    tests: ['test/machines/session/record.rules.test.ts'],
  },
  {
    name: 'count no failed run',
    file: 'runtime/metrics.rules.ts',
    find: "if (how === 'error') runs.failed++",
    replace: '',
    tests: ['test/runtime/metrics.test.ts'],
  },
  {
    name: 'count all tokens of a run for one model',
    file: 'runtime/metrics.rules.ts',
    find: 'event.byModel ?? { [event.model]: event.usage }',
    replace: '{ [event.model]: event.usage }',
    tests: ['test/runtime/metrics.test.ts'],
  },
]
