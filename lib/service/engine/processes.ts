import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type ProcessStat, processStat, readProc } from '#lib/service/kit/proc.ts'

export const childrenOf = (pid: number): number[] =>
  (readProc(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number)

/** True for a zombie as well: it runs nothing any more. */
export const isGone = (pid: number): boolean => {
  const stat = processStat(pid)
  return stat === undefined || stat.state === 'Z' || stat.state === 'X'
}

/** Every process that has not ended, with its environment if it may be read. */
type ProcessTable = ReadonlyMap<number, ProcessStat & { environment: string | undefined }>

export const readTable = (): ProcessTable => {
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
 * As `findProcesses`, after a moment: all calls until then share one look at /proc, which takes the longer the more
 * processes there are. A hundred devboxes that end together would otherwise block the service for seconds.
 */
export const findProcessesSoon = async (marked: Record<string, string>, look = readTable): Promise<number[]> => {
  nextTable ??= new Promise((resolve, reject) => {
    setImmediate(() => {
      nextTable = undefined
      try {
        resolve(look())
      } catch (error) {
        reject(error)
      }
    })
  })
  return findProcesses(marked, await nextTable)
}

/**
 * Processes whose environment holds all of `marked`, all descendants, and the sessions that such processes lead; never this
 * one. A session with another leader, such as the login session a service was started from, is not the service's own.
 */
export const findProcesses = (marked: Record<string, string>, alive: ProcessTable = readTable()): number[] => {
  const wanted = Object.entries(marked).map(([name, value]) => `${name}=${value}`)
  const found = new Set<number>()
  for (const [pid, { environment }] of alive) {
    // Splitting is slow, and most processes have none of the marks.
    if (!environment || !wanted.every((one) => environment.includes(one))) continue
    const variables = environment.split('\0')
    if (wanted.every((one) => variables.includes(one))) found.add(pid)
  }
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const [pid, { session, parent }] of alive) if (found.has(session) || found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

/** Sends a signal; false when there is no such process (group, for a negative number) or it is another user's, as after sudo. */
export const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** The exit status that a shell reports for a process that a signal ended. */
export const statusOfSignal = (name: NodeJS.Signals): number => 128 + constants.signals[name]

/** Waits for the end of a child process: its exit status as a shell reports it. Rejects when it could not be started. */
export const exitStatusOf = async (child: ChildProcess): Promise<number> => {
  const [code, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? statusOfSignal(signalName ?? 'SIGKILL')
}

/** Asks again every few milliseconds until `done` says so. Throws after ten seconds: a process that outlives SIGKILL that long hangs in the kernel. */
export const waitUntil = async (done: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAt = Date.now() + 10_000
  while (!(await done())) {
    if (Date.now() > giveUpAt) throw new Error('Processes did not end within 10 s')
    await delay(5)
  }
}
