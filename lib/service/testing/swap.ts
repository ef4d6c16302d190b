import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The number of the system call depends on the architecture. */
export const canSwap = process.arch === 'x64'

const pairs = 50
const swap = `$| = 1; print "swaps\\n"; while (1) { syscall(316, -100, "$_/folder", -100, "$_/link", 2) for @ARGV }`

/** Keeps swapping folders with links to `target`, as a hostile devbox might. */
export const keepSwapping = async (parent: string, target: string) => {
  const all = Array.from({ length: pairs }, (_, i) => join(parent, String(i)))
  for (const each of all) {
    mkdirSync(join(each, 'folder', 'inner'), { recursive: true })
    symlinkSync(target, join(each, 'link'))
  }
  const child = spawn('perl', ['-e', swap, ...all], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
