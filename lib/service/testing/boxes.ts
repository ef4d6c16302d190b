import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Box, type Site, spawnIn } from '#lib/service/sandbox/sandbox.ts'

/** Where a devbox lives below `folder`, with its folders made; `more` differs from the usual. */
export const makeSite = (
  folder: string,
  { devboxId, ...more }: Pick<Site, 'devboxId' | 'serviceId'> & Partial<Site>,
): Site => {
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

/** What a command writes to both of its outputs. */
export const startScript = (box: Box, script: string) =>
  spawnIn(box.launch({ argv: ['/bin/bash', '-c', `exec 2>&1; ${script}`], env: {} }), {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })

/** What a command wrote, its complaints included. */
export const outputOf = async (box: Box, script: string): Promise<string> => {
  const child = startScript(box, script)
  const [words] = await Promise.all([text(child.stdout as Readable), once(child, 'exit')])
  return words.trim()
}
