import { readFileSync } from 'node:fs'

export interface ProcessStat {
  /** `Z` and `X`: it has ended. */
  state: string
  parent: number
  session: number
  /** Foreground process group of the controlling terminal, -1 without one. */
  foregroundGroup: number
  /** Its own, and that of its ended children. */
  cpuTicks: number
  /** With the pid it tells one process from all others until the next boot. */
  startTime: string
  residentPages: number
}

/** Undefined for a process that has gone, and where there is no /proc. */
export const processStat = (pid: number): ProcessStat | undefined => {
  const text = readProc(pid, 'stat')
  if (text === undefined) return undefined
  // The command name stands in parentheses and may hold anything, further parentheses too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // By the numbers of proc(5), where the state is field 3.
  const field = (number: number) => fields[number - 3] ?? ''
  return {
    state: field(3),
    parent: Number(field(4)),
    session: Number(field(6)),
    foregroundGroup: Number(field(8)),
    cpuTicks: [14, 15, 16, 17].reduce((sum, number) => sum + Number(field(number)), 0),
    startTime: field(22),
    residentPages: Number(field(24)),
  }
}

/** A file of the process; undefined when the process has gone, or is another user's. */
export const readProc = (pid: number, file: 'stat' | 'environ' | 'cmdline' | `task/${number}/children`) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return undefined
  }
}
