import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

/** Every browser that can run the page reads this form of the fonts of formulas; the other two would only be carried along. */
const oneFormOfFonts: Plugin = {
  name: 'one-form-of-fonts',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('/katex/') && id.endsWith('.css') ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, '') : undefined,
}

/** The page as it is served: files of its own only, nothing inline, so that the strictest content security policy lets all of it through. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  logLevel: 'warn',
  plugins: [oneFormOfFonts],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../dist/web/chat', import.meta.url)),
    emptyOutDir: true,
    // A font in a `data:` address would be refused by `font-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
})
