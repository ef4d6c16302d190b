import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ContainerStats } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type {
  Archive,
  Box,
  BoxEnd,
  BoxProcess,
  BoxTerminal,
  Command,
  Size,
  Survivors,
  TerminalEvents,
  Usage,
} from '../box.ts'
import { connectInside } from './connect-inside.ts'
import { openContainerTerminal } from './container-terminal.ts'
import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'
import type { ContainerEvent } from './engine-events.ts'
import { type ExecTarget, runInside, startProcess } from './exec.ts'
import { openHeldTerminal, startHeldProcess } from './held.ts'
import { bashrcPath, putFiles, runFolder } from './install.ts'
import { createSurvivors, holdIdOf } from './survivors.ts'

interface Options {
  api: EngineApi
  containerId: string
  devboxId: string
  home: string
  cwd: string
  uid: number
  gid: number
  hasBash: boolean
  hasPerl: boolean
  /** Whether it keeps running when the service ends. */
  outlivesService?: boolean
  /** Whether its first process is the image's. */
  runsImage: boolean
  /** Default environment of commands. */
  env: Readonly<Record<string, string>>
  notEnforced: readonly string[]
  node?: { id: string; hostname: string }
  onEnd(): void
  setOnline(isOnline: boolean): Promise<void>
}

const copyTimeoutMs = 60 * 60 * 1000
const diskFullBelowKiB = 8 * 1024
// A process may end before its start has been handled.
const exitMemoryMs = 60_000
const ownProcesses = 2

/** A running container. */
export class ContainerBox implements Box {
  readonly home: string
  readonly tmp = '/tmp'
  readonly run = runFolder
  readonly shell: string
  readonly bashrc: string | undefined
  readonly notEnforced: string[]
  readonly ended: Promise<BoxEnd | undefined>
  readonly node?: { id: string; hostname: string }
  readonly containerId: string
  readonly devboxId: string
  readonly survivors?: Survivors
  readonly #options: Options
  readonly #target: ExecTarget
  readonly #end: (end: BoxEnd | undefined) => void
  readonly #exits = new Map<string, PromiseWithResolvers<number>>()
  /** False once perl has been removed from the devbox. */
  #canHold: boolean
  #stopping: Promise<void> | undefined
  #hasEnded = false
  #reportedKills = 0
  #killEvents = 0

  constructor(options: Options) {
    const {
      api,
      containerId,
      devboxId,
      home,
      cwd,
      env,
      hasBash,
      hasPerl,
      outlivesService = false,
      notEnforced,
      onEnd,
    } = options
    this.#options = options
    this.containerId = containerId
    this.devboxId = devboxId
    this.home = home
    this.shell = hasBash ? '/bin/bash' : '/bin/sh'
    this.bashrc = hasBash ? bashrcPath : undefined
    this.notEnforced = [...notEnforced]
    const { promise, resolve } = Promise.withResolvers<BoxEnd | undefined>()
    this.ended = promise
    if (options.node) this.node = options.node
    const sockets = new Set<Socket>()
    const lost = new AbortController()
    this.#end = (end) => {
      if (this.#hasEnded) return
      this.#hasEnded = true
      resolve(end)
      lost.abort(new ServiceError('unavailable', end?.cause ?? 'The devbox was stopped'))
      for (const socket of sockets) socket.destroy()
      onEnd()
    }
    this.#target = {
      api,
      containerId,
      cwd,
      env,
      user: undefined,
      sockets,
      signal: lost.signal,
      ended: this.ended,
      exitOf: (execId) => this.#exitOf(execId).promise,
      countKills: (kills) => {
        this.#reportedKills = Math.max(this.#reportedKills, kills)
      },
    }
    this.#canHold = outlivesService && hasPerl
    if (outlivesService) this.survivors = createSurvivors(this.#target, hasPerl)
  }

  setOnline(isOnline: boolean): Promise<void> {
    return this.#options.setOnline(isOnline)
  }

  get archive(): Archive {
    const { api, containerId } = this.#options
    const url = `/containers/${containerId}/archive`
    const timeoutMs = copyTimeoutMs
    return {
      read: (path, signal) => api.stream('GET', url, { query: { path }, signal, timeoutMs }).catch(ifMissing),
      write: async (path, file, signal) => {
        await api.json('PUT', url, { query: { path }, file, signal, timeoutMs })
      },
    }
  }

  async start(command: Command): Promise<BoxProcess> {
    const hold = this.#holdOf(command)
    const held = hold && (await startHeldProcess(this.#target, hold, command))
    if (held) return held
    if (hold) this.#canHold = false
    return startProcess(this.#target, command)
  }

  openTerminal(command: Command, size: Size, events: TerminalEvents): BoxTerminal {
    const hold = this.#holdOf(command)
    if (!hold) return openContainerTerminal(this.#target, command, size, events)
    const terminal = openHeldTerminal(this.#target, hold, command, size, events)
    void terminal.connected.then(
      (isHeld) => {
        if (!isHeld) this.#canHold = false
      },
      () => undefined,
    )
    return terminal
  }

  // The run folder belongs to the devbox's user.
  #holdOf({ hold, user }: Command): string | undefined {
    return this.#canHold && hold !== undefined && user === undefined ? holdIdOf(hold) : undefined
  }

  async putRunFile(prefix: string, text: string) {
    const { api, containerId, uid, gid } = this.#options
    const path = `${runFolder}/${prefix}-${randomBytes(8).toString('hex')}`
    await putFiles(api, containerId, [{ path, mode: 0o600, uid, gid, content: text }])
    const remove = async () => {
      if (!this.#hasEnded)
        await runInside(this.#target, ['/bin/sh', '-c', 'rm -f "$0"', path]).catch(
          logFailure(`Could not remove ${path}`),
        )
    }
    return { path, remove }
  }

  async emptyRunFolder(): Promise<void> {
    await runInside(this.#target, ['/bin/sh', '-c', 'rm -rf "$0"/*', runFolder])
  }

  async usage(): Promise<Usage> {
    const { api, containerId } = this.#options
    const query = { stream: false, 'one-shot': true }
    const stats = await api.json<ContainerStats>('GET', `/containers/${containerId}/stats`, { query })
    const { usage = 0, stats: memory } = stats.memory_stats ?? {}
    const fileCache = memory?.total_inactive_file ?? memory?.inactive_file ?? 0
    return {
      processes: Math.max(0, (stats.pids_stats?.current ?? 0) - ownProcesses),
      memoryBytes: Math.max(0, usage - fileCache),
      cpuSeconds: (stats.cpu_stats?.cpu_usage?.total_usage ?? 0) / 1e9,
    }
  }

  connect(port: number): Promise<Duplex> {
    return connectInside(this.#target, port)
  }

  outOfMemoryKills(): number {
    return Math.max(this.#reportedKills, this.#killEvents)
  }

  async isDiskFull(): Promise<boolean> {
    if (this.#hasEnded) return false
    const argv = ['/bin/sh', '-c', 'df -Pk "$0" | tail -n 1', this.home]
    // Fails in a container that has ended.
    const result = await runInside(this.#target, argv).catch(() => undefined)
    const availableKiB = Number(result?.output.trim().split(/\s+/)[3])
    return result?.status === 0 && availableKiB < diskFullBelowKiB
  }

  detach(): void {
    this.#end(undefined)
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** Ends the box from the engine's side. */
  lost(cause: string, reason?: BoxEnd['reason']): void {
    this.#end({ cause, ...(reason && { reason }) })
  }

  handle({ action, attributes }: ContainerEvent): void {
    if (action === 'oom') this.#killEvents++
    else if (action === 'exec_die') this.#execEnded(attributes.execID ?? '', Number(attributes.exitCode))
    else if (action === 'die') void this.#died(attributes.exitCode ?? '?')
    else if (action === 'destroy') this.#end({ cause: 'The container was removed from outside' })
  }

  #execEnded(execId: string, exitStatus: number) {
    this.#exitOf(execId).resolve(exitStatus)
    setTimeout(() => this.#exits.delete(execId), exitMemoryMs).unref()
  }

  #exitOf(execId: string): PromiseWithResolvers<number> {
    const exit = this.#exits.get(execId) ?? Promise.withResolvers<number>()
    this.#exits.set(execId, exit)
    return exit
  }

  async #stop(): Promise<void> {
    if (this.#hasEnded) return
    // Without an engine, the next connection stops the container.
    const stopped = stopContainer(this.#options.api, this.containerId)
    await Promise.race([stopped, this.ended]).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      logFailure('Could not stop a container')(error)
    })
    this.#end(undefined)
  }

  async #died(exitCode: string) {
    if (this.#stopping) return
    const { api, containerId } = this.#options
    const state = await api
      .json<{ State: { Status: string; OOMKilled: boolean } }>('GET', `/containers/${containerId}/json`)
      .catch(() => undefined)
    // Dead: removed except for some of its files.
    if (!state || ['removing', 'dead'].includes(state.State.Status))
      return this.#end({ cause: 'The container was removed from outside' })
    if (state.State.OOMKilled) this.#killEvents++
    const { runsImage } = this.#options
    const exited = `The container's main process exited (exit status ${exitCode})`
    this.#end({ cause: runsImage ? exited : 'The container was killed from outside' })
  }
}

/** Kills all processes of a container. Repeatable. */
export const stopContainer = async (api: EngineApi, container: string): Promise<void> => {
  await api.json('POST', `/containers/${container}/stop`, { query: { t: 0 } }).catch((error: unknown) => {
    if (!(error instanceof EngineResponseError) || ![304, 404].includes(error.status)) throw error
  })
}
