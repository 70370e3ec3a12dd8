/** A runtime with executables, on virtual time. */
import { type Executable, ladder } from '../../src/ladder/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

export const aLadder = (...executables: Executable[]) => testRuntime({ extensions: [ladder({ executables })] })
