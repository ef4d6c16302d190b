import type { EventEmitter } from 'node:events'
import type { Duplex, Readable, Writable } from 'node:stream'

export type Isolation = 'bubblewrap' | 'none' | 'container' | 'swarm'

/**
 * Where devboxes run. Everything per host (API address, disk, network, processes) is behind this interface: nothing
 * outside `lib/service/engine` knows which engine runs.
 */
export interface BoxEngine {
  readonly isolation: Isolation
  /** One sentence for the devbox's log. */
  readonly description: string
  /**
   * Starts a devbox on its disk. The first start makes the disk, from `spec.origin` and the staged mounts; a later one
   * rejects if the disk is lost. `report` receives later problems for the devbox's log, such as a blocked host name.
   */
  start(spec: BoxSpec, report: (sentence: string) => void): Promise<Box>
  /**
   * The devbox as an earlier service left it running, or how it ended meanwhile; undefined if it can be started again.
   * Rejects with `unavailable` if that can't be determined now.
   */
  adopt?(spec: BoxSpec, report: (sentence: string) => void): Promise<Box | BoxEnd | undefined>
  /** Stops what an earlier service left running, at the latest when the engine can be reached again. */
  abandon?(devboxId: string): Promise<void>
  /** Why devboxes can't have a network policy of this kind, as a predicate. */
  networkProblem(network: Network): string | undefined
  readonly connectsGroups?: boolean
  /** Why devboxes can't run as this user, as a predicate. */
  userProblem(user: User): string | undefined
  readonly disks: Disks
  /** The hosts of an engine that has several. */
  readonly cluster?: Cluster
  /** Rejects with `unavailable` if devboxes can't be started now. */
  requireAvailable?(): Promise<void>
  /** Rejects with a ServiceError if the disk of a devbox that has run can't be used now, nor a snapshot of it. */
  requireDisk?(devboxId: string, lastSnapshotId: string | undefined): Promise<void>
  /**
   * Ends what an earlier service left running. Call before any start. `devboxIds` are those that keep a disk. Disks
   * that ended devboxes left in a container engine are removed; those of unknown devboxes are never, since the database
   * may be an older one.
   */
  recover(
    devboxIds: ReadonlySet<string>,
    isKnown: (devboxId: string) => boolean,
    /** These may be adopted. */
    running?: ReadonlySet<string>,
  ): Promise<void>
  close(): Promise<void>
}

export interface BoxSpec {
  devboxId: string
  serviceId: string
  hostname: string
  dataDir: string
  /** The devbox's folder on the service's host: staged mounts, and the disk of engines that run on this host. */
  folder: string
  limits: Limits
  network: Network
  /** The network policy whose devboxes reach each other, in engines that connect groups. */
  group?: string | undefined
  privateNetwork: boolean
  /** True if the devbox has run before: it must not get a new disk in place of a lost one. */
  hasRun: boolean
  origin: Origin
  /** Default: `user` (1000), or root on a separate root file system. */
  user?: User | undefined
  /** Constraints on the node, in an engine that has several. */
  placement?: readonly string[]
  /** What a disk that was lost with its node is restored from. */
  lastSnapshotId?: string
  /** Called when the start begins to wait for a node with room. */
  onWaiting?: () => void
  /** Aborts the start. */
  signal: AbortSignal
}

export interface Limits {
  cpuCores: number
  memoryBytes: number
  diskBytes: number
}

export type Network = 'none' | 'public' | { hostnames: readonly string[] }

export interface User {
  uid: number
  name: string
}

/** What a new disk is made from. */
export type Origin =
  | { kind: 'empty' }
  | { kind: 'snapshot'; snapshotId: string }
  | { kind: 'image'; image: string; run?: ImageRun }
  | { kind: 'system'; system: Omit<System, 'own'>; root: readonly string[] }
  | { kind: 'root'; root: readonly string[] }
  | BlueprintOrigin

/** Built on this host. */
export interface BlueprintOrigin {
  kind: 'blueprint'
  /** What the home directory and /tmp are copied from. */
  disk?: { folder: string } | { snapshotId: string }
  system?: Omit<System, 'own'>
}

/** A writable root file system in which the devbox is root. */
export interface System {
  base: string
  layers: readonly Layer[]
  own: string
  /** The devbox's own home and /tmp are mounted over it, and the devbox runs as `user`. */
  hasHome?: true
}

export interface Layer {
  folder: string
  /** Host uid of the layer's root. */
  firstUid: number
}

/** How a container of a benchmark task runs. By default the container only waits, and commands run as `user`. */
export interface ImageRun extends ContainerRun {
  /** The image's own ENTRYPOINT, USER, WORKDIR and ENV apply, and the container waits for its HEALTHCHECK. */
  asImage: true
  /** Service containers of the devbox. They and their volumes end with it. */
  services?: readonly ServiceRun[]
  dependsOn?: readonly Dependency[]
  /** Networks of `services` without external access. */
  internalNetworks?: readonly string[]
}

/** What is missing comes from the image. */
export interface ContainerRun {
  command?: readonly string[]
  entrypoint?: readonly string[]
  env?: Readonly<Record<string, string>>
  user?: string
  workdir?: string
  hostname?: string
  healthcheck?: Healthcheck | 'none'
  /** Volumes by name, shared by the containers of the devbox; without a name, the container's own. */
  volumes?: readonly { volume: string | null; target: string; readOnly: boolean }[]
  /** Files and folders of the service's host, copied before the start. */
  files?: readonly { source: string; target: string }[]
  tmpfs?: readonly string[]
  /** Default: one network of all containers of the devbox. */
  networks?: readonly { name: string; aliases: readonly string[] }[]
  /** `host:address` */
  extraHosts?: readonly string[]
  shmBytes?: number
  memoryBytes?: number
  cpuCores?: number
}

export interface ServiceRun extends ContainerRun {
  /** Name of the service, and its hostname in its networks. */
  name: string
  image: string
  restart?: string
  dependsOn: readonly Dependency[]
}

export interface Dependency {
  service: string
  condition: 'started' | 'healthy' | 'completed'
}

/** As in a Dockerfile; what is missing comes from the image. */
export interface Healthcheck {
  test?: readonly string[]
  intervalMs?: number
  timeoutMs?: number
  startPeriodMs?: number
  startIntervalMs?: number
  retries?: number
}

export interface Disks {
  /** Copies the disk of a devbox, running or not. Throws a ServiceError if it can't. Returns the snapshot's size. */
  snapshot(devboxId: string, snapshotId: string, signal: AbortSignal): Promise<{ sizeBytes: number }>
  hasSnapshot(snapshotId: string): Promise<boolean>
  removeSnapshot(snapshotId: string): Promise<void>
  /** Bytes that count against the disk limit. */
  usedBytes(devboxId: string, signal: AbortSignal): Promise<number>
  /** Works for devboxes that never started, too. */
  remove(devboxId: string): Promise<void>
  /**
   * Makes the disk of a devbox that was suspended independent of its node. If it rejects, the disk stays there and can
   * be used there.
   */
  save?(devboxId: string, signal: AbortSignal): Promise<void>
}

export interface Cluster {
  /** The last known state of the nodes. */
  nodes(): readonly ClusterNodeState[]
  /** Emits `nodes` when any of them changed. */
  readonly changes: EventEmitter
  /** Why nothing can be started now. */
  managerProblem(): { message: string; sinceMs: number } | undefined
  /** Registry that makes disks available to every node. */
  readonly registry: string | undefined
  readonly placement: readonly string[]
  /** Devboxes that no node can take now. */
  waiting(): readonly WaitingDevbox[]
  /** What devboxes with these limits reserve on their node. */
  reservationOf(limits: Pick<Limits, 'cpuCores' | 'memoryBytes'>): { cpuCores: number; memoryBytes: number }
  /** Whether the nodes' reservations include those of a devbox. */
  counts(devboxId: string): boolean
  setAvailability(nodeId: string, availability: 'active' | 'pause' | 'drain'): Promise<void>
}

export interface WaitingDevbox {
  devboxId: string
  /** Whether it waits for CPU or memory, not for a node that meets its constraints. */
  isForRoom: boolean
  cpuCores: number
  memoryBytes: number
}

export interface ClusterNodeState {
  id: string
  hostname: string
  address: string
  role: string
  state: string
  availability: string
  labels: Readonly<Record<string, string>>
  cpuCores: number
  memoryBytes: number
  /** Includes all services of the cluster. */
  reservedCpuCores: number
  reservedMemoryBytes: number
  /** Why its API can't be reached. */
  problem?: string
}

/** What callers need to run something in a devbox. */
export interface RunningDevbox {
  box: Box
  env: Record<string, string>
  /** Prevents idle shutdown until the returned function is called. */
  busy(): () => void
}

export interface Box {
  /** Paths inside. `run` is for the service's own files and empty at every start. */
  readonly home: string
  readonly tmp: string
  readonly run: string
  /** Path inside of the shell that runs scripts: `/bin/bash`, or `/bin/sh` in an image without it. */
  readonly shell: string
  /** Path inside of the interactive shells' bashrc; undefined if the shell isn't bash. */
  readonly bashrc: string | undefined
  readonly notEnforced: readonly string[]
  /** Copies files in and out as root, without programs inside. Undefined where the engine has no such means. */
  readonly archive?: Archive
  /** Connects all networks of a container, or disconnects them. */
  setOnline?(isOnline: boolean): Promise<void>
  /** Rejects if the command can't start. */
  start(command: Command): Promise<BoxProcess>
  /** Opens a pseudo-terminal at once; a later failure to start ends it. Throws if it can't be opened. */
  openTerminal(command: Command, size: Size, events: TerminalEvents): BoxTerminal
  /** Writes a file with a random name to `run`. Resolves to its path inside. */
  putRunFile(prefix: string, text: string): Promise<{ path: string; remove(): Promise<void> }>
  usage(): Promise<Usage>
  /** Connects to a TCP port on the devbox's loopback. Rejects with ECONNREFUSED if nothing listens. */
  connect(port: number): Promise<Duplex>
  outOfMemoryKills(): number
  /** Set if the box and its commands can outlive the service. */
  readonly survivors?: Survivors
  /** Whether commands can't run because the disk is full. */
  isDiskFull(): Promise<boolean>
  /** Ends all processes; the disk stays. Repeatable. */
  stop(): Promise<void>
  /** Leaves a box with `survivors` running for the next service. */
  detach?(): void
  /** Resolves when the box ends for whatever reason, with the cause if it was not `stop`. */
  readonly ended: Promise<BoxEnd | undefined>
  /** The host it runs on, in an engine that has several. */
  readonly node?: { id: string; hostname: string }
}

export interface BoxEnd {
  cause: string
  reason?: 'node_lost'
}

export interface Archive {
  /** The file or folder as a tar stream. Undefined if it doesn't exist. */
  read(path: string, signal: AbortSignal): Promise<Readable | undefined>
  /** Unpacks a tar stream into a folder that exists. */
  write(folder: string, content: Readable, signal: AbortSignal): Promise<void>
}

export interface Command {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /** Default: the home directory. */
  cwd?: string
  /** As for `docker exec --user`, in boxes with an archive. Default: the devbox's user. */
  user?: string
  /** Opens standard input; otherwise it is /dev/null. */
  stdin?: boolean
  /** A name by which the next service finds it, in boxes with `survivors`. */
  hold?: string
}

/** Commands and terminals that outlive the service that started them. */
export interface Survivors {
  /** Ends what was started under other names, or without one. Call before anything else. */
  keepOnly(holds: readonly string[]): Promise<void>
  /** Its output from these offsets on. Undefined if it no longer exists. */
  process(hold: string, from: { stdout: number; stderr: number }): Promise<BoxProcess | undefined>
  /** Resolves once the latest output has been repeated. Undefined if it no longer exists. */
  terminal(hold: string, events: TerminalEvents): Promise<BoxTerminal | undefined>
}

export interface Held {
  /** Offsets at which the streams start. */
  readonly from: { stdout: number; stderr: number }
  /** Output is kept until it is stored; a command with too much of it waits. */
  stored(stream: 'stdout' | 'stderr', offset: number): void
  /** Call once the exit status is stored. */
  release(): void
}

export interface BoxProcess {
  readonly stdin: Writable | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  /**
   * The exit status, 128 + n after signal n. The streams may go on after it while background processes hold them; its
   * own output has arrived when they are quiet. Never rejects: a process of a lost box exits with 137.
   */
  readonly exited: Promise<number>
  /** Signals the process or its process group. False if it has exited. */
  kill(signal: NodeJS.Signals, target: 'process' | 'group'): Promise<boolean>
  /** Set for a command that can outlive the service. */
  readonly held?: Held
}

export interface Size {
  cols: number
  rows: number
}

export interface TerminalEvents {
  /** Called before the output, which starts at this offset. Only by terminals that outlive the service. */
  attached?(start: { offset: number; size: Size; inputBytes: number }): void
  /** `bytes` is only valid during the call; the buffer is reused. */
  data(bytes: Uint8Array): void
  ended(exitStatus: number, signal: NodeJS.Signals | undefined): void
}

export interface BoxTerminal {
  /** Writes without blocking. Returns how many bytes are still pending. */
  write(bytes: Buffer): void
  readonly pendingBytes: number
  /** Calls `run` once at most `bytes` are pending. */
  onceBelow(bytes: number, run: () => void): void
  resize(size: Size): void
  pause(): void
  resume(): void
  /** Signals the terminal's foreground process group, or its first process. False if there is none. */
  kill(signal: NodeJS.Signals, target: 'foreground' | 'process'): Promise<boolean>
  /** Discards pending input. */
  stopInput(): void
  /** The program in the foreground, unless that is the shell. Only in terminals that end with the service. */
  program?(): string | undefined
}

export interface Usage {
  processes: number
  memoryBytes: number
  /** Since the start of the box. */
  cpuSeconds: number
  /** Undefined if the engine doesn't report it. */
  diskFreeBytes?: number
}

/** For engines that run images. */
export interface Images {
  /** Builds `context`, a tar stream with the Dockerfile inside, and tags the image. Throws a BuildError. */
  build(options: ImageBuild): Promise<{ image: string; sizeBytes: number }>
  /** Undefined if the engine doesn't have the image. */
  find(image: string, signal?: AbortSignal): Promise<ImageInfo | undefined>
  /** Undefined if the engine doesn't have the image and can't pull it. */
  inspect(image: string, signal?: AbortSignal): Promise<ImageInfo | undefined>
  remove(image: string): Promise<void>
}

export interface ImageBuild {
  context: Readable
  /** Path of the Dockerfile in `context`. */
  dockerfile: string
  tag: string
  buildArgs?: Readonly<Record<string, string>>
  /** The stage to build. Default: the last one. */
  target?: string
  labels?: Readonly<Record<string, string>>
  /** Images of its FROM instructions. */
  bases?: readonly string[]
  /** A line of the build's output, without its line break. */
  output(line: string): void
  signal: AbortSignal
}

export interface ImageInfo {
  id: string
  user: string
  workdir: string
  env: Readonly<Record<string, string>>
  hasHealthcheck: boolean
}
