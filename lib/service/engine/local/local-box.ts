import { randomBytes } from 'node:crypto'
import { lchown, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Box, Command } from '../box.ts'
import { asUser } from './as-user.ts'
import type { LocalSpec } from './launch.ts'
import { type Launcher, startProcess } from './process.ts'
import { LocalTerminal } from './terminal.ts'
import { createUsageMeter } from './usage.ts'

type Means = Pick<
  Box,
  'home' | 'tmp' | 'run' | 'bashrc' | 'notEnforced' | 'outOfMemoryKills' | 'connect' | 'stop' | 'ended'
> &
  Launcher & {
    /** Host uid of its files and processes, if not the service's. */
    uid?: number
    /** Host path of the devbox's /dev/ptmx. Default: the host's. */
    ptmx?: string
  }

export type LocalBox = Box & Means

export const createLocalBox = (spec: LocalSpec, means: Means): LocalBox => ({
  ...means,
  shell: '/bin/bash',
  start: (command) => startProcess(means, wrapped(command)),
  openTerminal: (command, size, events) => new LocalTerminal(means, wrapped(command), size, events),
  async putRunFile(prefix, text) {
    // A random name, because the devbox could redirect the write through a symlink.
    const name = `${prefix}-${randomBytes(8).toString('hex')}`
    const file = join(spec.run, name)
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
    if (means.uid !== undefined) await lchown(file, means.uid, means.uid)
    return { path: `${means.run}/${name}`, remove: () => rm(file, { force: true }) }
  },
  usage: createUsageMeter(spec),
  isDiskFull: () => isFull(spec.home),
})

const wrapped = ({ cwd, user, argv, ...command }: Command): Command => ({
  ...command,
  argv: [...(cwd === undefined ? [] : inFolder(cwd)), ...(user === undefined ? [] : asUser(user)), ...argv],
})

const inFolder = (cwd: string) => ['/bin/bash', '-c', 'cd -- "$1" || exit; shift; exec "$@"', 'devdeck', cwd]

const fullBelowBytes = 8 * 2 ** 20

export const isFull = async (folder: string): Promise<boolean> => {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder)
    return bavail * bsize < fullBelowBytes || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}
