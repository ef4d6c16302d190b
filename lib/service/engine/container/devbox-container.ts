import { join } from 'node:path'
import type { ImageInspectInfo } from 'dockerode'
import type { BoxSpec, ImageRun } from '../box.ts'
import { maxProcesses } from '../cgroup.ts'
import { devboxEnvironment, markers } from '../environment.ts'
import { gigabytes } from '../limits.ts'
import { configOf } from './container-run.ts'
import type { EngineApi } from './engine-api.ts'
import { environmentOf, type ImageFacts, userOfImage } from './image-facts.ts'
import { putFiles, putFolder, serviceFiles, userFiles } from './install.ts'

export interface Image {
  Id: string
  Config: Pick<ImageInspectInfo['Config'], 'User' | 'WorkingDir' | 'Env' | 'Volumes'>
}

export interface EngineInfo {
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
  NCPU: number
}

const keepAlive = 'while sleep 2000000000 & wait $!; do :; done; read -r _'

// Root of an image needs these for apt, su and sshd. Files can't add others (no-new-privileges).
const rootCapabilities = [
  ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP', 'NET_BIND_SERVICE'],
  ...['SYS_CHROOT', 'AUDIT_WRITE'],
]

export const maxContainerLog = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } }

/** What every container is limited to. */
export const limitsOf = (limits: BoxSpec['limits'], cores: number) => ({
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
  Memory: limits.memoryBytes,
  MemorySwap: limits.memoryBytes,
  NanoCpus: Math.round(Math.min(limits.cpuCores, cores) * 1e9),
  PidsLimit: maxProcesses(limits),
  Ulimits: [
    { Name: 'fsize', Soft: limits.diskBytes, Hard: limits.diskBytes },
    { Name: 'core', Soft: 0, Hard: 0 },
  ],
  ShmSize: Math.min(limits.memoryBytes / 2, 2 ** 31),
})

export const serviceLimits = ({ limits }: BoxSpec, cores: number) => ({
  ...limitsOf(limits, cores),
  CapAdd: rootCapabilities,
  LogConfig: maxContainerLog,
})

export const namesOf = ({ devboxId, serviceId }: BoxSpec) => ({
  prefix: `devdeck-${devboxId}-`,
  labels: { 'devdeck.service': serviceId, 'devdeck.beside': devboxId },
})

const imageConfig = (spec: BoxSpec, run: ImageRun) => {
  const { Env, ...config } = configOf(run)
  return { ...config, Env: [...Env, ...lines(markers(spec))] }
}

const lines = (variables: Record<string, string>) =>
  Object.entries(variables).map(([name, value]) => `${name}=${value}`)

const userOf = ({ user = { uid: 1000, name: 'user' } }: BoxSpec) => ({
  ...user,
  gid: user.uid,
  home: user.uid === 0 ? '/root' : `/home/${user.name}`,
})

const notEnforced = ({ limits }: BoxSpec, volumes: object, info: EngineInfo): string[] => {
  return [
    ...(info.MemoryLimit ? [] : [`Memory: ${gigabytes(limits.memoryBytes)} requested, not limited`]),
    ...(info.CpuCfsQuota ? [] : [`CPU: ${limits.cpuCores} requested, not limited`]),
    ...(info.PidsLimit === false ? ['Processes: not limited'] : []),
    `Disk: ${gigabytes(limits.diskBytes)} per file; total usage is measured and a devbox over the limit is suspended`,
    ...Object.keys(volumes).map((path) => `Disk: ${path} is a volume of the image, not limited and not in snapshots`),
  ]
}

/** The container's configuration: it waits for commands, or runs what the image runs. */
export const configFor = (spec: BoxSpec, image: Image) => {
  const run = runOf(spec)
  const { uid, name, home } = userOf(spec)
  return {
    Hostname: spec.hostname,
    Labels: { 'devdeck.service': spec.serviceId, 'devdeck.devbox': spec.devboxId },
    StopSignal: 'SIGKILL',
    OpenStdin: true,
    ...(run
      ? imageConfig(spec, run)
      : {
          Entrypoint: ['/bin/sh', '-c', keepAlive],
          Cmd: [],
          User: `${uid}:${uid}`,
          WorkingDir: '/',
          Env: lines(devboxEnvironment(spec, { home, tmp: '/tmp' }, name, environmentOf(image).PATH)),
          Healthcheck: { Test: ['NONE'] },
        }),
  }
}

export const capabilitiesOf = (spec: BoxSpec): readonly string[] =>
  runOf(spec) || userOf(spec).uid === 0 ? rootCapabilities : []

/** How a task's image runs; undefined for containers that wait for commands. */
export const runOf = ({ origin }: BoxSpec): ImageRun | undefined => (origin.kind === 'image' ? origin.run : undefined)

/** The user of commands. */
export const ownerOf = (spec: BoxSpec, image: Image, facts: ImageFacts) => {
  const run = runOf(spec)
  return run ? userOfImage(facts, run.user ?? image.Config.User) : userOf(spec)
}

/** What a ContainerBox needs to know about its devbox. */
export const boxOptions = (spec: BoxSpec, image: Image, facts: ImageFacts, info: EngineInfo) => {
  const run = runOf(spec)
  const { home, uid, gid } = ownerOf(spec, image, facts)
  return {
    devboxId: spec.devboxId,
    home,
    cwd: run ? run.workdir || image.Config.WorkingDir || '/' : home,
    uid,
    gid,
    hasBash: facts.hasBash,
    hasPerl: facts.hasPerl,
    runsImage: run !== undefined,
    notEnforced: notEnforced(spec, image.Config.Volumes ?? {}, info),
  }
}

/** Copies the service's files and the staged mounts into a container that is new. */
export const install = async (api: EngineApi, containerId: string, spec: BoxSpec, facts: ImageFacts, image: Image) => {
  const { folder, signal } = spec
  const owner = ownerOf(spec, image, facts)
  const { home, uid, gid } = owner
  const asImage = runOf(spec) !== undefined
  const hasBashrc = asImage || (await api.exists(`/containers/${containerId}/archive`, { path: `${home}/.bashrc` }))
  const files = asImage ? [] : userFiles(facts, userOf(spec).name, owner, hasBashrc)
  await putFiles(api, containerId, [...files, ...serviceFiles(facts, owner)], signal)
  for (const [name, path] of [
    ['home', home],
    ['tmp', '/tmp'],
  ] as const)
    await putFolder(api, containerId, join(folder, 'mounts', name), { path, uid, gid }, signal)
}
