import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { signalExitStatus } from '#lib/service/kit/exit-status.ts'
import { type ProcessStat, processStat, readProc } from '#lib/service/kit/proc.ts'

export const childrenOf = (pid: number): number[] =>
  (readProc(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number)

export const hasExited = (pid: number): boolean => {
  const stat = processStat(pid)
  return stat === undefined || stat.state === 'Z' || stat.state === 'X'
}

const devboxIdName = 'DEVDECK_DEVBOX_ID='

type ProcessTable = ReadonlyMap<number, ProcessStat & { environment: string | undefined }>

const readProcessTable = (): ProcessTable => {
  const alive = new Map<number, ProcessStat & { environment: string | undefined }>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const stat = Number.isInteger(pid) ? processStat(pid) : undefined
    if (stat && stat.state !== 'Z' && stat.state !== 'X')
      alive.set(pid, { ...stat, environment: readProc(pid, 'environ') })
  }
  return alive
}

/**
 * Finds processes with all `marked` variables, their descendants, and sessions they lead; never this process, nor those
 * of the devboxes in `except`.
 */
export const findProcesses = (
  marked: Record<string, string>,
  { alive = readProcessTable(), except = new Set() }: { alive?: ProcessTable; except?: ReadonlySet<string> } = {},
): number[] => {
  const isExcepted = (variables: readonly string[]) =>
    variables.some((each) => each.startsWith(devboxIdName) && except.has(each.slice(devboxIdName.length)))
  const variablesToMatch = Object.entries(marked).map(([name, value]) => `${name}=${value}`)
  const found = new Set<number>()
  for (const [pid, { environment }] of alive) {
    if (!environment || !variablesToMatch.every((one) => environment.includes(one))) continue
    const variables = environment.split('\0')
    if (variablesToMatch.every((one) => variables.includes(one)) && !isExcepted(variables)) found.add(pid)
  }
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const [pid, { session, parent }] of alive) if (found.has(session) || found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

/** Processes of a service's devboxes by devbox id. Unmarked processes belong to their parent's devbox. */
export const processesByDevbox = (serviceId: string): Map<string, (ProcessStat & { pid: number })[]> => {
  const alive = readProcessTable()
  const mark = `DEVDECK_SERVICE_ID=${serviceId}`
  const devboxOf = (pid: number, left = 64): string | undefined => {
    const found = alive.get(pid)
    if (!found || left === 0) return undefined
    if (!found.environment?.includes(mark)) return devboxOf(found.parent, left - 1)
    return found.environment
      .split('\0')
      .find((variable) => variable.startsWith(devboxIdName))
      ?.slice(devboxIdName.length)
  }
  const byDevbox = new Map<string, (ProcessStat & { pid: number })[]>()
  for (const [pid, stat] of alive) {
    const id = devboxOf(pid)
    if (id === undefined) continue
    const others = byDevbox.get(id) ?? []
    byDevbox.set(id, [...others, { pid, ...stat }])
  }
  return byDevbox
}

/** Returns false if the process (or group, if negative) doesn't exist or belongs to another user. */
export const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

export const waitForExit = async (child: ChildProcess): Promise<number> => {
  const [code, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? signalExitStatus(signalName ?? 'SIGKILL')
}

/** Polls for 10 s: a process that survives SIGKILL that long is stuck in the kernel. */
export const waitUntil = async (done: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAt = Date.now() + 10_000
  while (!(await done())) {
    if (Date.now() > giveUpAt) throw new Error('Processes did not exit within 10 s')
    await delay(5)
  }
}
