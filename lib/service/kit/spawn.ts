import { type SpawnOptions, spawn } from 'node:child_process'

/** Throws if the process can't start. Node emits an event instead, which crashes the service if unhandled. */
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
