/** Runs examples one after the other in one process. A line that names the example ends its part of each output. */
import { writeSync } from 'node:fs'

for (const name of process.argv.slice(2)) {
  try {
    await import(`../../examples/${name}/main.ts`)
  } catch (error) {
    console.error(error)
  }
  for (const output of [1, 2]) writeSync(output, `\n--- ${name}\n`)
}
