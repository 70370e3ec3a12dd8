import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vite'
import shipped from '../../../web/chat/vite.config.ts'

/** Built as the page that is shipped, into another folder, which the test names. */
export default mergeConfig(
  shipped,
  defineConfig({
    root: fileURLToPath(new URL('.', import.meta.url)),
    publicDir: fileURLToPath(new URL('../../../web/chat/public', import.meta.url)),
  }),
)
