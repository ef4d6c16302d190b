import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { goBeforeDevboxes } from '#lib/service/engine/cgroup.ts'
import { beginChoice } from '#lib/service/engine/choose-engine.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { Service } from '#lib/service/service.ts'
import type { CommandLine } from './command-line.ts'

/** `close` takes two seconds. A process that hangs longer after a fault would keep the next service from starting. */
const faultGraceMs = 5_000

export const serve = async (commandLine: CommandLine) => {
  // The sandbox is probed by other processes while this one loads the rest.
  const choice = beginChoice(commandLine.isolation)
  const { createService } = await import('#lib/service/service.ts')
  const service = await createService(commandLine, choice)
  process.once('exit', goBeforeDevboxes())
  const { stop, fault } = ends(service, commandLine.drainMs)
  process.on('SIGTERM', stop).on('SIGINT', stop)
  process.on('uncaughtException', fault).on('unhandledRejection', fault)
  if (commandLine.stopWithParent) {
    // All three events follow the parent's end, and a second `stop` would cut the drain short: that is for signals alone.
    let gone = false
    const onGone = () => {
      if (!gone) stop()
      gone = true
    }
    process.stdin.on('end', onGone).on('error', onGone).on('close', onGone).resume()
  }
  console.log(`Devdeck service listening on ${service.url} (data in ${commandLine.dataDir})`)
  service.prepare()
  // Node would write it at a proper exit only, which many a service never has.
  setImmediate(flushCompileCache)
}

const ends = (service: Service, drainMs: number) => {
  const drainCut = new AbortController()
  let stopping = false
  let faulty = false

  /** Ends the service, after the announced time if there are devboxes; a second call ends that wait. */
  const stop = async () => {
    if (stopping) return drainCut.abort()
    stopping = true
    if (drainMs > 0 && service.announceEnd(Date.now() + drainMs))
      await delay(drainMs, undefined, { signal: drainCut.signal }).catch(() => undefined)
    await service.close()
    process.exit(faulty ? 1 : 0)
  }

  /** After an unexpected error the state of the process is unknown: it ends, and its supervisor restarts it. */
  const fault = (error: unknown) => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    logError({ message: `The service stops after an unexpected error: ${message}`, stack })
    if (faulty) return
    faulty = true
    setTimeout(() => process.exit(1), faultGraceMs).unref()
    drainCut.abort()
    service.close().finally(() => process.exit(1))
  }

  return { stop: () => void stop().catch(fault), fault }
}
