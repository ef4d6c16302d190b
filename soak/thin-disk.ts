import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of 64 MB backed by 24: writes succeed until they are flushed. Undefined if this user may not mount one. */
export const thinDisk = () => {
  const root = mkdtempSync(join(tmpdir(), 'devdeck-thin-'))
  const [store, folder, filler] = [join(root, 'store'), join(root, 'disk'), join(root, 'store', 'filler')]
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'ignore' })
  const remove = () => {
    for (const mounted of [folder, store])
      try {
        run('umount', '--lazy', mounted)
      } catch {
        // It was never mounted.
      }
    rmSync(root, { recursive: true })
  }
  const fill = () => {
    const handle = openSync(filler, 'a')
    try {
      for (;;) writeSync(handle, Buffer.alloc(65_536))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(handle)
    }
  }
  try {
    for (const each of [store, folder]) mkdirSync(each)
    run('mount', '-t', 'tmpfs', '-o', 'size=24m,mode=700', 'devdeck', store)
    const image = join(store, 'image')
    run('truncate', '--size', '64M', image)
    run('mkfs.ext4', '-q', '-F', '-O', '^has_journal', image)
    run('mount', '-o', 'loop', image, folder)
    return { folder, fill, empty: () => rmSync(filler), remove }
  } catch {
    remove()
    return undefined
  }
}
