import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type ProcessStat, processStat, readProc } from '#lib/service/kit/proc.ts'

export const childrenOf = (pid: number): number[] =>
  (readProc(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number)

export const hasExited = (pid: number): boolean => {
  const stat = processStat(pid)
  return stat === undefined || stat.state === 'Z' || stat.state === 'X'
}

type ProcessTable = ReadonlyMap<number, ProcessStat & { environment: string | undefined }>

export const readProcessTable = (): ProcessTable => {
  const alive = new Map<number, ProcessStat & { environment: string | undefined }>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const stat = Number.isInteger(pid) ? processStat(pid) : undefined
    if (stat && stat.state !== 'Z' && stat.state !== 'X')
      alive.set(pid, { ...stat, environment: readProc(pid, 'environ') })
  }
  return alive
}

let nextTable: Promise<ProcessTable> | undefined

/**
 * Like `findProcesses`, but calls in the same tick share one scan of /proc. Without it, stopping 100 devboxes would
 * block the service for seconds.
 */
export const findProcessesBatched = async (
  marked: Record<string, string>,
  scan = readProcessTable,
): Promise<number[]> => {
  nextTable ??= new Promise((resolve, reject) => {
    setImmediate(() => {
      nextTable = undefined
      try {
        resolve(scan())
      } catch (error) {
        reject(error)
      }
    })
  })
  return findProcesses(marked, await nextTable)
}

/**
 * Finds processes whose environment contains all `marked` variables, their descendants, and sessions they lead. Never
 * includes this process, or sessions led by someone else such as the login shell.
 */
export const findProcesses = (marked: Record<string, string>, alive: ProcessTable = readProcessTable()): number[] => {
  const variablesToMatch = Object.entries(marked).map(([name, value]) => `${name}=${value}`)
  const found = new Set<number>()
  for (const [pid, { environment }] of alive) {
    if (!environment || !variablesToMatch.every((one) => environment.includes(one))) continue
    const variables = environment.split('\0')
    if (variablesToMatch.every((one) => variables.includes(one))) found.add(pid)
  }
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const [pid, { session, parent }] of alive) if (found.has(session) || found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
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

export const signalExitStatus = (name: NodeJS.Signals): number => 128 + constants.signals[name]

export const waitForExit = async (child: ChildProcess): Promise<number> => {
  const [code, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? signalExitStatus(signalName ?? 'SIGKILL')
}

/**
 * Polls until `done` returns true. Throws after 10 s: a process that survives SIGKILL that long is stuck in the kernel.
 */
export const waitUntil = async (done: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAt = Date.now() + 10_000
  while (!(await done())) {
    if (Date.now() > giveUpAt) throw new Error('Processes did not exit within 10 s')
    await delay(5)
  }
}
