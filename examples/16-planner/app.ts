/** The same for the command line: `npx statecast machines trip --app examples/16-planner/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { trip } from './trip.ts'

export default defineApp({ extensions: [ladder({ executables: [trip] })] })
