import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** The inspector as it is served: files of its own only, workers too, so that the strictest content security policy lets all of it through. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/inspector/',
  publicDir: fileURLToPath(new URL('../chat/public', import.meta.url)),
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: fileURLToPath(new URL('../../dist/web/inspector', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // The layout of charts is one large library, and asked for only where one is drawn.
    chunkSizeWarningLimit: 3000,
  },
})
