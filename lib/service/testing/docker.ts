import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEngineAddress } from '#lib/service/engine/container/engine-address.ts'
import { EngineApi } from '#lib/service/engine/container/engine-api.ts'

const has = (program: string) => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0

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

  /** Kills the engine. It stays away until `revive`. */
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

  /** Makes a test image when it is first needed. Returns its name. */
  async image(name: keyof typeof makers): Promise<string> {
    await once(join(this.folder, `image-${name}`), async () => {
      const archive = join(tmpdir(), 'devdeck-test-images', `${name}.tar`)
      await mkdir(join(archive, '..'), { recursive: true })
      if (!existsSync(archive)) {
        const unfinished = `${archive}.${process.pid}`
        await makers[name](unfinished)
        await rename(unfinished, archive)
      }
      await this.#send('/images/create', { fromSrc: '-', repo: name }, readFileSync(archive))
    })
    return name
  }

  /** The image `base` with Node. */
  async nodeImage(): Promise<string> {
    await this.image('base')
    await once(join(this.folder, 'image-node'), async () => {
      const folder = await mkdtemp(join(tmpdir(), 'devdeck-node-image-'))
      await writeFile(join(folder, 'Dockerfile'), 'FROM base\nCOPY node /usr/local/bin/node\n')
      await copyFile(process.execPath, join(folder, 'node'))
      const context = spawnSync('tar', ['-C', folder, '-c', '.'], { maxBuffer: 2 ** 30 }).stdout
      await this.#send('/build', { t: 'node' }, context)
      await rm(folder, { recursive: true })
    })
    return 'node'
  }

  async #send(path: string, query: Record<string, string>, file: Buffer) {
    let output = ''
    for await (const chunk of await this.api.stream('POST', path, { query, file })) output += chunk
    if (!/sha256:/.test(output)) throw new Error(output)
  }
}

const run = (file: string, args: readonly string[]) => {
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file}: ${stderr}`)
}

const makers = {
  /** A shell without bash, perl or python. */
  async busybox(archive: string) {
    const folder = await mkdtemp(join(tmpdir(), 'devdeck-busybox-'))
    // The root folder of the image.
    await chmod(folder, 0o755)
    await mkdir(join(folder, 'bin'))
    run('cp', [
      '-L',
      spawnSync('/bin/sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).stdout.trim(),
      join(folder, 'bin/busybox'),
    ])
    const applets = spawnSync('busybox', ['--list'], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
    for (const name of applets) if (name !== 'busybox') await symlink('busybox', join(folder, 'bin', name))
    run('tar', ['-C', folder, '-cf', archive, '.'])
    await rm(folder, { recursive: true })
  },
  /** No program at all. */
  async empty(archive: string) {
    await writeFile(archive, Buffer.alloc(1024))
  },
  async base(archive: string) {
    run('mmdebstrap', ['--variant=apt', '--include=python3-minimal,procps', '--format=tar', 'bookworm', archive])
  },
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
const once = async (lock: string, action: () => Promise<void>): Promise<void> => {
  if (isFirst(lock)) {
    await action()
    await writeFile(join(lock, 'done'), '')
  }
  await until(lock, () => existsSync(join(lock, 'done')))
}

const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAtMs = Date.now() + 280_000
  while (!(await isTrue())) {
    if (Date.now() > giveUpAtMs) throw new Error(`Timed out waiting for ${what}`)
    await delay(50)
  }
}

/** Whether this machine can start a container engine and make images for it. */
export const hasDocker =
  process.getuid?.() === 0 &&
  ['dockerd', 'busybox', 'mmdebstrap'].every(has) &&
  (await sharedDocker().then(
    () => true,
    (error: Error) => {
      console.error(`The container tests are skipped: ${error.message}`)
      return false
    },
  ))
