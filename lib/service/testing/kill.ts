import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '#lib/client/client.ts'
import { findProcesses, hasExited } from '#lib/service/engine/processes.ts'
import { processStat } from '#lib/service/kit/proc.ts'
import { serviceIdOf } from '#lib/service/store/data-dir.ts'
import { runCommand } from './process.ts'
import { seededRandom } from './random.ts'

export interface KillReport {
  rounds: number
  seed: number
  acknowledged: number
  /** Processes in devboxes at the time of the kill. */
  running: number
  lost: string[]
  broken: string[]
  /** Old processes left five seconds after the restart. */
  orphans: string[]
  slowestStartMs: number
}

interface Options {
  rounds: number
  /** Repeats the kill times of an earlier report. */
  seed?: number
  isolation: 'auto' | 'none'
  onRound?: (round: number, report: KillReport) => void
}

// Acknowledged writes before the kill. In every other round a command is also running.
const minAcknowledged = 10
const maxAcknowledged = 200
const orphanGraceMs = 5_000
const killedStatus = 137

/** Repeatedly kills a service under load and checks all acknowledged writes after the restart. */
export const killRounds = async ({ rounds, seed = Date.now(), isolation, onRound }: Options): Promise<KillReport> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-kill-'))
  const report: KillReport = {
    rounds: 0,
    seed,
    acknowledged: 0,
    running: 0,
    lost: [],
    broken: [],
    orphans: [],
    slowestStartMs: 0,
  }
  const flags = ['--port', '0', '--isolation', isolation, '--drain-seconds', '0', '--data-dir', dataDir]
  // Ends the service if this process is killed.
  const start = () => runCommand([...flags, '--stop-with-parent'])
  const below = seededRandom(seed)
  try {
    for (let round = 0; round < rounds; round++) {
      const acknowledged = minAcknowledged + below(maxAcknowledged - minAcknowledged)
      const load = await loadAndKill(start(), dataDir, { acknowledged, processes: round % 2 })
      report.acknowledged += load.checks.length
      report.running += load.processes.length
      const integrity = integrityOf(join(dataDir, 'devdeck.db'))
      if (integrity !== 'ok') report.broken.push(`round ${round}: ${integrity}`)
      await checkRestarted(start(), dataDir, load, report)
      report.rounds++
      onRound?.(round, report)
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  return report
}

/** Returns what is wrong with an acknowledged write, if anything. */
type Check = (client: Client) => Promise<string | undefined>

interface Load {
  checks: Check[]
  processes: string[]
}

type Started = ReturnType<typeof runCommand>

/** Kills the service once it has enough acknowledged writes and running processes. */
const loadAndKill = async (
  { child, ready, ended }: Started,
  dataDir: string,
  enough: { acknowledged: number; processes: number },
): Promise<Load> => {
  const checks: Check[] = []
  let over = false
  try {
    const client = clientOf(await ready, dataDir)
    const unlessKilled = (error: unknown) => {
      if (!over) throw error
    }
    const repeat = async (write: (i: number) => Promise<void>) => {
      for (let i = 0; !over; i++) await write(i).catch(unlessKilled)
    }
    const writers = [
      repeat((i) => writeAxon(client, i, checks)),
      repeat((i) => writeSecret(client, i, checks)),
      publishAndSubscribe(client, repeat, checks).catch(unlessKilled),
      // Enough to have devboxes in every state of their start.
      ...Array.from({ length: 3 }, () => useDevbox(client, checks).catch(unlessKilled)),
    ]
    const settled = Promise.all(writers)
    let isSettled = false
    void settled.finally(() => {
      isSettled = true
    })
    let processes = processesOf(dataDir)
    while (!isSettled && (checks.length < enough.acknowledged || processes.length < enough.processes)) {
      await delay(1)
      processes = checks.length < enough.acknowledged ? [] : processesOf(dataDir)
    }
    over = true
    child.kill('SIGKILL')
    await settled
    return { checks, processes }
  } finally {
    over = true
    child.kill('SIGKILL')
    await ended
  }
}

const writeAxon = async (client: Client, i: number, checks: Check[]) => {
  const name = `axon ${i}`
  const { id } = await client.axons.create({ body: { name, metadata: { i: String(i) } } })
  checks.push(async (next) => {
    const found = await next.axons.get({ params: { id } })
    return found.name === name && found.metadata.i === String(i)
      ? undefined
      : `axon ${id} reads ${JSON.stringify(found)}`
  })
}

const writeSecret = async (client: Client, i: number, checks: Check[]) => {
  const name = `SECRET_${Date.now()}_${i}`
  const { id } = await client.secrets.create({ body: { name, value: `value ${i}` } })
  checks.push(async (next) => {
    const found = await next.secrets.get({ params: { name } })
    return found.id === id ? undefined : `secret ${name} reads ${JSON.stringify(found)}`
  })
}

const publishAndSubscribe = async (
  client: Client,
  repeat: (write: (i: number) => Promise<void>) => Promise<void>,
  checks: Check[],
) => {
  const { id } = await client.axons.create({})
  const eventExists =
    (sequence: number, payload: string): Check =>
    async (next) => {
      const query = { starting_after: sequence + 1, limit: 1 }
      const [found] = (await next.axons.events({ params: { id }, query })).events
      return found?.sequence === sequence && found.payload === payload
        ? undefined
        : `event ${sequence} of ${id} reads ${JSON.stringify(found)}`
    }
  const listening = (async () => {
    for await (const { sequence, payload } of client.axons.subscribe({ params: { id } }))
      checks.push(eventExists(sequence, payload))
  })()
  const publishing = repeat(async (i) => {
    const body = { event_type: 'note', origin: 'USER_EVENT', source: 'kill', payload: `event ${i}` } as const
    const { sequence } = await client.axons.publish({ params: { id }, body })
    checks.push(eventExists(sequence, body.payload))
  })
  await Promise.all([listening, publishing])
}

const useDevbox = async (client: Client, checks: Check[]) => {
  const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
  checks.push(async (next) => {
    const found = await next.devboxes.get({ params: { id } })
    return ['provisioning', 'initializing', 'running'].includes(found.status)
      ? undefined
      : `devbox reads ${JSON.stringify(found)}`
  })
  const execute = async (command: string, endings: readonly (number | null)[]) => {
    const { execution_id } = await client.executions.executeAsync({ params: { id }, body: { command } })
    checks.push(async (next) => {
      const found = await next.executions.get({ params: { devbox_id: id, execution_id } })
      const isExplained = found.exit_status !== killedStatus || found.stderr?.includes('service')
      return found.status === 'completed' && endings.includes(found.exit_status ?? null) && isExplained
        ? undefined
        : `${command} reads ${JSON.stringify(found)}`
    })
  }
  await execute('echo done > done; sync -d done', [0, killedStatus])
  await execute('sleep 1000', [killedStatus])
  await client.devboxes.update({ params: { id }, body: { metadata: { was: 'updated' } } })
  checks.push(async (next) => {
    const { metadata } = await next.devboxes.get({ params: { id } })
    return metadata.was === 'updated' ? undefined : `devbox ${id} has the metadata ${JSON.stringify(metadata)}`
  })
  const snapshot = await client.snapshots.create({ params: { id }, body: {} })
  checks.push(async (next) => {
    const { snapshots } = await next.snapshots.list({ query: { devbox_id: id } })
    return snapshots.some((each) => each.id === snapshot.id) ? undefined : `snapshot ${snapshot.id} is not listed`
  })
}

const checkRestarted = async (
  { child, ready, ended, output }: Started,
  dataDir: string,
  load: Load,
  report: KillReport,
) => {
  const startedAt = performance.now()
  try {
    const client = clientOf(await ready, dataDir)
    const readyAt = performance.now()
    report.slowestStartMs = Math.max(report.slowestStartMs, Math.round(readyAt - startedAt))
    for (const check of load.checks) {
      const problem = await check(client).catch((error: Error) => error.message)
      if (problem !== undefined) report.lost.push(`${problem}; stderr: ${output.stderr || 'empty'}`)
    }
    const left = () => load.processes.filter(isAlive)
    while (left().length > 0 && performance.now() - readyAt < orphanGraceMs) await delay(20)
    report.orphans.push(...left())
    const { devboxes } = await client.devboxes.list({ query: { status: 'running', limit: 100 } })
    await Promise.all(devboxes.map(({ id }) => client.devboxes.shutdown({ params: { id } })))
  } finally {
    child.kill('SIGTERM')
    const killing = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(killing)
  }
}

const clientOf = (url: string, dataDir: string) => {
  const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
  return createClient({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
}

const integrityOf = (file: string): string => {
  const database = new DatabaseSync(file)
  try {
    return database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => row.integrity_check)
      .join(', ')
  } finally {
    database.close()
  }
}

/** pid and start time, unique together, of processes of the service. */
const processesOf = (dataDir: string): string[] =>
  findProcesses({ DEVDECK_SERVICE_ID: serviceIdOf(dataDir) }).map((pid) => `${pid} ${processStat(pid)?.startTime}`)

const isAlive = (process: string): boolean => {
  const [pid, startTime] = process.split(' ')
  return !hasExited(Number(pid)) && processStat(Number(pid))?.startTime === startTime
}
