/** A Chromium of this machine, without a window and without anything that it would do by itself. */
import { existsSync } from 'node:fs'
import { type BrowserServer, chromium } from 'playwright-core'
import { programPath } from './programs.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome']

const args = [
  // It may run as root, and in a container.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts one that several processes can use, one after the other. @throws Error that says how to get one */
export const launchChromium = async (): Promise<BrowserServer> => {
  const given = process.env.CHROMIUM_PATH
  if (given && !existsSync(given)) throw new Error(`CHROMIUM_PATH names '${given}', which does not exist: unset it, or name a Chromium`)
  const executablePath = given || names.map((name) => programPath(name)).find((path) => path !== undefined)
  if (executablePath === undefined) throw new Error('no Chromium was found: `apt-get install chromium`, or set CHROMIUM_PATH to one')
  return chromium.launchServer({ executablePath, args })
}
