#!/usr/bin/env node
// Plain JavaScript that any Node understands: it finds a Node new enough, then the sources (clone) or the build (published package).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { dirname, join, sep } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const oldest = [22, 18]
const marker = 'STATECAST_REEXECUTED'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) await run()
else reexecute()

async function run() {
  delete process.env[marker] // children of ours decide for themselves
  // Our old-Node parent holds the other end of this channel. When it goes, even by kill -9, we go the same way: whoever killed the
  // launcher meant the runtime.
  if (process.send) {
    process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
    process.channel?.unref()
  }
  module.enableCompileCache?.() // starts faster from the second time on
  const source = new URL('../src/cli/main.ts', import.meta.url)
  // Node strips types anywhere but under node_modules, so an installed package always runs its build.
  const inClone = !fileURLToPath(import.meta.url).includes(`${sep}node_modules${sep}`) && existsSync(source)
  const { main } = await import(inClone ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
  // Not process.exit(): what is still on its way into a pipe would be cut off.
  process.exitCode = await main(process.argv.slice(2))
}

/** Runs this script again under the Node of the `node` package: a dev dependency here, so a clone works where the system has Node 20. */
function reexecute() {
  const node = findNode()
  if (node === undefined || process.env[marker]) {
    console.error(`statecast needs Node >= ${oldest.join('.')}, this is ${process.versions.node}`)
    console.error('cure: install a newer Node, or add one to your project with: npm install --save-dev node@24')
    process.exit(1)
  }
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const env = { ...process.env, [marker]: '1' }
  // Same process, nothing to forward. Node 20 has no execve and goes on below.
  if (typeof process.execve === 'function') process.execve(node, [node, ...argv], env)

  const child = spawn(node, argv, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env })
  const terminal = [0, 1, 2].some((fd) => isatty(fd))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'])
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole group: forwarding it would make two of one, and two mean "leave".
      if (!(terminal && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal)
    })
  child.on('error', (error) => {
    console.error(`statecast could not start ${node}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal) // die the same death, so that the shell sees it
  })
}

function findNode() {
  try {
    const folder = dirname(module.createRequire(import.meta.url).resolve('node/package.json'))
    return [join(folder, 'bin', 'node'), join(folder, 'bin', 'node.exe')].find((file) => existsSync(file))
  } catch {
    return undefined // a published package has no dev dependencies
  }
}
