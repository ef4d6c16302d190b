import { randomBytes } from 'node:crypto'
import { lchown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunningDevbox } from './engine.ts'

// One argument of a process takes 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000

/**
 * Puts a text into a new file of a devbox's run folder and resolves to its name, which begins with `prefix`. The devbox
 * may write there as well, and a link it left under that name would lead the service out of the devbox: so it cannot
 * foresee the name, and the file is only ever made, which follows no link.
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

/** The command that has bash run a script of any length; `file` is one of the run folder that holds a long script. */
export const bashCommand = async (
  devbox: Pick<RunningDevbox, 'sandbox' | 'runFolder'>,
  script: string,
): Promise<{ argv: string[]; file?: string }> => {
  if (Buffer.byteLength(script) <= maxArgumentBytes) return { argv: ['/bin/bash', '-c', script] }
  const name = await putRunFile(devbox, 'script', script)
  return { argv: ['/bin/bash', '-c', `. '${devbox.sandbox.run}/${name}'`], file: join(devbox.runFolder, name) }
}
