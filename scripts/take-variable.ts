import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * A secret of this process's environment, which then holds it no more: neither for the processes it starts nor in
 * /proc, where every program of the same user could read it for as long as the process runs.
 */
export const takeVariable = (name: string): string | undefined => {
  const value = process.env[name]
  if (value === undefined) return undefined
  delete process.env[name]
  // The kernel shows the memory that the environment came in, whatever becomes of the variables.
  const environment = readFileSync('/proc/self/environ')
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[startField])
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    const prefix = Buffer.from(`${name}=`)
    for (let at = 0, end = 0; at < environment.length; at = end + 1) {
      end = environment.indexOf(0, at)
      if (end === -1) end = environment.length
      const isIt = environment.subarray(at, at + prefix.length).equals(prefix)
      if (isIt) writeSync(memory, Buffer.alloc(end - at), 0, end - at, start + at)
    }
  } finally {
    closeSync(memory)
  }
  return value
}

/** Of `env_start` in /proc/PID/stat, counted from the state, which follows the name. */
const startField = 47
