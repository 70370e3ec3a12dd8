/** Two lives of a process: the second one goes on with the session of the first. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime } from '../../src/index.ts'
import { type HistoryMessage, ladder } from '../../src/ladder.ts'
import { desk } from './desk.ts'

const data = await mkdtemp(join(tmpdir(), 'statecast-desk-'))
const start = () =>
  createRuntime({
    transport: `embedded:${data}`,
    extensions: [ladder({ executables: [desk] })],
    models: {
      'desk/clerk': ({ messages }) => {
        const said = messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))
        return { text: said.length === 1 ? 'Within 14 days.' : `You have asked ${said.length} things so far.` }
      },
    },
  })

// What was said is ours to keep.
const history: HistoryMessage[] = []
const ask = async (question: string): Promise<void> => {
  const { data: state, error, turnIndex, compaction, report } = await desk.execute(question, { sessionId: 'ann', history })
  if (error) throw error
  console.log(`turn ${turnIndex}: ${question} → ${state?.answer} (${state?.questions} asked, ${report.status})`)
  history.push({ role: 'user', content: question }, { role: 'assistant', content: state?.answer ?? '' })
  if (compaction)
    console.log(`  may stand for messages ${compaction.replacesFromIndex} to ${compaction.replacesToIndex}: ${compaction.summary.content}`)
}

{
  await using _ = await start()
  await ask('When may I return the lamp?')
  await ask('And the shade?')
}
await using runtime = await start()
await ask('What did I ask?')
console.log(`sessions: ${(await desk.sessions()).join(', ')}`)
console.log(`replay: ${(await runtime.replay({ kind: 'desk', id: 'ann' })).verdict}`)
await runtime.close()
await rm(data, { recursive: true })
