import { type LaunchParameters, resourcesOf } from '#lib/contract/launch-parameters.ts'
import type { BuildBench } from '#lib/service/benchmarks/harbor/build/sandbox-build.ts'
import { readSmall, sendFile, sendFolder } from '#lib/service/benchmarks/transfer.ts'
import { type Finished, outputTail } from '#lib/service/benchmarks/workbench.ts'
import type { BlueprintOrigin, BoxEngine, Network, RunningDevbox } from '#lib/service/engine/box.ts'
import { runScript } from '#lib/service/engine/run-script.ts'
import type { CommandLog } from '#lib/service/store/logs/logs.ts'
import { BlueprintError } from './blueprint-error.ts'

interface Build {
  id: string
  env: Record<string, string>
  launchParameters: LaunchParameters
  network: Network
  log: (level: 'warn', message: string) => void
  signal: AbortSignal
}

interface Host {
  engine: BoxEngine
  serviceId: string
  dataDir: string
  privateNetwork: boolean
  folder: string
}

const maxReadBytes = 1024 * 1024
const maxOutputBytes = 64 * 1024

/** A box that a blueprint is built in. It has no devbox record. */
export class BuildBox implements BuildBench {
  readonly #build: Build
  readonly #devbox: RunningDevbox
  readonly #memoryGb: number
  #log: CommandLog | undefined
  #cause: BlueprintError | undefined

  static async start(build: Build, { engine, ...host }: Host, origin: BlueprintOrigin): Promise<BuildBox> {
    const { id, launchParameters, network, log, signal } = build
    const { cpuCores, memoryGb, diskGb } = resourcesOf(launchParameters)
    const { folder, serviceId, dataDir, privateNetwork } = host
    const box = await engine.start(
      {
        ...{ folder, serviceId, dataDir, privateNetwork, network, origin, signal },
        devboxId: id,
        hostname: 'blueprint',
        limits: { cpuCores, memoryBytes: memoryGb * 2 ** 30, diskBytes: diskGb * 2 ** 30 },
        hasRun: false,
        ...(origin.system && { user: { uid: 0, name: 'root' } }),
      },
      (sentence) => log('warn', sentence),
    )
    // Ends whatever runs: commands may ignore signals.
    signal.addEventListener('abort', () => void box.stop(), { once: true })
    if (signal.aborted) await box.stop()
    signal.throwIfAborted()
    return new BuildBox(build, { box, env: {}, busy: () => () => undefined }, memoryGb)
  }

  private constructor(build: Build, devbox: RunningDevbox, memoryGb: number) {
    this.#build = build
    this.#devbox = devbox
    this.#memoryGb = memoryGb
  }

  get runFolder(): string {
    return this.#devbox.box.run
  }

  /** Logs the output of `run` until the returned function is called. */
  logTo(log: CommandLog): () => void {
    this.#log = log
    return () => this.#endLog(0)
  }

  #endLog(exitStatus: number) {
    this.#log?.end(exitStatus)
    this.#log = undefined
  }

  async run(script: string, how: Parameters<BuildBench['run']>[1] = {}): Promise<Finished> {
    const finished = await this.#runIn(script, how, this.#log)
    if (finished.exitStatus !== 0) this.#endLog(finished.exitStatus)
    return finished
  }

  /** Without a log, for the service's own commands. */
  async must(script: string, env: Record<string, string> = {}): Promise<void> {
    const finished = await this.#runIn(script, { env, cwd: '/' })
    if (finished.exitStatus !== 0)
      throw new Error(`${outputTail(finished) || script} (exit code ${finished.exitStatus})`)
  }

  async #runIn(
    script: string,
    { env, cwd, user }: NonNullable<Parameters<BuildBench['run']>[1]>,
    log?: CommandLog,
  ): Promise<Finished> {
    this.#throwIfEnded()
    const output = { stdout: '', stderr: '' }
    const exitStatus = await runScript(
      { box: this.#devbox.box, env: { ...this.#build.env, ...env } },
      {
        script,
        ...(cwd && { cwd }),
        ...(user && { user }),
        attach: (stream, reader) =>
          reader.on('data', (chunk: Buffer) => {
            log?.output(stream, chunk)
            output[stream] = (output[stream] + chunk.toString('utf8')).slice(-maxOutputBytes)
          }),
      },
    )
    this.#throwIfEnded()
    return { exitStatus, ...output }
  }

  #throwIfEnded() {
    this.#build.signal.throwIfAborted()
    if (this.#cause) throw this.#cause
  }

  send: BuildBench['send'] = (from, to, { signal = this.#build.signal, ...how } = {}) =>
    sendFolder({ devbox: this.#devbox, signal }, from, to, how)

  sendFile: BuildBench['sendFile'] = (from, how, signal = this.#build.signal) =>
    sendFile({ devbox: this.#devbox, signal }, from, how)

  read(path: string, maxBytes = maxReadBytes): Promise<string | undefined> {
    return readSmall({ devbox: this.#devbox, signal: this.#build.signal }, path, maxBytes)
  }

  abort(cause: BlueprintError): void {
    this.#cause ??= cause
    void this.#devbox.box.stop()
  }

  /** Why a step failed, if something else caused it. */
  cause(): BlueprintError | undefined {
    if (this.#devbox.box.outOfMemoryKills() > 0)
      this.#cause ??= new BlueprintError(`The build ran out of memory (${this.#memoryGb} GiB)`, 'out_of_memory')
    return this.#cause
  }

  async stop(): Promise<void> {
    this.#endLog(0)
    await this.#devbox.box.stop()
  }
}
