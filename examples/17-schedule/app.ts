/** The same for the command line: `npx statecast machines nightly --app examples/17-schedule/app.ts`. */
import { defineApp } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { aNightly, report } from './reports.ts'

export default defineApp({ extensions: [ladder({ executables: [report, aNightly({ cron: '0 2 * * *', timezone: 'Europe/Berlin' })] })] })
