import { randomBytes } from 'node:crypto'
import { lchown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunningDevbox } from './engine.ts'

// Linux limits one argument to 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000

/**
 * Writes a new file in the run folder and returns its name. The devbox can write there too: a random name and exclusive
 * creation keep it from redirecting the write through a symlink.
 */
export const putRunFile = async (
  { sandbox, runFolder }: Pick<RunningDevbox, 'sandbox' | 'runFolder'>,
  prefix: string,
  text: string,
): Promise<string> => {
  const name = `${prefix}-${randomBytes(8).toString('hex')}`
  const file = join(runFolder, name)
  await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  if (sandbox.uid !== undefined) await lchown(file, sandbox.uid, sandbox.uid)
  return name
}

/** Returns a bash command for a script of any length; `file` is the run-folder file of a long one. */
export const bashCommand = async (
  devbox: Pick<RunningDevbox, 'sandbox' | 'runFolder'>,
  script: string,
): Promise<{ argv: string[]; file?: string }> => {
  if (Buffer.byteLength(script) <= maxArgumentBytes) return { argv: ['/bin/bash', '-c', script] }
  const name = await putRunFile(devbox, 'script', script)
  return { argv: ['/bin/bash', '-c', `. '${devbox.sandbox.run}/${name}'`], file: join(devbox.runFolder, name) }
}
