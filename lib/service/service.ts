import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { hasEnded } from '#lib/contract/devboxes.ts'
import type { Contract } from '#lib/contract/index.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { AxonEvents } from './axons/axon-events.ts'
import { AxonSql } from './axons/axon-sql.ts'
import { NamedAgents } from './benchmarks/agents/named-agents.ts'
import { BenchmarkRuns } from './benchmarks/benchmark-runs.ts'
import { Imports } from './benchmarks/import/imports.ts'
import { Jobs } from './benchmarks/jobs.ts'
import { LogArchives } from './benchmarks/log-archive.ts'
import { ScenarioRuns } from './benchmarks/scenario-runs.ts'
import type { ServiceConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { Devboxes } from './devboxes/devboxes.ts'
import { DiskWatch } from './devboxes/disk-watch.ts'
import { Snapshots } from './devboxes/snapshots.ts'
import { DevboxStats } from './devboxes/stats.ts'
import { Tunnels } from './devboxes/tunnels.ts'
import { onlyAccount } from './domain/accounts.ts'
import { endInWords } from './domain/devboxes.ts'
import { Drain } from './evictions/drain.ts'
import { Evictions } from './evictions/evictions.ts'
import { PressureWatch } from './evictions/pressure.ts'
import { Executions } from './executions/executions.ts'
import { bracketed, createAddressGate, isWildcard } from './http/address-gate.ts'
import { createAuthenticate } from './http/auth.ts'
import type { Route } from './http/implement.ts'
import { createListener } from './http/listener.ts'
import { Revocations } from './http/revocations.ts'
import { createRouter } from './http/router.ts'
import { listen } from './http/server.ts'
import { createUpgrades } from './http/upgrade.ts'
import { ServiceError, StartError } from './kit/errors.ts'
import { logError } from './kit/log.ts'
import { accountRoutes } from './routes/accounts.ts'
import { axonRoutes } from './routes/axons.ts'
import { benchmarkJobRoutes } from './routes/benchmark-jobs.ts'
import { benchmarkRunRoutes } from './routes/benchmark-runs.ts'
import { benchmarkRoutes } from './routes/benchmarks.ts'
import { devboxRoutes } from './routes/devboxes.ts'
import { drainRoutes } from './routes/drain.ts'
import { evictionRoutes } from './routes/evictions.ts'
import { executionRoutes } from './routes/executions.ts'
import { fileRoutes } from './routes/files.ts'
import { healthRoutes } from './routes/health.ts'
import { hostedOnlyRoutes } from './routes/hosted-only.ts'
import { logRoutes } from './routes/logs.ts'
import { networkPolicyRoutes } from './routes/network-policies.ts'
import { scenarioRunRoutes } from './routes/scenario-runs.ts'
import { scenarioRoutes } from './routes/scenarios.ts'
import { secretRoutes } from './routes/secrets.ts'
import { snapshotRoutes } from './routes/snapshots.ts'
import { isTerminalAddress, terminalSchemes } from './routes/terminal-credentials.ts'
import { terminalRoutes } from './routes/terminals.ts'
import { createTunnelHosts, createTunnelProxy } from './routes/tunnel-proxy.ts'
import { tunnelRoutes } from './routes/tunnels.ts'
import { beginChoice, type SandboxChoice } from './sandbox/choose.ts'
import { Pipes } from './sandbox/pipes.ts'
import { databaseName, openDataDir, publishAddress, readOrMakeApiKey, reserveNames } from './store/data-dir.ts'
import { openDatabase } from './store/database.ts'
import { createEvictionStore } from './store/evictions.ts'
import { createExecutionStore } from './store/executions.ts'
import { createKeyStore, digestOf } from './store/keys.ts'
import { DevboxLogs } from './store/logs/logs.ts'
import { createStores } from './store/stores.ts'
import { Terminals } from './terminals/terminals.ts'
import { TerminalTokens } from './terminals/tokens.ts'

export interface Service {
  url: string
  port: number
  /** Marks, as DEVDECK_SERVICE_ID in their environment, the processes started for this data folder. */
  serviceId: string
  routes: readonly Route[]
  /** Announces to every watcher that the devboxes end at the deadline, before the service is closed. False: there are none. */
  announceEnd: (deadlineMs: number) => boolean
  /** Begins what the first callers would wait for. */
  prepare: () => void
  /** Ends everything the service started; done within two seconds. */
  close: () => Promise<void>
}

/** Starts the service. Rejects with a StartError when its folder or its port cannot be had. */
export const createService = async (
  config: ServiceConfig,
  choice: SandboxChoice = beginChoice(config.isolation),
): Promise<Service> => {
  z.config(z.locales.en())
  const dataDir = openDataDir(config.dataDir)
  const stopping = new AbortController()
  // Undone in reverse, whether the service closes or fails to start.
  const undo: (() => void | Promise<void>)[] = [dataDir.release]
  const close = async () => {
    stopping.abort()
    for (let step = undo.pop(); step; step = undo.pop()) await step()
  }

  try {
    const database = openDatabase(join(dataDir.path, databaseName))
    undo.push(() => database.close())
    // After the devboxes: one on the machine's own network could take the port and be sent the keys of others.
    let http: Awaited<ReturnType<typeof listen>> | undefined
    undo.push(async () => http?.close())
    const store = createStores(database, join(dataDir.path, 'secrets-key'))
    // Logged once the service is up: a service that cannot start prints one line and nothing else.
    const sandbox = await choice.sandbox
    const warnings = [...choice.warnings]
    const keys = config.keys ?? [{ account: 'local', key: readOrMakeApiKey(dataDir) }]
    const keyStore = createKeyStore(database)
    const only =
      config.oneAccountUnlessIsolated && sandbox.isolation === 'none'
        ? onlyAccount([...keys, ...keyStore.all().filter((each) => each.revoke_time_ms === null)].map(accountOf))
        : undefined
    const folderOf = (devboxId: string) => join(dataDir.path, 'devboxes', devboxId)
    const logs = new DevboxLogs(folderOf)
    const pipes = new Pipes(join(dataDir.path, 'pipes'))
    undo.push(() => pipes.close())
    const executions = new Executions({
      store: createExecutionStore(database),
      folderOf,
      pipes,
      logs,
      maxPerAccount: config.limits.executions,
    })
    const snapshots = new Snapshots({
      store: store.snapshots,
      folder: join(dataDir.path, 'snapshots'),
      folderOf,
      isolation: sandbox.isolation,
      serviceId: dataDir.serviceId,
    })
    const devboxes = new Devboxes({
      store: store.devboxes,
      maxPerAccount: config.limits.devboxes,
      secrets: store.secrets,
      networkPolicies: store.networkPolicies,
      snapshots,
      logs,
      pipes,
      executions,
      sandbox,
      serviceId: dataDir.serviceId,
      folderOf,
      privateNetwork: config.privateNetwork,
    })
    const terminals = new Terminals(config.limits.terminals)
    const ptyTokens = new TerminalTokens()
    const tunnels = new Tunnels({ store: store.devboxes, devboxes })
    stopping.signal.addEventListener('abort', () => tunnels.close())
    const evicted = new Set<string>()
    const evictions = new Evictions(createEvictionStore(database), (devboxId) => {
      evicted.add(devboxId)
      void devboxes.evict(devboxId).finally(() => evicted.delete(devboxId))
    })
    const stats = new DevboxStats({ serviceId: dataDir.serviceId, logs, folderOf })
    devboxes.changes.on('status', (devboxId: string, status: string) => {
      logs.wake(devboxId)
      stats.changed(devboxId, status)
      if (status === 'suspending' || hasEnded(status)) {
        const devbox = store.devboxes.get(store.devboxes.spec(devboxId).account, devboxId)
        terminals.endAll(devboxId, devbox ? endInWords(devbox, evicted.has(devboxId)) : 'The devbox has ended')
        evictions.cancel(devboxId)
      }
      if (hasEnded(status)) ptyTokens.revoke(devboxId)
    })
    // After the devboxes: a devbox that is getting its disk from a snapshot must not fail but start again.
    undo.push(() => snapshots.close())
    const sealed = store.secrets.problem()
    if (sealed !== undefined) warnings.push(sealed)
    undo.push(async () => {
      evictions.close()
      terminals.close()
      await stats.close()
      await devboxes.close()
      await logs.flush()
    })
    await snapshots.recover()
    await devboxes.recover()
    evictions.recover()
    const scenarioRuns = new ScenarioRuns({ store, devboxes, executions, isolation: sandbox.isolation, log: logError })
    // Before the devboxes are closed: a scorer that ends with its devbox gives no score.
    undo.push(() => scenarioRuns.close())
    scenarioRuns.recover()
    const benchmarkRuns = new BenchmarkRuns({ store, scenarioRuns })
    const logArchives = new LogArchives({
      folderOf: (scenarioRunId) => join(dataDir.path, 'runs', scenarioRunId),
      devboxFolderOf: folderOf,
      flush: () => logs.flush(),
      store,
    })
    const jobs = new Jobs({
      store,
      benchmarkRuns,
      scenarioRuns,
      devboxes,
      executions,
      isolation: sandbox.isolation,
      datasetRoots: config.datasets,
      strictEnvironments: config.strictEnvironments,
      trialsAtOnce: config.maxTrials,
      namedAgents: new NamedAgents({ folder: join(dataDir.path, 'agents'), commands: config.agents }),
      installFolder: join(dataDir.path, 'agent-installs'),
      environmentFolder: join(dataDir.path, 'environments'),
      maxEnvironmentBytes: config.maxEnvironmentBytes,
      folderOf,
      devboxFolder: join(dataDir.path, 'devboxes'),
      logFolderOf: (scenarioRunId) => join(dataDir.path, 'runs', scenarioRunId),
      log: logError,
    })
    // Before the parts that trials use: interrupted trials must not be recorded as failed.
    undo.push(() => jobs.close())
    jobs.recover()
    const imports = new Imports({
      store,
      workFolder: join(dataDir.path, 'imports'),
      logFolderOf: (scenarioRunId) => join(dataDir.path, 'runs', scenarioRunId),
    })
    await imports.recover()
    const drain = new Drain({ store: store.devboxes, evictions, changes: devboxes.changes })
    const disks = new DiskWatch({
      dataDir: dataDir.path,
      folderOf,
      isolation: sandbox.isolation,
      serviceId: dataDir.serviceId,
      running: () => devboxes.runningDisks(),
      exceeded: (id, usedBytes) => devboxes.suspendFull(id, usedBytes),
    })
    undo.push(() => disks.close())
    const pressure = await PressureWatch.start({
      pressure: config.pressure,
      dataDir: dataDir.path,
      evictions,
      leastRecentlyUsed: () => devboxes.leastRecentlyUsed(),
      growing: () => disks.growing(),
      statusOf: (id) => store.devboxes.spec(id).status,
    })
    undo.push(() => pressure.close())
    const axonSql = new AxonSql({
      database: join(dataDir.path, databaseName),
      folder: join(dataDir.path, 'axons'),
      serviceId: dataDir.serviceId,
    })
    undo.push(() => axonSql.close())
    const axonEvents = new AxonEvents({ database, store: store.axonEvents, now: Date.now })
    undo.push(() => axonEvents.close())
    const deps: Deps = {
      version: packageJson.version,
      isolation: sandbox.isolation,
      now: Date.now,
      store,
      devboxes,
      executions,
      snapshots,
      logs,
      terminals,
      tunnels,
      ptyTokens,
      evictions,
      drain,
      scenarioRuns,
      benchmarkRuns,
      logArchives,
      jobs,
      imports,
      axonEvents,
      axonSql,
    }
    const routes = Object.values(routesOf(deps)).flat()

    const revocations = new Revocations(keyStore)
    undo.push(() => revocations.close())
    const operatorToken = randomBytes(32).toString('base64url')
    const ownKeys = new Set([...keys.map(({ key }) => key), operatorToken].map((key) => digestOf(key).toString('hex')))
    const tunnelHostOf = createTunnelHosts(config.host, config.allowHosts)
    const context = {
      otherHosts: createTunnelProxy({
        tunnels,
        hostOf: (request) => {
          const host = tunnelHostOf(request)
          return host && !ptyTokens.isTunnel(host.key) ? host : undefined
        },
        isOwnKey: (token) => {
          const digest = digestOf(token)
          return ownKeys.has(digest.toString('hex')) || keyStore.find(digest) !== undefined || !!ptyTokens.find(token)
        },
        log: logError,
      }),
      router: createRouter(routes),
      authenticate: createAuthenticate(keys, {
        find: (digest) => {
          const found = keyStore.find(digest)
          if (found && only !== undefined && found.account !== only)
            throw new ServiceError('forbidden', `Devboxes are plain processes here: only keys of ${only} are taken`)
          return found && { account: found.account, revoked: revocations.signalOf(found.id) }
        },
        operatorToken,
        schemes: terminalSchemes(ptyTokens),
      }),
      checkAddress: createAddressGate(config.host, config.allowHosts, (request) =>
        isTerminalAddress(request, tunnelHostOf(request), ptyTokens),
      ),
      spoolFolder: join(dataDir.path, 'spool'),
      validateAnswers: config.validateAnswers,
      stopping: stopping.signal,
      log: logError,
    }
    http = await listen({ ...config, listener: createListener(context), upgrades: createUpgrades(context) })
    undo.push(http.drain)
    for (const message of warnings) logError({ level: 'warn', message })
    const { port } = http
    const url = `http://${bracketed(config.host)}:${port}`
    // A wildcard address cannot be called.
    const address = `http://${isWildcard(config.host) ? '127.0.0.1' : bracketed(config.host)}:${port}`
    undo.push(publishAddress(dataDir, { address, operatorToken }))
    database.keepReserves(join(dataDir.path, reserveNames.ends), join(dataDir.path, reserveNames.commands))
    return {
      url,
      prepare: () => axonSql.prepare(),
      announceEnd: (deadlineMs) => drain.announce(deadlineMs) > 0,
      port,
      serviceId: dataDir.serviceId,
      routes,
      close,
    }
  } catch (error) {
    await close()
    // The probe removes its folder at its end.
    await choice.sandbox.catch(() => undefined)
    throw asStartError(error, config)
  }
}

const accountOf = ({ account }: { account: string }) => account

/** Every resource of the contract: a missing or an extra one does not compile. */
const routesOf = (deps: Deps): Record<keyof Contract, Route[]> => ({
  health: healthRoutes(deps),
  accounts: accountRoutes(deps),
  axons: axonRoutes(deps),
  evictions: evictionRoutes(deps),
  snapshots: snapshotRoutes(deps),
  devboxes: devboxRoutes(deps),
  executions: executionRoutes(deps),
  files: fileRoutes(deps),
  logs: logRoutes(deps),
  tunnels: tunnelRoutes(deps),
  terminals: terminalRoutes(deps),
  secrets: secretRoutes(deps),
  networkPolicies: networkPolicyRoutes(deps),
  scenarioRuns: scenarioRunRoutes(deps),
  scenarios: scenarioRoutes(deps),
  benchmarkJobs: benchmarkJobRoutes(deps),
  benchmarkRuns: benchmarkRunRoutes(deps),
  benchmarks: benchmarkRoutes(deps),
  hostedOnly: hostedOnlyRoutes(),
  drain: drainRoutes(deps),
})

const asStartError = (error: unknown, { host, port, dataDir }: ServiceConfig): unknown => {
  const { code, message, address = host } = error as NodeJS.ErrnoException & { address?: string }
  if (code === 'EADDRINUSE') return new StartError(`Port ${port} on ${address} is taken; choose another with --port`)
  if (code === 'EACCES') return new StartError(`Port ${port} on ${host} may not be used: ${message}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`${host} is no address of this machine; choose another with --host`)
  if (code === 'ERR_SQLITE_ERROR') return new StartError(`The database in ${dataDir} cannot be used: ${message}`)
  return error
}
