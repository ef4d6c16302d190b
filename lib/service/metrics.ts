import { accessSync, constants, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Gauge } from 'prom-client'
import { createMetrics, type Readiness, startMetricsServer } from '#lib/metrics/metrics-server.ts'
import { floorsOf, freeDisk } from './evictions/pressure.ts'
import type { OnResponse } from './http/listener.ts'
import { sizeText } from './kit/amounts.ts'
import type { Deps, ServiceBase } from './parts.ts'
import { databaseName } from './store/data-dir.ts'

/** Serves the service's metrics if the configuration has a port for them. */
export const startMetrics = async (
  { config, dataDir, database, onClose }: ServiceBase,
  { quota }: Deps,
  problem: () => string | undefined,
): Promise<{ url: string; observe: OnResponse } | undefined> => {
  if (!config.metrics) return undefined
  const { registry, requests } = createMetrics('devdeck')
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    collect: (gauge: Gauge<L>) => unknown,
  ) =>
    new Gauge({
      name: `devdeck_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        await collect(this)
      },
    })
  const counts = (sql: string) => {
    const statement = database.prepare(sql)
    return () => statement.all() as { label: string; total: number }[]
  }
  const countsOf = (name: string, help: string, label: string, sql: string) => {
    const read = counts(sql)
    gauge(name, help, [label], (each) => {
      for (const { label: value, total } of read()) each.set({ [label]: value }, total)
    })
  }
  const countOf = (name: string, help: string, sql: string) => {
    const statement = database.prepare(sql)
    gauge(name, help, [], (each) => each.set(Number(statement.get()?.total)))
  }
  countsOf(
    'devboxes',
    'Devboxes that have not ended, by status.',
    'status',
    "SELECT status AS label, count(*) AS total FROM devboxes WHERE status NOT IN ('failure', 'shutdown') GROUP BY 1",
  )
  countsOf(
    'executions',
    'Commands that have not ended, by status.',
    'status',
    "SELECT status AS label, count(*) AS total FROM executions WHERE status <> 'completed' GROUP BY 1",
  )
  countsOf(
    'benchmark_jobs',
    'Benchmark jobs that have not ended, by state.',
    'state',
    'SELECT state AS label, count(*) AS total FROM benchmark_jobs WHERE end_time_ms IS NULL GROUP BY 1',
  )
  countOf('trials', 'Running trials.', 'SELECT count(*) AS total FROM scenario_runs WHERE end_time_ms IS NULL')
  countOf('evictions_pending', 'Announced evictions.', 'SELECT count(*) AS total FROM evictions')
  gauge('stored_bytes', 'Stored bytes by account and kind.', ['account', 'kind'], (each) => {
    for (const account of quota.accounts())
      for (const [kind, bytes] of Object.entries(quota.of(account).stored)) each.set({ account, kind }, bytes ?? 0)
  })
  gauge('disk_bytes', "Size and free space of the data folder's disk.", ['kind'], async (each) => {
    const { blocks, bsize } = await statfs(dataDir.path)
    each.set({ kind: 'size' }, blocks * bsize)
    each.set({ kind: 'free' }, await freeDisk(dataDir.path))
  })
  gauge('database_bytes', 'Size of the database and of its write-ahead log.', ['file'], (each) => {
    for (const [file, name] of [
      ['database', databaseName],
      ['log', `${databaseName}-wal`],
    ] as const)
      each.set({ file }, statSync(join(dataDir.path, name), { throwIfNoEntry: false })?.size ?? 0)
  })

  const readiness = async (): Promise<Readiness> => {
    const floors = await floorsOf(config.pressure, dataDir.path)
    const free = await freeDisk(dataDir.path)
    return {
      data_folder: problem() ?? failure(() => accessSync(dataDir.path, constants.W_OK)),
      database: failure(() => database.prepare('SELECT 1').get()),
      disk: free < floors.disk ? `${sizeText(free)} free, minimum ${sizeText(floors.disk)}` : undefined,
    }
  }
  const server = await startMetricsServer(config.metrics, registry, readiness)
  onClose(() => server.close())
  return {
    url: `http://${config.metrics.host}:${server.port}/metrics`,
    observe: ({ operation, status, durationMs, isStream }) => {
      if (!isStream) requests.observe({ operation, status }, durationMs / 1000)
    },
  }
}

const failure = (work: () => unknown): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
