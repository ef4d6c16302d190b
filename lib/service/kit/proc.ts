import { readFileSync } from 'node:fs'

export interface ProcessStat {
  state: string
  parent: number
  group: number
  session: number
  /** Foreground process group of the terminal; -1 without one. */
  foregroundGroup: number
  cpuTicks: number
  startTime: string
  residentPages: number
}

export const processStat = (pid: number): ProcessStat | undefined => {
  const text = readProc(pid, 'stat')
  if (text === undefined) return undefined
  // The command name is in parentheses and may contain some.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Field numbers of proc(5); the state is field 3.
  const field = (number: number) => fields[number - 3] ?? ''
  return {
    state: field(3),
    parent: Number(field(4)),
    group: Number(field(5)),
    session: Number(field(6)),
    foregroundGroup: Number(field(8)),
    cpuTicks: [14, 15, 16, 17].reduce((sum, number) => sum + Number(field(number)), 0),
    startTime: field(22),
    residentPages: Number(field(24)),
  }
}

export const readProc = (
  pid: number,
  file: 'stat' | 'comm' | 'environ' | 'cgroup' | 'cmdline' | `task/${number}/children`,
) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return undefined
  }
}
