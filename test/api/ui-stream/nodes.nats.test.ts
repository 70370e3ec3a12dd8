/** A chat whose page talks to one node, while the session lives on another. */
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { expect, test, vi } from 'vitest'
import { agent, type RuntimeOptions } from '../../../src/index.ts'
import { natsForAll } from '../../support/nats.ts'
import { aNode, danger, partsIn, said } from './harness.ts'

const server = natsForAll()

const nodes = async () => {
  const options: Partial<RuntimeOptions> = {
    transport: server.url,
    prefix: 'ui',
    agents: [agent({ name: 'main', model: 'test/talker', tools: [danger()] })],
    models: {
      'test/talker': ({ messages }) =>
        messages.at(-1)?.role === 'user'
          ? { chunks: ['May ', 'I', '?'], reasoning: 'hm', calls: [{ name: 'danger' }] }
          : { chunks: ['All ', 'done.'] },
    },
  }
  const both = [await aNode(options), await aNode(options)] as const
  await vi.waitFor(() => expect(both[0].runtime.nodes().map(({ partitions }) => partitions > 0)).toEqual([true, true]), 20_000)
  return both
}

test('wherever a session lives, its answer is streamed, asked about, decided and resumed by any node, and no word is lost or doubled', async () => {
  const [one, other] = await nodes()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const web = one.chat({ id: key })
    await web.sendMessage({ text: 'go' })
    expect([key, web.texts, web.tool?.state]).toEqual([key, ['May I?'], 'approval-requested'])

    const page = other.chat({ id: key, messages: web.messages, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await page.addToolApprovalResponse({ id: page.tool.approval.id, approved: true })
    await vi.waitFor(() => expect([key, page.texts, page.tool.state]).toEqual([key, ['May I?', 'All done.'], 'output-available']), 10_000)

    const again = await partsIn(await one.post(said('go', web.messages[0]?.id, key)))
    expect(again.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : []))).toEqual(['May I?', 'All done.'])
  }
})
