import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { basename, dirname, posix } from 'node:path'
import type { ContainerRun } from '../box.ts'
import type { EngineApi } from './engine-api.ts'
import { putFiles } from './install.ts'

/** What `run` changes of a container's configuration. */
export const configOf = ({ command, entrypoint, env = {}, user, workdir, hostname, healthcheck }: ContainerRun) => ({
  ...(command && { Cmd: command }),
  ...(entrypoint && { Entrypoint: entrypoint }),
  ...(user !== undefined && { User: user }),
  ...(workdir !== undefined && { WorkingDir: workdir }),
  ...(hostname !== undefined && { Hostname: hostname }),
  ...(healthcheck && { Healthcheck: healthcheckOf(healthcheck) }),
  Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
})

const healthcheckOf = (check: NonNullable<ContainerRun['healthcheck']>) => {
  if (check === 'none') return { Test: ['NONE'] }
  const nanoseconds = (ms: number | undefined) => (ms === undefined ? 0 : ms * 1e6)
  return {
    Test: check.test ?? [],
    Interval: nanoseconds(check.intervalMs),
    Timeout: nanoseconds(check.timeoutMs),
    StartPeriod: nanoseconds(check.startPeriodMs),
    ...(check.startIntervalMs !== undefined && { StartInterval: nanoseconds(check.startIntervalMs) }),
    Retries: check.retries ?? 0,
  }
}

export interface RunNames {
  /** Prefix of the names of volumes, networks and containers. */
  prefix: string
  labels: Record<string, string>
}

/** What `run` changes of a container's limits and mounts. */
export const hostConfigOf = (
  { volumes = [], tmpfs = [], extraHosts = [], shmBytes, memoryBytes, cpuCores }: ContainerRun,
  { prefix, labels }: RunNames,
  cores: number,
) => ({
  Mounts: volumes.map(({ volume, target, readOnly }) => ({
    Type: 'volume',
    ...(volume !== null && { Source: prefix + volume }),
    Target: target,
    ReadOnly: readOnly,
    VolumeOptions: { Labels: labels },
  })),
  Tmpfs: Object.fromEntries(tmpfs.map((path) => [path, ''])),
  ExtraHosts: extraHosts,
  ...(shmBytes !== undefined && { ShmSize: shmBytes }),
  ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
  ...(cpuCores !== undefined && { NanoCpus: Math.round(Math.min(cpuCores, cores) * 1e9) }),
})

/** Copies the files of `run` into a container that was created. */
export const putRunFiles = async (
  api: EngineApi,
  containerId: string,
  { files = [] }: ContainerRun,
  signal: AbortSignal,
): Promise<void> => {
  for (const { source, target } of files) {
    const isFolder = (await stat(source)).isDirectory()
    const folder = isFolder ? target : posix.dirname(target)
    await makeFolders(api, containerId, folder)
    const what = isFolder
      ? ['-C', source, '.']
      : [
          `--transform=s,.*,${posix.basename(target).replace(/[\\&,]/g, '\\$&')},`,
          '-C',
          dirname(source),
          basename(source),
        ]
    const packer = spawn('tar', ['-c', '--numeric-owner', '--owner=0', '--group=0', ...what], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(packer, 'close')
    await api.json('PUT', `/containers/${containerId}/archive`, {
      query: { path: folder },
      file: packer.stdout,
      signal,
    })
    const [code] = await ended
    if (code !== 0) throw new Error(`${source} could not be read`)
  }
}

/** Creates missing folders; those that exist keep their modes. */
const makeFolders = async (api: EngineApi, containerId: string, folder: string): Promise<void> => {
  if (folder === '/' || (await api.exists(`/containers/${containerId}/archive`, { path: folder }))) return
  await makeFolders(api, containerId, posix.dirname(folder))
  await putFiles(api, containerId, [{ path: folder, mode: 0o755 }])
}
