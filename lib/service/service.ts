import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as z from 'zod/mini'
import { createListenerContext, readAccess } from './access.ts'
import type { ServiceConfig } from './config.ts'
import { dataDirProblem } from './engine/bubblewrap/host-files.ts'
import { type EngineProbe, probeEngine } from './engine/choose-engine.ts'
import { bracketed, isWildcard } from './http/host-check.ts'
import type { Route } from './http/implement.ts'
import { createListener, type OnResponse, type Responded } from './http/listener.ts'
import { listen } from './http/server.ts'
import { createUpgrades } from './http/upgrade.ts'
import { isDiskFull, StartError } from './kit/errors.ts'
import { logError, logFailure } from './kit/log.ts'
import { startMetrics } from './metrics.ts'
import { type ServiceBase, startParts } from './parts.ts'
import { contractRoutes } from './routes/contract-routes.ts'
import { maxLogBytes, restartLog } from './store/checkpoint.ts'
import { type DataDir, databaseName, openDataDir, publishAddress, reserveNames } from './store/data-dir.ts'
import { type Database, openDatabase, removeOldBackups } from './store/database.ts'
import { LostAndFound } from './store/lost-and-found.ts'
import { createStores } from './store/stores.ts'
import { salvageLog } from './store/write-ahead-log.ts'

export interface Service {
  url: string
  port: number
  serviceId: string
  metricsUrl?: string | undefined
  routes: readonly Route[]
  /** Resolves when a planned stop is due. */
  stopDue: Promise<void>
  announceEnd: (deadlineMs: number) => boolean
  close: () => Promise<void>
}

export const createService = async (
  config: ServiceConfig,
  choice: EngineProbe = probeEngine(config),
): Promise<Service> => {
  z.config(z.locales.en())
  const problem = dataDirProblem(config.dataDir)
  if (problem !== undefined) throw new StartError(problem)
  const dataDir = openDataDir(config.dataDir)
  const stopping = new AbortController()
  const undo: Parameters<ServiceBase['onClose']>[0][] = [dataDir.release]
  const close = async () => {
    stopping.abort()
    for (let step = undo.pop(); step; step = undo.pop()) await step()
  }

  try {
    const file = join(dataDir.path, databaseName)
    const lostAndFound = new LostAndFound(dataDir.path)
    const lostChanges = salvageLog(file, lostAndFound)
    if (lostChanges !== undefined) logError({ message: lostChanges })
    const database = openDatabase(file, { log: (line) => console.log(line) })
    undo.push(() => database.close())
    limitLogSize(database, file, (step) => undo.push(step))
    const syncProblem = syncInBackground(database, file, (step) => undo.push(step))
    // Closes after the devboxes: one on the host's network could take the port and receive API keys.
    let http: Awaited<ReturnType<typeof listen>> | undefined
    undo.push(async () => http?.close())
    const folderOf = (devboxId: string) => join(dataDir.path, 'devboxes', devboxId)
    const snapshotFolderOf = (snapshotId: string) => join(dataDir.path, 'snapshots', snapshotId)
    const engines = await choice.create({ serviceId: dataDir.serviceId, folderOf, snapshotFolderOf })
    undo.push(() => engines.close())
    const base: ServiceBase = {
      config,
      dataDir,
      database,
      store: createStores(database, join(dataDir.path, 'secrets-key')),
      engines,
      folderOf,
      stopping: stopping.signal,
      onClose: (step) => undo.push(step),
      lostAndFound,
    }
    const access = readAccess(base)
    const sealed = [base.store.secrets.problem() ?? []].flat()
    const deps = await startParts(base)
    const routes = contractRoutes(deps)
    const folderProblem = watchFolder(dataDir, base.onClose)
    const problem = () => syncProblem() ?? folderProblem()
    const metrics = await startMetrics(base, deps, problem)
    const onResponse: OnResponse = (responded) => {
      metrics?.observe(responded)
      if (config.logRequests) logRequest(responded)
    }
    const context = { ...createListenerContext(base, access, deps, routes), problem, onResponse }
    http = await listen({ ...config, listener: createListener(context), upgrades: createUpgrades(context) })
    undo.push(http.drain)
    for (const message of [...choice.warnings, ...sealed]) logError({ level: 'warn', message })
    const { port } = http
    const urlAt = (host: string) => `http://${bracketed(host)}:${port}`
    const address = urlAt(isWildcard(config.host) ? '127.0.0.1' : config.host)
    undo.push(publishAddress(dataDir, { address, operatorToken: access.operatorToken }))
    const removeBackups = () => {
      for (const name of removeOldBackups(file, Date.now()))
        logError({ level: 'info', message: `Deleted ${name}: a week has passed since the migration` })
    }
    removeBackups()
    const cleanupTimer = setInterval(removeBackups, 24 * 60 * 60 * 1000).unref()
    undo.push(() => clearInterval(cleanupTimer))
    database.openReserves(join(dataDir.path, reserveNames.ends), join(dataDir.path, reserveNames.commands))
    return {
      url: urlAt(config.host),
      stopDue: deps.plannedStop.due,
      announceEnd: (deadlineMs) => deps.drain.start(deadlineMs, 'announce') > 0,
      port,
      serviceId: dataDir.serviceId,
      metricsUrl: metrics?.url,
      routes,
      close,
    }
  } catch (error) {
    await close()
    await choice.chosen.catch(() => undefined)
    throw asStartError(error, config)
  }
}

const logRequest = ({ requestId, durationMs, isStream, isComplete, ...rest }: Responded) =>
  logError({
    level: 'info',
    message: 'request',
    request_id: requestId,
    ...rest,
    duration_ms: Math.round(durationMs),
    ...(!isComplete && { disconnected: true }),
  })

/** Returns why requests must be rejected, if a commit could not be flushed: nobody knows which ones are on disk. */
const syncInBackground = (database: Database, file: string, onClose: ServiceBase['onClose']) => {
  let problem: string | undefined
  database.syncInBackground(file, (error) => {
    problem = `A change could not be written to the disk (${error.message}). Stopping the service`
    // Ends the process. After the restart, the changes are what the disk has.
    setImmediate(() => {
      throw new Error(problem)
    })
  })
  onClose(() => database.stopSync())
  return () => problem
}

const logCheckIntervalMs = 1000

/** Replaces SQLite's own checkpoints. */
const limitLogSize = (database: Database, file: string, onClose: ServiceBase['onClose']) => {
  database.exec(`PRAGMA journal_size_limit = ${maxLogBytes}`)
  const reportFailure = (error: unknown) => {
    if (!isDiskFull(error)) logFailure('Could not checkpoint the write-ahead log')(error)
  }
  try {
    restartLog(database)
  } catch (error) {
    reportFailure(error)
  }
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    if (running || (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= maxLogBytes) return
    running = restartLogInWorker(file)
      .catch(reportFailure)
      .finally(() => {
        running = undefined
      })
  }, logCheckIntervalMs).unref()
  onClose(async () => {
    clearInterval(timer)
    await running
  })
}

const restartLogInWorker = async (file: string) => {
  const worker = new Worker(new URL('./store/checkpoint-worker.ts', import.meta.url), { workerData: file })
  await once(worker, 'exit')
}

const folderCheckIntervalMs = 1000

/** Returns the current problem with the data folder: writes to a deleted folder must not be acknowledged. */
const watchFolder = (dataDir: DataDir, onClose: ServiceBase['onClose']): (() => string | undefined) => {
  let problem = dataDir.problem()
  const timer = setInterval(() => {
    const now = dataDir.problem()
    if (now !== problem) {
      const message = `${now}. All requests are rejected; restore it or stop the service`
      logError(
        now ? { message, folder: dataDir.path } : { level: 'info', message: 'The data folder is available again' },
      )
    }
    problem = now
  }, folderCheckIntervalMs).unref()
  onClose(() => clearInterval(timer))
  return () => problem
}

const asStartError = (error: unknown, { host, port, dataDir }: ServiceConfig): unknown => {
  const { code, message, address = host } = error as NodeJS.ErrnoException & { address?: string }
  if (code === 'EADDRINUSE') return new StartError(`Port ${port} on ${address} is in use; choose another with --port`)
  if (code === 'EACCES') return new StartError(`No permission to use port ${port} on ${host}: ${message}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`${host} is not an address of this host; choose another with --host`)
  if (code === 'ERR_SQLITE_ERROR') return new StartError(`Can't use the database in ${dataDir}: ${message}`)
  return error
}
