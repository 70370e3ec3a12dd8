/** Nothing has been said yet: one question, and up to three things that work with whatever model answers, the offline stand-in too. */
const starts = [
  { say: 'what is 17*23?', name: 'What is 17*23?', what: 'a tool calculates', tool: 'calculate' },
  { say: 'list the files here', name: 'List the files here', what: 'reads only', tool: 'list_files' },
  { say: 'tell me a long story', name: 'Tell me a long story', what: 'long enough to steer it, and to stop it', tool: undefined },
]

type HelloProps = {
  /** What is offered needs a tool that the agent has. */
  tools: readonly string[] | undefined
  onStart(text: string): void
}

export const Hello = ({ tools, onStart }: HelloProps) => (
  <div class="hello">
    <div>
      <h2>What shall be done?</h2>
      <p>
        Say it in your own words. You can close this page while it works: every step is written down before it is taken, and goes on after a restart.
      </p>
    </div>
    <ul class="starts">
      {starts
        .filter(({ tool }) => tool === undefined || tools === undefined || tools.includes(tool))
        .map(({ say, name, what }) => (
          <li key={say}>
            <button type="button" onClick={() => onStart(say)}>
              {name} <span>{what}</span>
            </button>
          </li>
        ))}
    </ul>
  </div>
)
