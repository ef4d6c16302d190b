import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Box, BoxSpec } from '#lib/service/engine/box.ts'
import type { LocalSpec } from '#lib/service/engine/local/launch.ts'
import { newId } from '#lib/service/kit/ids.ts'

/** Creates the folders of a devbox below `folder`. `more` overrides the defaults. */
export const makeLocalSpec = (
  folder: string,
  { devboxId, ...more }: Pick<LocalSpec, 'devboxId' | 'serviceId'> & Partial<LocalSpec>,
): LocalSpec => {
  const at = (name: string) => join(folder, devboxId, name)
  for (const name of ['home', 'tmp', 'run']) mkdirSync(at(name), { recursive: true })
  return {
    devboxId,
    hostname: devboxId,
    dataDir: folder,
    home: at('home'),
    tmp: at('tmp'),
    run: at('run'),
    limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 24 },
    network: 'public',
    ...more,
  }
}

/** A new devbox of a container engine. `more` overrides the defaults. */
export const makeContainerSpec = (
  folder: string,
  { devboxId = newId('dbx'), ...more }: Pick<BoxSpec, 'serviceId'> & Partial<BoxSpec>,
): BoxSpec => ({
  devboxId,
  hostname: 'box',
  dataDir: folder,
  folder: join(folder, devboxId),
  limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
  network: 'none',
  privateNetwork: false,
  hasRun: false,
  origin: { kind: 'empty' },
  signal: new AbortController().signal,
  ...more,
})

export const startScript = (box: Box, script: string) =>
  box.start({ argv: ['/bin/bash', '-c', `exec 2>&1; ${script}`], env: {} })

export const outputOf = async (box: Box, script: string): Promise<string> => {
  const { stdout, exited } = await startScript(box, script)
  const [output] = await Promise.all([text(stdout), exited])
  return output.trim()
}
