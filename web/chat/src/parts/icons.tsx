/** Drawings of one line, 16 px, and the signs of statecharts that stand on the rail, 15 px. */
import type { VNode } from 'preact'

const paths = {
  chevron: 'M6 4l4 4-4 4',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  up: 'M8 12.5v-9M4.5 7L8 3.5 11.5 7',
  last: 'M8 3.5v9M4.5 9L8 12.5 11.5 9',
  copy: 'M6 6.8A1.3 1.3 0 017.3 5.5h4.9a1.3 1.3 0 011.3 1.3v4.9a1.3 1.3 0 01-1.3 1.3H7.3A1.3 1.3 0 016 11.7zM3.8 10.2A1.3 1.3 0 012.5 9V4.3A1.3 1.3 0 013.8 3h4.7a1.3 1.3 0 011.3 1',
  again: 'M12.8 9.3a5 5 0 11-.7-4M12.6 2.5v3h-3',
  why: 'M3.5 2.5h3a1 1 0 011 1v1.5a1 1 0 01-1 1h-3a1 1 0 01-1-1V3.5a1 1 0 011-1zM10 10h3a1 1 0 011 1v1.5a1 1 0 01-1 1h-3a1 1 0 01-1-1V11a1 1 0 011-1zM5 6v4.25a1.5 1.5 0 001.5 1.5H9',
  cross: 'M4.2 4.2l7.6 7.6m0-7.6l-7.6 7.6',
  pen: 'M3 13l.7-3 6.9-6.9a1.2 1.2 0 011.7 0l.6.600a1.2 1.2 0 010 1.7L6 12.3z',
  bin: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  plus: 'M8 3.2v9.6M3.2 8h9.6',
  search: 'M11 7A4 4 0 113 7a4 4 0 018 0zM10 10l3.5 3.5',
  settings: 'M2 5h6.5M12.5 5H14M12.4 5a1.9 1.9 0 11-3.8 0 1.9 1.9 0 013.8 0zM2 11h1.5M7.5 11H14M7.4 11a1.9 1.9 0 11-3.8 0 1.9 1.9 0 013.8 0z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h7',
  more: 'M3.6 8h.01M8 8h.01M12.4 8h.01',
  send: 'M8 12.8V3.6M4 7.5l4-4 4 4',
  check: 'M3.5 8.5l3 3 6-7',
  bulb: 'M6 11.3V10a4 4 0 114 0v1.3zM6.6 13.6h2.8',
  join: 'M4 2.5v11M13 4.5C7.5 4.5 4 6.5 4 11',
  queue: 'M3 4.5h10M3 8h10M3 11.5h5.5',
  clip: 'M12.5 7.4L7.7 12.2a2.8 2.8 0 01-4-4l5.2-5.2a1.9 1.9 0 012.7 2.7l-5.1 5.1a.9.9 0 01-1.3-1.3l4.5-4.5',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  stop: 'M5.5 4h5A1.5 1.5 0 0112 5.5v5a1.5 1.5 0 01-1.5 1.5h-5A1.5 1.5 0 014 10.5v-5A1.5 1.5 0 015.5 4z',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, class: className }: { name: IconName; class?: string }) => (
  <svg class={`icon-${name} ${className ?? ''}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)

/** Two states and the way from one to the other. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 18 18" aria-hidden="true">
    <rect x="1.2" y="3" width="15.6" height="12" rx="4" />
    <circle class="full" cx="6" cy="9" r="1.9" />
    <path d="M8.5 9h2.2" />
    <circle cx="12.9" cy="9" r="1.6" />
  </svg>
)

const ring = <circle cx="7.5" cy="7.5" r="5.2" />

const signs = {
  first: <circle class="full" cx="7.5" cy="7.5" r="4.5" />,
  thinking: <circle cx="7.5" cy="7.5" r="2.5" />,
  tool: <rect x="3" y="4" width="9" height="7" rx="2.2" />,
  'tool-failed': <rect class="full" x="3" y="4" width="9" height="7" rx="2.2" />,
  choice: <path class="full" d="M7.5 1.5l6 6-6 6-6-6z" />,
  completed: [ring, <circle key="dot" class="full" cx="7.5" cy="7.5" r="2.4" />],
  stopped: [ring, <path key="bar" class="thick" d="M4.8 7.5h5.4" />],
  failed: [ring, <path key="cross" d="M5.5 5.5l4 4m0-4l-4 4" />],
  history: [<circle key="ring" cx="7.5" cy="7.5" r="6.2" />, <path key="letter" d="M5.5 5v5m4-5v5m-4-2.5h4" />],
  aside: <circle class="dashed" cx="7.5" cy="7.5" r="4.5" />,
} satisfies Record<string, VNode | VNode[]>

export type SignName = keyof typeof signs

/** `tone`: the meaning of its colour, which is never the only sign of it. */
export const Sign = ({ name, tone = '' }: { name: SignName; tone?: 'run' | 'wait' | 'fail' | 'doubt' | '' }) => (
  <span class={`sign ${name} ${tone}`}>
    <svg viewBox="0 0 15 15" aria-hidden="true">
      {signs[name]}
    </svg>
  </span>
)
