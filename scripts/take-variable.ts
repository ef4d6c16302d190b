import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Returns a secret environment variable and removes it, also from /proc, where other programs of the user could read it. */
export const takeVariable = (name: string): string | undefined => {
  const value = process.env[name]
  if (value === undefined) return undefined
  delete process.env[name]
  // /proc/PID/environ shows the initial memory, even after variables are deleted.
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

/** Index of `env_start` in /proc/PID/stat, counted from the state field. */
const startField = 47
