/** How a report looks: the colours and type of the inspector, in light and dark. */
export const reportStyle = `
:root {
  --font: -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Inter", "Cantarell", "Noto Sans", "Liberation Sans", system-ui, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color-scheme: light;
  --canvas: #fcfcfb; --raised: #ffffff; --well: #f3f4f0; --line: #e0e3dc;
  --ink: #181b19; --ink-2: #474e49; --ink-3: #575f59;
  --accent: #0b6657; --wait: #84500a; --wait-line: #dcb877; --fail: #a3301f; --fail-line: #e0a396;
}
@media (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --canvas: #131614; --raised: #1b1f1c; --well: #0e110f; --line: #2a302c;
    --ink: #e7ebe7; --ink-2: #b3bbb5; --ink-3: #9ba49e;
    --accent: #66ccb6; --wait: #ecbd62; --wait-line: #5f4a20; --fail: #f2917e; --fail-line: #6b372d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--canvas); color: var(--ink); font: 400 0.9375rem/1.6 var(--font); }
main { max-width: 960px; margin: 0 auto; padding: 32px 16px 48px; }
h1 { font-size: 1.5rem; line-height: 1.35; font-weight: 600; margin: 0 0 4px; }
h2 { font-size: 1.0625rem; font-weight: 600; margin: 32px 0 12px; }
h3 { font-size: 0.9375rem; font-weight: 600; margin: 0 0 8px; overflow-wrap: anywhere; }
p { margin: 0 0 8px; overflow-wrap: anywhere; }
small, .meta { color: var(--ink-3); font-size: 0.8125rem; font-weight: 400; }
.fail { color: var(--fail); } .wait { color: var(--wait); } .fine { color: var(--accent); }
.counts { display: flex; flex-wrap: wrap; gap: 24px; list-style: none; padding: 0; margin: 16px 0 0; }
.counts b { font-size: 1.0625rem; font-weight: 600; }
.card { background: var(--raised); border: 1px solid var(--line); border-left-width: 4px; border-radius: 10px; padding: 12px 16px; margin: 0 0 12px; }
.card.different { border-left-color: var(--fail-line); } .card.unreadable { border-left-color: var(--wait-line); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; margin: 0; font-size: 0.8125rem; }
dt { color: var(--ink-2); } dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; padding: 4px 8px; max-height: 20rem; overflow: auto; background: var(--well); border-radius: 6px; font: 0.8667em/1.5 var(--mono);
  white-space: pre-wrap; overflow-wrap: anywhere; }
.same { list-style: none; padding: 0; margin: 0; columns: 22rem; font-size: 0.8125rem; }
.same li { overflow-wrap: anywhere; break-inside: avoid; }
@media print { .card { break-inside: avoid; } }
`
