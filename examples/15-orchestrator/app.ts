/** The same for the command line: `npx statecast machines desk-turn --app examples/15-orchestrator/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { desk } from './desk.ts'

export default defineApp({ extensions: [ladder({ executables: [desk] })] })
