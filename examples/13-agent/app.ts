/** The same for the command line: `npx statecast machines seller --app examples/13-agent/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { seller } from './agents.ts'

export default defineApp({ extensions: [ladder({ executables: [seller] })] })
