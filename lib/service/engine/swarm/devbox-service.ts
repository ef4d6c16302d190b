import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { BoxSpec, ImageRun, Limits } from '../box.ts'
import { hostConfigOf } from '../container/container-run.ts'
import {
  capabilitiesOf,
  configFor,
  type Image,
  limitsOf,
  maxContainerLog,
  namesOf,
  runOf,
} from '../container/devbox-container.ts'
import type { EngineApi } from '../container/engine-api.ts'
import { NodeLost } from '../node-lost.ts'

export const goFile = '/run/devdeck-go'

// The service's files arrive after the container's start.
const waitForFiles = `until [ -e ${goFile} ]; do sleep 0.05; done; exec "$@"`

interface Options {
  name: string
  image: string
  /** Configuration of the image. */
  config: Image['Config'] & { Entrypoint?: string | string[]; Cmd?: string[] }
  networks: readonly Attachment[]
  constraints: readonly string[]
  reserved: Reserved
}

/** Attaches a service to a network. */
export interface Attachment {
  Target: string
  Aliases?: string[]
}

/** Share of its limits that a devbox reserves on its node, from 0 to 1. */
export interface Reserved {
  cpu: number
  memory: number
}

export const reservationOf = (limits: Pick<Limits, 'cpuCores' | 'memoryBytes'>, { cpu, memory }: Reserved) => ({
  cpuCores: limits.cpuCores * cpu,
  memoryBytes: limits.memoryBytes * memory,
})

/** The service of a devbox: one container that is never restarted. */
export const devboxService = (spec: BoxSpec, { name, image, config, networks, constraints, reserved }: Options) => {
  const container = configFor(spec, { Id: image, Config: config })
  const { CapDrop, Memory, NanoCpus, PidsLimit, Ulimits, ShmSize } = limitsOf(spec.limits, Number.POSITIVE_INFINITY)
  const run = runOf(spec)
  const own: Partial<ReturnType<typeof hostConfigOf>> = run
    ? hostConfigOf(run, namesOf(spec), Number.POSITIVE_INFINITY)
    : {}
  const share = reservationOf(needsOf(spec.limits, run?.services), reserved)
  const [entrypoint, command] = processOf(spec, container, config)
  return {
    Name: name,
    Labels: container.Labels,
    TaskTemplate: {
      ContainerSpec: {
        Image: image,
        Labels: container.Labels,
        Command: entrypoint,
        Args: command,
        Hostname: container.Hostname,
        // A start of the service kills the processes of this host with its id.
        Env: container.Env.filter((line) => !line.startsWith('DEVDECK_SERVICE_ID=')),
        ...(container.User !== undefined && { User: container.User }),
        ...(container.WorkingDir !== undefined && { Dir: container.WorkingDir }),
        // The swarm would end a devbox that is unhealthy.
        Healthcheck: { Test: ['NONE'] },
        OpenStdin: container.OpenStdin,
        StopSignal: container.StopSignal,
        StopGracePeriod: 1,
        CapabilityDrop: CapDrop,
        CapabilityAdd: capabilitiesOf(spec),
        Ulimits,
        // Names of the swarm only. Without this, an engine whose host has its resolver on loopback resolves all names.
        DNSConfig: { Nameservers: ['127.0.0.1'], Options: ['timeout:1', 'attempts:1'] },
        Hosts: own.ExtraHosts?.map((host) => host.replace(/^([^:]+):(.*)$/, '$2 $1')),
        Mounts: [
          { Type: 'tmpfs', Target: '/dev/shm', TmpfsOptions: { SizeBytes: own.ShmSize ?? ShmSize } },
          ...Object.keys(own.Tmpfs ?? {}).map((Target) => ({ Type: 'tmpfs', Target })),
          ...(own.Mounts ?? []),
        ],
      },
      Resources: {
        Limits: { NanoCPUs: own.NanoCpus ?? NanoCpus, MemoryBytes: own.Memory ?? Memory, Pids: PidsLimit },
        Reservations: { NanoCPUs: Math.round(share.cpuCores * 1e9), MemoryBytes: Math.round(share.memoryBytes) },
      },
      RestartPolicy: { Condition: 'none' },
      Placement: { Constraints: constraints },
      Networks: networks,
      LogDriver: run ? { Name: maxContainerLog.Type, Options: maxContainerLog.Config } : { Name: 'none' },
    },
    Mode: { Replicated: { Replicas: 1 } },
    EndpointSpec: { Mode: 'dnsrr' },
  }
}

/** Includes the limits that the devbox's service containers state. */
const needsOf = ({ cpuCores, memoryBytes }: Limits, services: ImageRun['services'] = []) => ({
  cpuCores: services.reduce((sum, service) => sum + (service.cpuCores ?? 0), cpuCores),
  memoryBytes: services.reduce((sum, service) => sum + (service.memoryBytes ?? 0), memoryBytes),
})

const processOf = (
  spec: BoxSpec,
  own: { Entrypoint?: readonly string[]; Cmd?: readonly string[] },
  image: Options['config'],
): [readonly string[], readonly string[]] => {
  if (!runOf(spec)) return [own.Entrypoint ?? [], own.Cmd ?? []]
  // As in `docker create`: an entrypoint replaces the image's command as well.
  const entrypoint = own.Entrypoint ?? [image.Entrypoint ?? []].flat()
  const command = own.Cmd ?? (own.Entrypoint ? [] : (image.Cmd ?? []))
  return [
    ['/bin/sh', '-c', waitForFiles, 'sh'],
    [...entrypoint, ...command],
  ]
}

export interface Task {
  ID: string
  NodeID?: string
  CreatedAt: string
  DesiredState: string
  Status: { State: string; Err?: string; Message?: string; ContainerStatus?: { ContainerID?: string } }
  Spec: { ContainerSpec?: { Labels?: Record<string, string> } }
  NetworksAttachments?: { Network: { ID: string }; Addresses: string[] }[]
}

/** Node and task of a devbox's container. */
export interface Placement {
  nodeId: string
  containerId: string
  task: Task
}

/** The task of a devbox's service; undefined if there is no such service. */
export const taskOf = async (manager: EngineApi, name: string, signal?: AbortSignal): Promise<Task | undefined> => {
  const filters = { service: [name] }
  // The filter also accepts the beginning of a name.
  const tasks = await manager.json<Task[]>('GET', '/tasks', { query: { filters }, signal })
  return tasks.sort((a, b) => Date.parse(b.CreatedAt) - Date.parse(a.CreatedAt))[0]
}

const firstPollMs = 25
const slowPollMs = 500
const slowAfterMs = 3000
/** States of a task that has ended. */
export const endedStates = ['complete', 'failed', 'shutdown', 'rejected', 'orphaned', 'remove']

/** Waits until a node has started the container. `waits` is called while no node has room. */
export const untilPlaced = async (
  manager: EngineApi,
  name: string,
  { signal, waits }: { signal: AbortSignal; waits: (problem: string | undefined) => void },
): Promise<Placement> => {
  const startMs = Date.now()
  for (;;) {
    const task = await taskOf(manager, name, signal)
    const { State = 'new', Err, ContainerStatus } = task?.Status ?? {}
    if (endedStates.includes(State)) throw taskProblem(Err ?? State)
    if (task?.NodeID && task.DesiredState === 'shutdown') throw new NodeLost('The node was lost during the start')
    waits(State === 'pending' && Err ? Err : undefined)
    const { ContainerID: containerId } = ContainerStatus ?? {}
    if (['starting', 'running'].includes(State) && containerId && task?.NodeID)
      return { nodeId: task.NodeID, containerId, task }
    await delay(Date.now() - startMs > slowAfterMs ? slowPollMs : firstPollMs, undefined, { signal })
  }
}

const taskProblem = (problem: string): ServiceError =>
  /No such image/.test(problem)
    ? new ServiceError('invalid_argument', `The node could not get the image: ${problem}`, { shouldRetry: false })
    : new ServiceError('internal', `The swarm could not start the container: ${problem}`, { shouldRetry: false })
