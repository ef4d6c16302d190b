import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Environment of a service whose disk `folder` controls. Undefined without a C compiler. */
export const slowDisk = (folder: string) => {
  const library = join(folder, 'slow-disk.so')
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(import.meta.dirname, 'slow-disk.c'), '-ldl'])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const set = (name: string, on: boolean) =>
    on ? writeFileSync(join(folder, name), '') : rmSync(join(folder, name), { force: true })
  return {
    environment: { LD_PRELOAD: library, SLOW_DISK_FOLDER: folder },
    /** Holds flushes of the write-ahead log until it is called with false. */
    hold: (on: boolean) => set('hold', on),
    fail: (on: boolean) => set('fail', on),
    /** `begin` and `end` of each flush of the log. */
    flushes: () => readFileSync(join(folder, 'flushes'), { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1),
  }
}
