/** `statecast skills`: the skills that there are, why one cannot be used, and the environments of agents. */
import type { EnvironmentStatus, SkillList } from '../contracts/skill.ts'
import { shortText } from './cards.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, printable, printJson } from './output.ts'
import { printTable } from './table.ts'

export const skills = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { skills: all, problems } = await client.command<SkillList>('skills.list', {})
    const { environments } = await client.command<{ environments: EnvironmentStatus[] }>('environments.list', {})
    if (options.json) for (const row of [...all, ...problems, ...environments]) printJson(row)
    else {
      if (all.length === 0) note('there are no skills: make a folder skills/<name> with a SKILL.md, see docs/guides/skills.md')
      else
        printTable(
          ['SKILL', 'KIND', 'SOURCE', 'COMMAND', 'USABLE', 'DESCRIPTION'],
          all.map(({ name, kind, source, command, eligible, why = '', description }) => [
            printable(name),
            printable(kind),
            printable(source),
            command === undefined ? '-' : `/${command}`,
            eligible ? 'yes' : `no: ${printable(why)}`,
            shortText(description),
          ]),
        )
      for (const { name, state, agents, error } of environments)
        note(
          `environment ${printable(name)} of ${agents.map((agent) => printable(agent)).join(', ') || 'no agent'}: ${state}${error ? `, ${printable(error)}` : ''}`,
        )
      for (const { path, problem, hint } of problems) note(`${printable(path)} was skipped: ${printable(problem)}; ${printable(hint)}`)
    }
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
