/** The same for the command line: `npx statecast machines desk --app examples/14-supervisor/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { desk } from './desk.ts'

export default defineApp({ extensions: [ladder({ executables: [desk] })] })
