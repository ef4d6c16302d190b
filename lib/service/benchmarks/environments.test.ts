import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeOrigin } from '#lib/service/devboxes/origin.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { canSwap, keepSwapping } from '#lib/service/testing/swap.ts'
import { Environments } from './environments.ts'

const problem = await bubblewrapProblem()

it.skipIf(problem !== undefined || !canSwap)(
  'copies no host files while a build command swaps folders for links',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devdeck-environments-'))
    const [secret, devbox, cache] = ['secret', 'devbox', 'cache'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    for (const path of [secret, devbox, cache]) mkdirSync(path)
    writeFileSync(join(secret, 'of-the-machine'), '')
    const system = { base: folder, layers: [] }
    await writeOrigin(devbox, { origin: { kind: 'system', system, root: ['logs'] } })
    const own = join(devbox, 'system')
    mkdirSync(own)
    writeFileSync(join(own, 'first-uid'), '0')
    const stop = await keepSwapping(join(own, 'upper'), secret)
    try {
      const environments = new Environments({ folder: cache, devboxFolder: folder, maxBytes: 0, log: () => undefined })
      const how = { builtFor: 'a task', warnings: [], signal: new AbortController().signal }
      // Without confinement, some copies contain the file and most fail.
      for (let i = 0; i < 20; i++) await environments.store(`key ${i}`, devbox, how)
      expect(execFileSync('find', [cache, '-name', 'of-the-machine'], { encoding: 'utf8' })).toBe('')
      expect(readdirSync(cache).length).toBeGreaterThan(5)
    } finally {
      await stop()
      rmSync(folder, { recursive: true })
    }
  },
)
