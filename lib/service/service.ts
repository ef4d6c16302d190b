import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { devboxes } from '#lib/contract/devboxes.ts'
import { evictions } from '#lib/contract/evictions.ts'
import { executions } from '#lib/contract/executions.ts'
import type { Contract } from '#lib/contract/index.ts'
import { terminals } from '#lib/contract/terminals.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { ServiceConfig } from './config.ts'
import { openDataDir, readOrMakeApiKey, StartError } from './data-dir.ts'
import type { Deps } from './deps.ts'
import { allowedAuthorities, bracketed, createAddressGate } from './http/address-gate.ts'
import { createAuthenticate, type PtyTokens } from './http/auth.ts'
import { implement, notImplemented, type Route } from './http/implement.ts'
import { createListener } from './http/listener.ts'
import { createRouter } from './http/router.ts'
import { listen } from './http/server.ts'
import { createUpgrades } from './http/upgrade.ts'
import { accountRoutes } from './routes/accounts.ts'
import { axonRoutes } from './routes/axons.ts'
import { benchmarkJobRoutes } from './routes/benchmark-jobs.ts'
import { benchmarkRunRoutes } from './routes/benchmark-runs.ts'
import { benchmarkRoutes } from './routes/benchmarks.ts'
import { healthRoutes } from './routes/health.ts'
import { snapshotRoutes } from './routes/snapshots.ts'
import { createAxonStore } from './store/axons.ts'
import { openDatabase } from './store/database.ts'

export interface Service {
  url: string
  port: number
  /** Marks, as DEVDECK_SERVICE_ID in their environment, the processes started for this data folder. */
  serviceId: string
  routes: readonly Route[]
  /** Ends everything the service started; done within two seconds. */
  close: () => Promise<void>
}

/** Starts the service. Rejects with a StartError when its folder or its port cannot be had. */
export const createService = async (config: ServiceConfig): Promise<Service> => {
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
    const database = openDatabase(privateFile(join(dataDir.path, 'devdeck.db')))
    undo.push(() => database.close())
    const ptyTokens: PtyTokens = { find: () => undefined, redeem: () => undefined }
    const routes = Object.values(
      routesOf({
        version: packageJson.version,
        isolation: 'none',
        now: Date.now,
        store: { axons: createAxonStore(database) },
      }),
    ).flat()

    const keys = config.keys ?? [{ account: 'local', key: readOrMakeApiKey(dataDir) }]
    const gate: { check: ReturnType<typeof createAddressGate> } = { check: createAddressGate(new Set()) }
    const context = {
      router: createRouter(routes),
      authenticate: createAuthenticate(keys, ptyTokens),
      checkAddress: (request: Parameters<typeof gate.check>[0]) => gate.check(request),
      validateAnswers: config.validateAnswers,
      stopping: stopping.signal,
      log: logError,
    }
    const http = await listen({ ...config, listener: createListener(context), upgrades: createUpgrades(context) })
    // Only now is the port known that callers have to name.
    gate.check = createAddressGate(allowedAuthorities(http.port, config.host, config.allowHosts))
    undo.push(http.close)
    return {
      url: `http://${bracketed(config.host)}:${http.port}`,
      port: http.port,
      serviceId: dataDir.serviceId,
      routes,
      close,
    }
  } catch (error) {
    await close()
    throw asStartError(error, config)
  }
}

/** Every resource of the contract: a missing or an extra one does not compile. */
const routesOf = (deps: Deps): Record<keyof Contract, Route[]> => ({
  health: healthRoutes(deps),
  accounts: accountRoutes(deps),
  axons: axonRoutes(deps),
  evictions: implement(evictions, unimplemented(evictions)),
  snapshots: snapshotRoutes(),
  devboxes: implement(devboxes, unimplemented(devboxes)),
  executions: implement(executions, unimplemented(executions)),
  terminals: implement(terminals, unimplemented(terminals)),
  benchmarkJobs: benchmarkJobRoutes(),
  benchmarkRuns: benchmarkRunRoutes(),
  benchmarks: benchmarkRoutes(),
})

const unimplemented = <R extends object>(resource: R) =>
  Object.fromEntries(Object.keys(resource).map((operation) => [operation, notImplemented])) as {
    [O in keyof R]: typeof notImplemented
  }

/** Made before SQLite does, which would let the group and others read it; its side files copy the mode. */
const privateFile = (file: string) => {
  closeSync(openSync(file, 'a', 0o600))
  return file
}

const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)

const asStartError = (error: unknown, { host, port, dataDir }: ServiceConfig): unknown => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return new StartError(`Port ${port} on ${host} is taken; choose another with --port`)
  if (code === 'EACCES') return new StartError(`Port ${port} on ${host} may not be used: ${message}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`${host} is no address of this machine; choose another with --host`)
  if (code === 'ERR_SQLITE_ERROR') return new StartError(`The database in ${dataDir} cannot be used: ${message}`)
  return error
}
