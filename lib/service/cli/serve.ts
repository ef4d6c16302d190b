import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { prioritizeService } from '#lib/service/engine/cgroup.ts'
import { probeEngine } from '#lib/service/engine/choose-engine.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { Service } from '#lib/service/service.ts'
import type { CommandLine } from './command-line.ts'

/** The console stops with a service that printed this, and restarts any other. */
const plannedStopLine = 'Devdeck service stopping as planned'

/** `close` takes up to 2 s. A process stuck after a fault would block the next start. */
const faultGraceMs = 5_000

export const serve = async (commandLine: CommandLine) => {
  // The probe runs in child processes while the modules load.
  const choice = probeEngine(commandLine)
  const { createService } = await import('#lib/service/service.ts')
  const service = await createService(commandLine, choice)
  process.once('exit', prioritizeService())
  const { stop, fault } = shutdownHandlers(service, commandLine.drainMs)
  void service.stopDue.then(() => {
    console.log(plannedStopLine)
    stop()
  })
  process.on('SIGTERM', stop).on('SIGINT', stop)
  process.on('uncaughtException', fault).on('unhandledRejection', fault)
  if (commandLine.stopWithParent) {
    // A closed stdin emits several of these events, and a second `stop` would skip the drain.
    let parentExited = false
    const onParentExit = () => {
      if (!parentExited) stop()
      parentExited = true
    }
    process.stdin.on('end', onParentExit).on('error', onParentExit).on('close', onParentExit).resume()
  }
  console.log(`Devdeck service listening on ${service.url} (data in ${commandLine.dataDir})`)
  // The console shows the output before this line as startup progress.
  if (service.metricsUrl) console.log(`Metrics on ${service.metricsUrl}`)
  // Node writes the cache only on a clean exit, which may never happen.
  setImmediate(flushCompileCache)
}

const shutdownHandlers = (service: Service, drainMs: number) => {
  const skipDrain = new AbortController()
  let stopping = false
  let hasFailed = false

  const stop = async () => {
    if (stopping) return skipDrain.abort()
    stopping = true
    if (drainMs > 0 && service.announceEnd(Date.now() + drainMs))
      await delay(drainMs, undefined, { signal: skipDrain.signal }).catch(() => undefined)
    await service.close()
    process.exit(hasFailed ? 1 : 0)
  }

  /** After an unexpected error the process state is undefined: exit and let the supervisor restart it. */
  const fault = (error: unknown) => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    logError({ message: `Stopping after an unexpected error: ${message}`, stack })
    if (hasFailed) return
    hasFailed = true
    setTimeout(() => process.exit(1), faultGraceMs).unref()
    skipDrain.abort()
    service.close().finally(() => process.exit(1))
  }

  return { stop: () => void stop().catch(fault), fault }
}
