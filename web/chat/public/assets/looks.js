// Theme and density before the first paint: a module would come after it. What they are is kept by src/looks.ts.
;(() => {
  let kept = {}
  try {
    kept = JSON.parse(localStorage.getItem('statecast.preferences') ?? '{}') ?? {}
  } catch {
    // Storage is off or holds something else: then what the device says.
  }
  const dark = kept.theme === 'dark' || (kept.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  document.documentElement.dataset.density = kept.density === 'compact' ? 'compact' : 'roomy'
})()
