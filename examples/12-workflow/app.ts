/** The same for the command line: `npx statecast machines fulfil --app examples/12-workflow/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { fulfil } from './fulfil.ts'

export default defineApp({ extensions: [ladder({ executables: [fulfil] })] })
