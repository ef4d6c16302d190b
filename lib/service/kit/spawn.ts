import { type SpawnOptions, spawn } from 'node:child_process'

/**
 * Like `spawn`, but throws when no process could be started. Node reports that by an event, and one nobody listens to ends
 * the service; out of file descriptors it returns a child without streams as well.
 */
export const spawnProcess = ((file: string, args: readonly string[], options: SpawnOptions) => {
  const child = spawn(file, args, options)
  if (child.pid !== undefined) return child
  child.on('error', () => undefined)
  const isExhausted = child.stdio === undefined
  throw Object.assign(
    new Error(`${file} could not be started${isExhausted ? ': too many open files' : ''}`),
    isExhausted ? { code: 'EMFILE' } : {},
  )
}) as typeof spawn
