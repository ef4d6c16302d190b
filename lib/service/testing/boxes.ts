import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Sandbox, type SandboxSpec, spawnIn } from '#lib/service/engine/engine.ts'

/** Creates the folders of a devbox below `folder`. `more` overrides the defaults. */
export const makeSandboxSpec = (
  folder: string,
  { devboxId, ...more }: Pick<SandboxSpec, 'devboxId' | 'serviceId'> & Partial<SandboxSpec>,
): SandboxSpec => {
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

export const startScript = (sandbox: Sandbox, script: string) =>
  spawnIn(sandbox.launch({ argv: ['/bin/bash', '-c', `exec 2>&1; ${script}`], env: {} }), {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })

export const outputOf = async (sandbox: Sandbox, script: string): Promise<string> => {
  const child = startScript(sandbox, script)
  const [output] = await Promise.all([text(child.stdout as Readable), once(child, 'exit')])
  return output.trim()
}
