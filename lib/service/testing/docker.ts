import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEngineAddress } from '#lib/service/engine/container/engine-address.ts'
import { EngineApi } from '#lib/service/engine/container/engine-api.ts'
import { imageArchive, type TestImage } from './images.ts'

export const has = (program: string) => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0

const script = fileURLToPath(new URL('./dockerd.sh', import.meta.url))

export class TestDocker {
  readonly folder: string
  readonly url: string
  readonly api: EngineApi

  constructor(folder: string) {
    this.folder = folder
    this.url = `unix://${folder}/docker.sock`
    this.api = new EngineApi(parseEngineAddress(this.url, {}))
  }

  /** Starts the engine, which ends with `parent`. */
  launch(parent: number): void {
    spawn('/bin/bash', [script, this.folder, String(parent)], { stdio: 'ignore', detached: true }).unref()
  }

  async untilUp(): Promise<void> {
    await until('the container engine', () =>
      this.api.json('GET', '/_ping').then(
        () => true,
        () => {
          const problem = /failed to start daemon.*/i.exec(this.#log)?.[0]
          if (problem) throw new Error(problem)
          return false
        },
      ),
    )
  }

  get #log(): string {
    const file = join(this.folder, 'log')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  /** Kills the engine. It stays down until `revive`. */
  kill(): void {
    writeFileSync(join(this.folder, 'pause'), '')
    process.kill(Number(readFileSync(join(this.folder, 'daemon'), 'utf8')), 'SIGKILL')
  }

  async revive(): Promise<void> {
    await rm(join(this.folder, 'pause'))
    await this.untilUp()
  }

  async close(): Promise<void> {
    await writeFile(join(this.folder, 'stop'), '')
    await until('the end of the container engine', () => !existsSync(this.folder))
  }

  /** Loads a test image when it is first needed. Returns its name. */
  async image(name: TestImage): Promise<string> {
    await once(join(this.folder, `image-${name}`), async () => load(this.api, await imageArchive(name)))
    return name
  }
}

export const load = async (api: EngineApi, archive: string): Promise<void> => {
  let output = ''
  const request = { query: { quiet: true }, file: createReadStream(archive) }
  for await (const chunk of await api.stream('POST', '/images/load', request)) output += chunk
  if (!output.includes('Loaded image')) throw new Error(output)
}

/** One engine for all test files of a run, started by the first. */
export const sharedDocker = async (): Promise<TestDocker> => {
  const docker = new TestDocker(join(tmpdir(), `devdeck-docker-${process.ppid}`))
  if (isFirst(docker.folder)) docker.launch(process.ppid)
  await docker.untilUp()
  return docker
}

export const ownDocker = async (): Promise<TestDocker> => {
  const docker = new TestDocker(await mkdtemp(join(tmpdir(), 'devdeck-docker-')))
  docker.launch(process.pid)
  await docker.untilUp()
  return docker
}

const isFirst = (folder: string): boolean => {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** Runs an action in one process; others wait for it. */
export const once = async (lock: string, action: () => Promise<void>): Promise<void> => {
  if (isFirst(lock)) {
    await action()
    await writeFile(join(lock, 'done'), '')
  }
  await until(lock, () => existsSync(join(lock, 'done')))
}

export const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAtMs = Date.now() + 280_000
  while (!(await isTrue())) {
    if (Date.now() > giveUpAtMs) throw new Error(`Timed out waiting for ${what}`)
    await delay(50)
  }
}
