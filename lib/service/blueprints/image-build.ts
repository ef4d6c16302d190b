import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { parseDockerfile } from '#lib/service/benchmarks/harbor/build/dockerfile.ts'
import { baseImagesOf } from '#lib/service/benchmarks/harbor/images/build-context.ts'
import type { Images } from '#lib/service/engine/box.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { BlueprintError } from './blueprint-error.ts'
import { dockerfilePath, tagOf } from './dockerfile.ts'

interface ImageBuild {
  id: string
  context: string
  dockerfile: string
  buildArgs: Record<string, string>
  serviceId: string
  output: (line: string) => void
  signal: AbortSignal
}

/** Builds an image with the container engine. */
export const buildImage = async (
  images: Images,
  { id, context, dockerfile, serviceId, ...build }: ImageBuild,
): Promise<{ image: string; sizeBytes: number }> => {
  const packing = spawnProcess('tar', ['-c', '-C', context, '.'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', NODE_ENV: 'production' },
  })
  const packed = once(packing, 'close')
  try {
    return await images.build({
      ...build,
      // Node discards unread output when a process exits.
      context: packing.stdout.pipe(new PassThrough()),
      dockerfile: dockerfilePath,
      bases: baseImagesOf(dockerfile, build.buildArgs),
      tag: tagOf(id),
      labels: { 'devdeck.service': serviceId, 'devdeck.blueprint': id },
    })
  } catch (error) {
    build.signal.throwIfAborted()
    const { message, instruction } = error as Error & { instruction?: string }
    const line = instruction === undefined ? undefined : lineOf(dockerfile, instruction)
    throw new BlueprintError(line === undefined ? message : `Dockerfile line ${line}: ${instruction}: ${message}`)
  } finally {
    packing.kill('SIGKILL')
    await packed
  }
}

/** The engine reports the instruction with its variables and whitespace as it likes. */
const lineOf = (dockerfile: string, instruction: string): number | undefined => {
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim().toLowerCase()
  try {
    const wanted = plain(instruction)
    return parseDockerfile(dockerfile).find(({ name, text }) => wanted.startsWith(plain(`${name} ${text}`)))?.line
  } catch {
    // The engine knows more syntax.
    return undefined
  }
}
