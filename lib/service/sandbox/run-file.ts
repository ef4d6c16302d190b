import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Puts a text into a new file of a devbox's run folder and resolves to its name, which begins with `prefix`. The devbox
 * may write there as well, and a link it left under that name would lead the service out of the devbox: so it cannot
 * foresee the name, and the file is only ever made, which follows no link.
 */
export const putRunFile = async (runFolder: string, prefix: string, text: string): Promise<string> => {
  const name = `${prefix}-${randomBytes(8).toString('hex')}`
  await writeFile(join(runFolder, name), text, { mode: 0o600, flag: 'wx' })
  return name
}
