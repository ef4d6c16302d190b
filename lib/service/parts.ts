import { statSync } from 'node:fs'
import { join } from 'node:path'
import { hasEnded } from '#lib/contract/devboxes.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { AxonEvents } from './axons/axon-events.ts'
import { AxonSql } from './axons/axon-sql.ts'
import { NamedAgents } from './benchmarks/agents/named-agents.ts'
import { BenchmarkRuns } from './benchmarks/benchmark-runs.ts'
import { taskImagesFile } from './benchmarks/harbor/images/task-images.ts'
import { Imports } from './benchmarks/import/imports.ts'
import { Jobs } from './benchmarks/jobs.ts'
import { LogArchives } from './benchmarks/log-archive.ts'
import { ScenarioRuns } from './benchmarks/scenario-runs.ts'
import { Blueprints } from './blueprints/blueprints.ts'
import { ClusterState } from './cluster/cluster-state.ts'
import { NodeDrains } from './cluster/node-drains.ts'
import type { ServiceConfig } from './config.ts'
import { Devboxes } from './devboxes/devboxes.ts'
import { DiskWatch } from './devboxes/disk-watch.ts'
import { networkOf } from './devboxes/session.ts'
import { DevboxStats } from './devboxes/stats.ts'
import { Tunnels } from './devboxes/tunnels.ts'
import { endReason } from './domain/devboxes.ts'
import type { Engines } from './engine/choose-engine.ts'
import { Drain, Evictions } from './evictions/evictions.ts'
import { PressureWatch } from './evictions/pressure.ts'
import { Executions } from './executions/executions.ts'
import { logError, logFailure } from './kit/log.ts'
import { Objects } from './objects/objects.ts'
import { defaultKeepEndedSeconds, Retention } from './retention/retention.ts'
import { Snapshots } from './snapshots/snapshots.ts'
import { PlannedStop } from './stop/planned-stop.ts'
import { type DataDir, databaseName } from './store/data-dir.ts'
import type { Database } from './store/database.ts'
import { createEndedStore } from './store/ended.ts'
import { createEvictionStore } from './store/evictions.ts'
import { createExecutionStore } from './store/executions.ts'
import { DevboxLogs } from './store/logs/logs.ts'
import type { LostAndFound } from './store/lost-and-found.ts'
import { createNodeDrainStore } from './store/node-drains.ts'
import { defaultStorageBytes, StorageQuota } from './store/storage-quota.ts'
import { countStored } from './store/stored-bytes.ts'
import type { Stores } from './store/stores.ts'
import { createTerminalStore } from './store/terminals.ts'
import { Terminals } from './terminals/terminals.ts'
import { TerminalTokens } from './terminals/tokens.ts'

export interface ServiceBase {
  config: ServiceConfig
  dataDir: DataDir
  database: Database
  store: Stores
  engines: Engines
  folderOf: (devboxId: string) => string
  stopping: AbortSignal
  /** Registers a shutdown step. Steps run in reverse order, even if the start fails. */
  onClose: (step: () => void | Promise<void>) => void
  lostAndFound: LostAndFound
}

export type Deps = Awaited<ReturnType<typeof startParts>>

export const startParts = async (base: ServiceBase) => {
  const { config, dataDir, database, store, engines, stopping, onClose } = base
  const quota = new StorageQuota(config.maxStorageBytes ?? defaultStorageBytes(dataDir.path))
  const devboxParts = await startDevboxes(base, quota)
  const { devboxes, evictions } = devboxParts
  const benchmarkParts = await startBenchmarks(base, devboxParts, quota)
  const retention = startRetention(base, quota, { ...devboxParts, ...benchmarkParts })
  watchMachine(base, devboxParts, retention)
  const counting = countStored({ database, dataDir: dataDir.path, quota, signal: stopping }).catch(
    logFailure('Could not measure the storage of accounts'),
  )
  onClose(() => counting)
  const axonSql = new AxonSql({
    database: join(dataDir.path, databaseName),
    folder: join(dataDir.path, 'axons'),
    serviceId: dataDir.serviceId,
    quota,
  })
  onClose(() => axonSql.close())
  const axonEvents = new AxonEvents({ database, store: store.axonEvents, now: Date.now })
  onClose(() => axonEvents.close())
  const plannedStop = new PlannedStop({ ...devboxParts, ...benchmarkParts, store: store.devboxes, now: Date.now })
  onClose(() => plannedStop.close())
  return {
    version: packageJson.version,
    isolation: engines.isolation,
    canBuildBlueprints: engines.images !== undefined || engines.of('local').isolation !== 'none',
    createdAtMs: statSync(join(dataDir.path, databaseName)).birthtimeMs,
    now: Date.now,
    store,
    ...devboxParts,
    ...benchmarkParts,
    cluster: startCluster(base, devboxParts),
    drain: new Drain({
      store: store.devboxes,
      evictions,
      changes: devboxes.changes,
      outlivesService: (id) => devboxes.outlivesService(id),
    }),
    plannedStop,
    quota,
    retention,
    axonSql,
    axonEvents,
  }
}

const logFolder = (dataDir: DataDir, scenarioRunId: string) => join(dataDir.path, 'runs', scenarioRunId)

const startRetention = (
  { config, dataDir, database, store, folderOf, onClose }: ServiceBase,
  quota: StorageQuota,
  { devboxes, jobs }: { devboxes: Devboxes; jobs: Jobs },
) => {
  const retention = new Retention({
    keepSeconds: config.keepEndedSeconds ?? defaultKeepEndedSeconds,
    ended: createEndedStore(database),
    store,
    quota,
    dataDir: dataDir.path,
    folderOf,
    runFolderOf: (id) => logFolder(dataDir, id),
    settled: { job: (id) => jobs.settled(id), devbox: (id) => devboxes.settled(id) },
  })
  onClose(() => retention.close())
  retention.start()
  return retention
}

type DevboxParts = Awaited<ReturnType<typeof startDevboxes>>

const startDevboxes = async (base: ServiceBase, quota: StorageQuota) => {
  const { config, dataDir, database, store, engines, folderOf, stopping, onClose, lostAndFound } = base
  const { path, serviceId } = dataDir
  const logs = new DevboxLogs(folderOf)
  const synced = () => database.synced()
  const executions = new Executions({
    store: createExecutionStore(database),
    folderOf,
    logs,
    maxPerAccount: config.limits.executions,
    quota,
  })
  const snapshots = new Snapshots({
    store: store.snapshots,
    folder: join(path, 'snapshots'),
    engineOf: (devboxId) => store.devboxes.mustFind(devboxId).engine,
    disksOf: (engine) => engines.of(engine).disks,
    lostAndFound,
    quota,
    synced,
  })
  const objects = new Objects({ store: store.objects, folder: join(path, 'objects'), quota, lostAndFound, synced })
  onClose(() => objects.close())
  const blueprints = new Blueprints({
    store: store.blueprints,
    secrets: store.secrets,
    objects,
    images: engines.images,
    plainImage: engines.images && engines.isolation !== 'bubblewrap' ? config.image : undefined,
    folder: join(path, 'blueprints'),
    systemsFolder: join(path, 'environments'),
    engine: engines.of('local'),
    serviceId,
    dataDir: path,
    privateNetwork: config.privateNetwork,
    quota,
    networkOf: (account, network_policy_id) =>
      networkOf(
        { account, launch_parameters: { network_policy_id }, engine: 'local' },
        { networkPolicies: store.networkPolicies, engineOf: ({ engine }) => engines.of(engine) },
        'network_policy_id',
      ),
  })
  const terminals = new Terminals(config.limits.terminals, createTerminalStore(database))
  const devboxes = new Devboxes({
    store: store.devboxes,
    terminals,
    blueprints,
    maxPerAccount: config.limits.devboxes,
    secrets: store.secrets,
    networkPolicies: store.networkPolicies,
    snapshots,
    objects,
    agents: store.agents,
    lostAndFound,
    logs,
    executions,
    engineOf: ({ engine }) => engines.of(engine),
    engineFor: engines.kindFor,
    cluster: engines.cluster,
    serviceId,
    dataDir: path,
    folderOf,
    privateNetwork: config.privateNetwork,
  })
  const ptyTokens = new TerminalTokens()
  const tunnels = new Tunnels({ store: store.devboxes, devboxes })
  stopping.addEventListener('abort', () => tunnels.close())
  const evicted = new Set<string>()
  const evictions = new Evictions(
    createEvictionStore(database),
    (devboxId) => store.devboxes.find(devboxId)?.node?.hostname,
    (devboxId) => {
      evicted.add(devboxId)
      void devboxes.evict(devboxId).finally(() => evicted.delete(devboxId))
    },
  )
  const diskUse = new Map<string, number>()
  const stats = new DevboxStats({
    logs,
    usageOf: (id) => devboxes.usage(id),
    diskUsedBytes: (id) => diskUse.get(id),
  })
  devboxes.changes.on('status', (devboxId: string, status: string) => {
    logs.wake(devboxId)
    stats.changed(devboxId, status)
    if (status !== 'running') diskUse.delete(devboxId)
    if (status === 'suspending' || hasEnded(status)) {
      const devbox = store.devboxes.mustFind(devboxId)
      const { failure_reason, node } = devbox
      terminals.endAll(devboxId, endReason(devbox, evicted.has(devboxId)))
      if (failure_reason === 'node_lost') snapshots.abort(devboxId, `Node ${node?.hostname ?? ''} was lost`)
      evictions.cancel(devboxId)
    }
    if (hasEnded(status)) ptyTokens.revoke(devboxId)
  })
  // After the devboxes, so one that is being restored restarts instead of failing.
  onClose(() => snapshots.close())
  onClose(() => blueprints.close())
  onClose(async () => {
    evictions.close()
    terminals.close()
    stats.close()
    await devboxes.close()
    await logs.flush()
  })
  const isKnown = (id: string) => store.devboxes.find(id) !== undefined
  await engines.recover(new Set(store.devboxes.withDisk()), isKnown, devboxes.left())
  snapshots.recover()
  objects.recover()
  blueprints.recover()
  await devboxes.recover()
  if (lostAndFound.summary) logError({ message: lostAndFound.summary })
  evictions.recover()
  return {
    logs,
    executions,
    snapshots,
    objects,
    blueprints,
    devboxes,
    terminals,
    ptyTokens,
    tunnels,
    evictions,
    stats,
    diskUse,
  }
}

const startCluster = (
  { database, store: { devboxes }, engines: { cluster }, onClose }: ServiceBase,
  { evictions, stats, devboxes: { changes } }: DevboxParts,
) => {
  if (!cluster) return undefined
  const drains = new NodeDrains({ cluster, store: createNodeDrainStore(database), devboxes, evictions, changes })
  onClose(() => drains.close())
  drains.recover()
  return { state: new ClusterState({ cluster, drains, devboxes, stats }), drains }
}

const startBenchmarks = async (
  { config, dataDir, store, engines, folderOf, onClose }: ServiceBase,
  { logs, executions, devboxes }: DevboxParts,
  quota: StorageQuota,
) => {
  const logFolderOf = (scenarioRunId: string) => logFolder(dataDir, scenarioRunId)
  const { isolation } = engines.of('local')
  const scenarioRuns = new ScenarioRuns({ store, devboxes, executions, isolation, log: logError })
  // Before the devboxes, since a stopped scorer returns no score.
  onClose(() => scenarioRuns.close())
  scenarioRuns.recover()
  const benchmarkRuns = new BenchmarkRuns({ store, scenarioRuns })
  const jobs = new Jobs({
    store,
    benchmarkRuns,
    scenarioRuns,
    devboxes,
    executions,
    isolation,
    images: engines.images && {
      engine: engines.cluster ? 'swarm' : 'container',
      images: engines.images,
      listFile: join(dataDir.path, taskImagesFile),
    },
    datasetRoots: config.datasets,
    strictEnvironments: config.strictEnvironments,
    maxTrials: config.maxTrials,
    cluster: engines.cluster,
    namedAgents: new NamedAgents({ folder: join(dataDir.path, 'agents'), commands: config.agents }),
    installFolder: join(dataDir.path, 'agent-installs'),
    environmentFolder: join(dataDir.path, 'environments'),
    maxEnvironmentBytes: config.maxEnvironmentBytes,
    folderOf,
    devboxFolder: join(dataDir.path, 'devboxes'),
    logFolderOf,
    quota,
    log: logError,
  })
  // First, so interrupted trials aren't recorded as failed.
  onClose(() => jobs.close())
  jobs.recover()
  const imports = new Imports({ store, workFolder: join(dataDir.path, 'imports'), logFolderOf, quota })
  await imports.recover()
  const logArchives = new LogArchives({
    folderOf: logFolderOf,
    devboxFolderOf: folderOf,
    flush: () => logs.flush(),
    store,
  })
  return { scenarioRuns, benchmarkRuns, jobs, imports, logArchives }
}

const watchMachine = (
  { config, dataDir, store, engines, onClose }: ServiceBase,
  { devboxes, evictions, diskUse }: DevboxParts,
  retention: Retention,
) => {
  const disks = new DiskWatch({
    dataDir: dataDir.path,
    disksOf: (devboxId) => engines.of(store.devboxes.mustFind(devboxId).engine).disks,
    running: () => devboxes.runningDisks(),
    exceeded: (id, usedBytes) => devboxes.suspendFull(id, usedBytes),
    measured: (id, usedBytes) => diskUse.set(id, usedBytes),
  })
  onClose(() => disks.close())
  const isOnThisHost = ({ id }: { id: string }) => store.devboxes.mustFind(id).node === null
  const pressure = new PressureWatch({
    pressure: config.pressure,
    dataDir: dataDir.path,
    evictions,
    leastRecentlyUsed: () => devboxes.leastRecentlyUsed().filter(isOnThisHost),
    growing: () => disks.growing().filter(isOnThisHost),
    freeEnded: (bytes) => retention.free(bytes),
    statusOf: (id) => store.devboxes.mustFind(id).status,
  })
  onClose(() => pressure.close())
}
