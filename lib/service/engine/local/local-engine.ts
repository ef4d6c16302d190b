import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFull, isDiskFull } from '#lib/service/kit/errors.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import type { BoxEngine } from '../box.ts'
import { createLocalDisks, type DiskFolders, ownSystemOf, systemOf } from './disks.ts'
import { killProcesses } from './kill-processes.ts'
import type { LocalIsolation, LocalSpec } from './launch.ts'
import { isFull, type LocalBox } from './local-box.ts'

interface Kind {
  isolation: LocalIsolation
  description: string
  startBox(spec: LocalSpec, report: (sentence: string) => void): Promise<LocalBox>
}

export interface LocalHost extends DiskFolders {
  serviceId: string
}

/** An engine whose devboxes are processes on this host, with their disks in the data folder. */
export const createLocalEngine =
  ({ isolation, description, startBox }: Kind) =>
  (host: LocalHost): BoxEngine => {
    const { make, ...disks } = createLocalDisks(isolation, host)
    return {
      isolation,
      description,
      disks,
      userProblem({ uid }) {
        if (isolation === 'none') return "requires isolation; devboxes without it run as the service's user"
        return uid === 0 ? 'must not be root, except in containers' : undefined
      },
      networkProblem: (network) =>
        isolation === 'none' && network !== 'public'
          ? "restricts access; devboxes without isolation use the host's network"
          : undefined,
      async start(spec, report) {
        const { folder, origin, hasRun, signal, ...rest } = spec
        const at = (name: string) => join(folder, name)
        const run = at('run')
        try {
          if (hasRun && !existsSync(at('home'))) throw new Error('its disk is missing from the data folder')
          await make(folder, origin, signal)
          await removeFolder(run)
          await mkdir(run, { mode: 0o700 })
          signal.throwIfAborted()
          const system = systemOf(origin)
          const hasRoot = origin.kind === 'root' || origin.kind === 'system'
          return await startBox(
            {
              ...rest,
              ...{ home: at('home'), tmp: at('tmp'), run },
              ...(hasRoot && { root: at('root') }),
              ...(system && { system: { ...system, own: ownSystemOf(folder) } }),
            },
            report,
          )
        } catch (error) {
          throw !isDiskFull(error) && (await isFull(folder)) ? diskFull(error) : error
        }
      },
      // A container engine on this host may have left devboxes running.
      recover: (_known, _isKnown, running) => killProcesses({ DEVDECK_SERVICE_ID: host.serviceId }, running),
      close: async () => undefined,
    }
  }
