/** A nats-server of our own for a benchmark: on loopback, with JetStream on disk and the server's own default of syncing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { natsServer } from '../../scripts/nats-server.ts'
import { dieWithUs } from '../../test/support/guard.ts'

export type BenchServer = { url: string; pid: number; store: string; stop(): Promise<void> }

const startMs = 10_000
const stepMs = 20

/** @param folder for its files @param sync `always` to sync each write before it is acknowledged */
export const startServer = async (folder: string, sync?: 'always'): Promise<BenchServer> => {
  const ports = join(folder, 'ports')
  const store = join(folder, 'jetstream')
  mkdirSync(ports, { recursive: true })
  const config = join(folder, 'nats.conf')
  const jetStream = `store_dir: "${store}"${sync === undefined ? '' : `, sync_interval: ${sync}`}`
  writeFileSync(config, `listen: "127.0.0.1:-1"\nports_file_dir: "${ports}"\njetstream { ${jetStream} }\n`)
  const server = spawn(await natsServer(), ['-c', config], { stdio: 'ignore' })
  const release = dieWithUs(server.pid as number)
  for (let waited = 0; waited < startMs; waited += stepMs) {
    const [file] = existsSync(ports) ? readdirSync(ports) : []
    const text = file === undefined ? '' : readFileSync(join(ports, file), 'utf8')
    const [url] = text === '' ? [] : (JSON.parse(text) as { nats: string[] }).nats
    if (url !== undefined)
      return {
        url,
        pid: server.pid as number,
        store,
        stop: async () => {
          const gone = once(server, 'exit')
          server.kill('SIGKILL')
          await gone
          release()
        },
      }
    await pause(stepMs)
  }
  server.kill('SIGKILL')
  release()
  throw new Error('the nats-server of the benchmark did not start')
}
