import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { backoffMs } from '#lib/client/backoff.ts'
import { ConfigError } from './config.ts'
import { listenOnOtherLoopback } from './http/loopback.ts'
import { logError } from './observability/log.ts'
import type { ServiceAddress } from './registry/registry.ts'

interface EmbeddedService extends ServiceAddress {
  stop(): Promise<void>
}

const startTimeoutMs = 15_000
// The service notifies watchers for two seconds and needs two more to stop.
const stopTimeoutMs = 10_000
/** As in lib/service/cli/serve.ts. */
const plannedStopLine = 'Devdeck service stopping as planned'
const restartBackoff = { firstMs: 250, maxMs: 10_000 }
const stableMs = 30_000
const defaultEntry = fileURLToPath(new URL('../service/main.ts', import.meta.url))

// Runs the local service as a child process and restarts it on the same port when it dies. Resolves once it listens;
// throws a ConfigError if the first start fails. `onProgress` receives its output before it listens.
export const startEmbeddedService = async (
  dataDir: string,
  {
    apiKeys = '',
    port,
    flags = [],
    entry = defaultEntry,
    onProgress = () => undefined,
    onPlannedStop = () => undefined,
  }: {
    apiKeys?: string
    port?: number | undefined
    flags?: readonly string[]
    entry?: string
    onProgress?: (line: string) => void
    /** Called when the service stops because an operator has drained it. It isn't restarted. */
    onPlannedStop?: () => void
  } = {},
): Promise<EmbeddedService> => {
  let stopping = false
  let isPlanned = false
  let url = ''
  let deaths = 0
  let child: ChildProcess

  const start = async (port: string): Promise<void> => {
    child = spawn(
      process.execPath,
      [
        ...[entry, '--port', port, '--host', '127.0.0.1', '--data-dir', dataDir, '--stop-with-parent'],
        ...(apiKeys === '' ? [] : ['--keys-fd', '3']),
        ...flags,
      ],
      {
        // The service exits when its stdin closes, so it never outlives this process. The keys come by a pipe,
        // because /proc exposes the environment.
        stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
        // Detached: Ctrl-C reaches only this process, which stops the service last.
        detached: true,
      },
    )
    const pipe = child.stdio[3] as Writable
    pipe.on('error', () => undefined).end(apiKeys)
    url = await readyAddress(child, {
      onProgress,
      onOutput: (line) => {
        if (line === plannedStopLine) isPlanned = true
      },
    })
    const startedAt = Date.now()
    child.once('exit', (code, signal) => {
      if (Date.now() - startedAt > stableMs) deaths = 0
      if (isPlanned && !stopping) onPlannedStop()
      else if (!stopping) void restart(`ended with ${signal ?? `code ${code}`}`)
    })
  }

  const restart = async (reason: string): Promise<void> => {
    const { port } = new URL(url)
    while (!stopping) {
      const waitMs = Math.round(backoffMs(deaths++, restartBackoff))
      logError(`The embedded service ${reason}; restarting it in ${waitMs} ms`)
      await delay(waitMs, undefined, { ref: false })
      if (stopping) return
      try {
        return await start(port)
      } catch (error) {
        reason = `did not start: ${(error as Error).message}`
      }
    }
  }

  try {
    await previousServiceStopped(dataDir)
    await start(String(port ?? (await lastPort(dataDir))))
    if (port === undefined) rememberPort(dataDir, new URL(url).port)
  } catch (error) {
    throw new ConfigError([`The embedded service did not start: ${(error as Error).message}`])
  }
  return {
    embedded: true,
    url: () => url,
    ownKey: () => ownKey(dataDir, apiKeys),
    operatorToken: () => readSecret(join(dataDir, 'operator-token')),
    stop: async () => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const killing = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      await gone
      clearTimeout(killing)
    },
  }
}

/** After a killed console, its service holds the port and the data folder for a few seconds. */
const previousServiceStopped = async (dataDir: string): Promise<void> => {
  const file = join(dataDir, 'lock')
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : Number.NaN
  if (!isService(pid, dataDir)) return
  console.log(`Waiting for the previous local service (pid ${pid}) to stop`)
  const endMs = Date.now() + stopTimeoutMs
  while (isService(pid, dataDir) && Date.now() < endMs) await delay(50)
}

const isService = (pid: number, dataDir: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(dataDir)
  } catch {
    return false
  }
}

const portFile = (dataDir: string) => join(dataDir, 'port')

// Unspecified: the service reuses its last port, so that copied commands keep working; a free one on first start or
// if the last one is taken.
const lastPort = async (dataDir: string): Promise<number> => {
  const file = portFile(dataDir)
  const port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  if (!(Number.isInteger(port) && port > 0 && port < 65_536)) return 0
  if (await isFree(port)) return port
  console.log(`Port ${port} of the local service is taken; using another one`)
  return 0
}

const rememberPort = (dataDir: string, port: string): void => {
  try {
    writeFileSync(portFile(dataDir), `${port}\n`, { mode: 0o600 })
  } catch (error) {
    console.error(`The port of the local service may change at the next start: ${(error as Error).message}`)
  }
}

const isFree = async (port: number): Promise<boolean> => {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
    ;(await listenOnOtherLoopback(probe, '127.0.0.1', port))?.close()
    return true
  } catch {
    return false
  } finally {
    if (probe.listening) await new Promise((resolve) => probe.close(resolve))
  }
}

/** The address the child prints once it listens. Later output is forwarded. */
const readyAddress = async (
  child: ChildProcess,
  { onProgress, onOutput }: { onProgress: (line: string) => void; onOutput: (line: string) => void },
): Promise<string> => {
  const { stdout } = child
  if (!stdout) throw new Error('it has no standard output')
  const lines = createInterface({ input: stdout })
  const forward = (line: string) => {
    console.log(line)
    onOutput(line)
  }
  return new Promise<string>((resolve, reject) => {
    const tooLate = () => fail(new Error(`it did not listen within ${startTimeoutMs / 1000} s`))
    let timer = setTimeout(tooLate, startTimeoutMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(error)
    }
    child.once('error', fail)
    child.once('exit', (code, signal) => fail(new Error(`it exited with ${signal ?? `code ${code}`}`)))
    const starting = (line: string) => {
      const found = /listening on (http:\/\/[\w.:[\]-]+)/.exec(line)?.[1]
      clearTimeout(timer)
      if (found) {
        // At once: the next line may arrive before this promise is handled, and would start the timer again.
        lines.off('line', starting).on('line', forward)
        return resolve(found)
      }
      console.log(line)
      onProgress(line)
      // Killing a long migration would restart it from the beginning each time.
      if (!line.startsWith('Migrating')) timer = setTimeout(tooLate, startTimeoutMs)
    }
    lines.on('line', starting)
  })
}

/** Like the service: the first key given, otherwise the generated one. */
const ownKey = (dataDir: string, apiKeys: string): string | undefined => {
  const [first] = apiKeys.split(',').filter((each) => each.trim() !== '')
  if (first !== undefined) return first.slice(first.indexOf(':') + 1).trim()
  return readSecret(join(dataDir, 'api-key'))
}

const readSecret = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
