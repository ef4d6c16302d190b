import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { ImageInfo, Images } from '#lib/service/engine/box.ts'
import { BuildError } from '#lib/service/engine/build-error.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { orAborted } from '#lib/service/kit/or-aborted.ts'
import { SandboxBuildFailedError } from '../build/dockerfile.ts'
import { checksumOf } from '../datasets.ts'
import { type BuildContext, baseImagesOf, dockerfileOf, openContext } from './build-context.ts'
import { type PortableDockerfile, portableDockerfile } from './portable-dockerfile.ts'

export interface ImageSource extends BuildContext {
  args: Record<string, string>
  target: string | null
}

interface Options {
  /** The engine that runs the images. */
  engine: 'container' | 'swarm'
  images: Images
  /** File that lists the built images and their last use. */
  listFile: string
  /** 0 for no limit. */
  maxBytes: number
  log: (entry: object) => void
}

interface BuildOptions {
  builtFor: string
  /** Builds even if the image is there; the engine's own cache still applies. */
  force: boolean
  output: (line: string) => void
  signal: AbortSignal
}

export interface BuiltImage {
  bytes: number
  usedMs: number
  builtFor: string
}

/** Images of task environments, by content. Removes the least recently used ones when they take too much space. */
export class TaskImages {
  readonly #options: Options
  readonly #building = new Map<string, Promise<void>>()
  readonly #built: Record<string, BuiltImage>
  #queue: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
    this.#built = builtImages(options.listFile)
  }

  get engine(): string {
    return this.#options.engine
  }

  async info(image: string, signal: AbortSignal): Promise<ImageInfo> {
    const info = await this.#options.images.inspect(image, signal)
    if (!info) throw new SandboxBuildFailedError(`Image ${image} is not available and could not be pulled`)
    return info
  }

  /** Resolves to the image's reference. Waits while another trial builds the same image. */
  async build(source: ImageSource, { builtFor, force, output, signal }: BuildOptions): Promise<string> {
    const { images } = this.#options
    const dockerfile = await dockerfileOf(source)
    const tag = `devdeck/task:${await this.#keyOf(source, dockerfile, signal)}`
    for (let other = this.#building.get(tag); other; other = this.#building.get(tag)) await orAborted(other, signal)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#building.set(tag, promise)
    try {
      if (force || !(await images.find(tag, signal))) {
        const sizeBytes = await this.#run(tag, source, dockerfile, { builtFor, output, signal })
        await this.#store(tag, { builtFor, bytes: sizeBytes, usedMs: Date.now() })
      } else await this.#store(tag, { builtFor, bytes: 0, ...this.#built[tag], usedMs: Date.now() })
      return tag
    } finally {
      this.#building.delete(tag)
      resolve()
    }
  }

  async #run(
    tag: string,
    source: ImageSource,
    dockerfile: string,
    { builtFor, output, signal }: Omit<BuildOptions, 'force'>,
  ): Promise<number> {
    const { args: buildArgs, target } = source
    const lastLines: string[] = []
    const build = async (portable?: PortableDockerfile) =>
      this.#options.images.build({
        ...(await openContext(source, dockerfile, signal, portable)),
        tag,
        buildArgs,
        bases: baseImagesOf(dockerfile, buildArgs),
        ...(target !== null && { target }),
        labels: { [taskImageLabel]: builtFor },
        output(line) {
          if (lastLines.push(line) > maxLastLines) lastLines.shift()
          output(line)
        },
        signal,
      })
    try {
      return (await build().catch((error: unknown) => build(retryOf(error, dockerfile)))).sizeBytes
    } catch (error) {
      if (!(error instanceof BuildError)) throw error
      throw new SandboxBuildFailedError([error.message, ...lastLines].join('\n'))
    }
  }

  /** A base image with the same name may have changed since. */
  async #keyOf(source: ImageSource, dockerfile: string, signal: AbortSignal): Promise<string> {
    const { images } = this.#options
    const bases = await Promise.all(
      baseImagesOf(dockerfile, source.args).map(async (base) => (await images.find(base, signal))?.id ?? base),
    )
    const parts = [dockerfile, source.args, source.target, bases, await checksumOf(source.context)]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
  }

  #store(tag: string, image: BuiltImage): Promise<void> {
    const { listFile, maxBytes, images, log } = this.#options
    this.#built[tag] = image
    const stored = this.#queue.then(async () => {
      const all = Object.entries(this.#built).sort(([, a], [, b]) => a.usedMs - b.usedMs)
      let total = all.reduce((sum, [, { bytes }]) => sum + bytes, 0)
      for (const [other, { bytes, builtFor, usedMs }] of all) {
        // A trial may be about to start with it.
        const isRecent = image.usedMs - usedMs < keptMs
        if (maxBytes === 0 || total <= maxBytes || isRecent || this.#building.has(other)) continue
        // An image in use stays; the next build tries again.
        if (
          !(await images.remove(other).then(
            () => true,
            () => false,
          ))
        )
          continue
        total -= bytes
        delete this.#built[other]
        log({ level: 'info', message: `The image built for ${builtFor} (${sizeText(bytes)}) is removed to make room` })
      }
      await writeFile(listFile, JSON.stringify(this.#built), { mode: 0o600 })
    })
    this.#queue = stored.catch(() => undefined)
    return stored
  }
}

export const taskImageLabel = 'devdeck.task'
const keptMs = 10 * 60 * 1000
/** Lines of output in the reason of a failed build. */
const maxLastLines = 20

/** What an older builder can build. Rethrows other failures, such as that of a command. */
const retryOf = (error: unknown, dockerfile: string): PortableDockerfile => {
  const isCommand = error instanceof BuildError && /executor failed|returned a non-zero code/.test(error.message)
  const portable = error instanceof BuildError && !isCommand ? portableDockerfile(dockerfile) : undefined
  if (!portable) throw error
  return portable
}

export const taskImagesFile = 'task-images.json'

export const builtImages = (listFile: string): Record<string, BuiltImage> => {
  try {
    return JSON.parse(readFileSync(listFile, 'utf8'))
  } catch {
    // The first start, or a list that was cut off: the images are found again by content.
    return {}
  }
}
