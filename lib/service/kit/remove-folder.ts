import { once } from 'node:events'
import { lstatSync } from 'node:fs'
import { spawnProcess } from './spawn.ts'

/** Deletes a folder tree. Node's own removal fails on paths over 4096 bytes and on folders without permissions. */
export const removeFolder = async (path: string): Promise<void> => {
  if (!lstatSync(path, { throwIfNoEntry: false })) return
  const script = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }'
  const [code] = await once(spawnProcess('/bin/sh', ['-c', script, 'sh', path], { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`Could not delete ${path} (rm exited with ${code})`)
}
