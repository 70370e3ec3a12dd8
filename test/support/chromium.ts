/** A Chromium of this machine, without a window and without anything that it would do by itself. */
import { existsSync } from 'node:fs'
import { type BrowserServer, chromium } from 'playwright-core'

const places = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

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
  const executablePath = places.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined) throw new Error('no Chromium was found: `apt-get install chromium`, or set CHROMIUM_PATH to one')
  return chromium.launchServer({ executablePath, args })
}
