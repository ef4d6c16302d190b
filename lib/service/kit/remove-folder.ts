import { once } from 'node:events'
import { lstatSync } from 'node:fs'
import { spawnProcess } from './spawn.ts'

/** Deletes folder trees. Node's own removal fails on paths over 4096 bytes and on folders without permissions. */
export const removeFolder = async (...paths: readonly string[]): Promise<void> => {
  const found = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }))
  if (found.length === 0) return
  const script = 'rm -rf -- "$@" || { chmod -R u+rwx -- "$@"; rm -rf -- "$@"; }'
  const [code] = await once(spawnProcess('/bin/sh', ['-c', script, 'sh', ...found], { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`Could not delete ${found.join(', ')} (rm exited with ${code})`)
}
