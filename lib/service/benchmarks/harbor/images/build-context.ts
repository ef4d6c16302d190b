import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { readDockerignore } from '../build/context.ts'
import { parseDockerfile, SandboxBuildFailedError, wordsOf } from '../build/dockerfile.ts'
import type { PortableDockerfile } from './portable-dockerfile.ts'

export interface BuildContext {
  context: string
  dockerfile: string
  /** Contents of the Dockerfile, which then isn't read. */
  inline: string | null
}

export const dockerfileOf = async ({ context, dockerfile, inline }: BuildContext): Promise<string> => {
  if (inline !== null) return inline
  return readFile(resolve(context, dockerfile), 'utf8').catch(() => {
    throw new SandboxBuildFailedError(`${dockerfile} is missing in the build context`)
  })
}

/**
 * The build context as `docker build` sends it: without what .dockerignore excludes, all owned by root. `portable`
 * replaces the Dockerfile.
 */
export const openContext = async (
  { context, dockerfile, inline }: BuildContext,
  text: string,
  signal: AbortSignal,
  portable?: PortableDockerfile,
): Promise<{ context: Readable; dockerfile: string }> => {
  const inside = relative(context, resolve(context, dockerfile))
  const isSent = inline === null && !portable && !inside.startsWith(`..${sep}`)
  const isIgnored = await readDockerignore(context, inline === null ? inside : undefined)
  // The builder needs both files even if they are excluded.
  const needed = ['.dockerignore', ...(isSent ? [inside] : [])]
  const names = await namesBelow(context, (path) => !needed.includes(path) && (isIgnored?.(path) ?? false))
  const stream = tarOf(context, names, signal)
  if (isSent) return { context: stream, dockerfile: inside }
  const files = { [dockerfileName]: portable?.text ?? text, ...portable?.files }
  return { context: prepended(files, stream), dockerfile: dockerfileName }
}

/** Folders come before their contents; those without any are only included if they aren't ignored. */
const namesBelow = async (root: string, isIgnored: (path: string) => boolean, folder = ''): Promise<string[]> => {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const names = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      const below = entry.isDirectory() ? await namesBelow(root, isIgnored, path) : []
      const isKnown = entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()
      return isKnown && (below.length > 0 || !isIgnored(path)) ? [path, ...below] : []
    }),
  )
  return names.flat().sort()
}

const dockerfileName = '.devdeck.Dockerfile'

const tarOf = (folder: string, names: readonly string[], signal: AbortSignal): Readable => {
  const how = ['--numeric-owner', '--owner=0', '--group=0', '--no-recursion', '--verbatim-files-from', '--null']
  const packing = spawnProcess('tar', ['-c', '-C', folder, ...how, '-T', '-'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', NODE_ENV: 'production' },
    signal,
  })
  packing.stdin.on('error', () => undefined).end(names.map((name) => `${name}\0`).join(''))
  const output = new PassThrough()
  packing.on('error', (error) => output.destroy(error))
  packing.stdout.pipe(output, { end: false })
  void once(packing, 'close').then(
    ([code]) => (code === 0 ? output.end() : output.destroy(new Error(`${folder} could not be read`))),
    () => undefined,
  )
  return output
}

/** Adds files to the start of a tar stream. */
const prepended = (files: Record<string, string>, rest: Readable): Readable => {
  const output = new PassThrough()
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text)
    const header = Buffer.alloc(512)
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
    header.write(name, 0)
    header.write(`${octal(0o644, 8)}${octal(0, 8)}${octal(0, 8)}${octal(content.length, 12)}${octal(0, 12)}`, 100)
    header.write('        0', 148)
    header.write('ustar\x0000', 257)
    header.write(
      `${octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      )} `,
      148,
    )
    output.write(Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]))
  }
  rest.on('error', (error) => output.destroy(error))
  return rest.pipe(output)
}

/** The images that a Dockerfile builds on. Empty if it can't be read: the builder reports why. */
export const baseImagesOf = (dockerfile: string, args: Record<string, string>): string[] => {
  const variables = new Map(Object.entries(args))
  const stages = new Set(['scratch'])
  const images = new Set<string>()
  try {
    for (const { name, text, flags } of parseDockerfile(dockerfile)) {
      const words = wordsOf(text, variables)
      if (name === 'ARG' && images.size === 0 && stages.size === 1)
        for (const word of words) {
          const [key = '', ...value] = word.split('=')
          if (!variables.has(key) && value.length > 0) variables.set(key, value.join('='))
        }
      if (name === 'FROM') {
        const [image = '', , alias] = words
        if (!stages.has(image.toLowerCase())) images.add(image)
        if (alias) stages.add(alias.toLowerCase())
      }
      const from = name === 'COPY' ? flags.from : undefined
      if (from && !stages.has(from.toLowerCase()) && !/^\d+$/.test(from)) images.add(from)
    }
  } catch (error) {
    if (error instanceof SandboxBuildFailedError) return []
    throw error
  }
  return [...images]
}
