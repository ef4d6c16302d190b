import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type EngineApi, ifMissing } from '../../container/engine-api.ts'
import { tarHeader, tarPadding } from '../../container/tar.ts'

const engineFolder = fileURLToPath(new URL('../..', import.meta.url))
const sources = ['network/http-proxy.ts', 'network/rules.ts', 'swarm/proxy/proxy.ts', 'swarm/proxy/token.ts']
const loadTimeoutMs = 10 * 60_000
const endOfTar = Buffer.alloc(1024)

interface ImageFile {
  name: string
  size: number
  mode: number
  content: string | { file: string }
}

/**
 * The image of the proxies: this Node with its shared libraries, and the proxy's source. It is the same on every node,
 * which gets it through its API.
 */
export const createProxyImage = () => {
  let built: ReturnType<typeof build> | undefined

  const build = async () => {
    const files = await listFiles()
    const hash = createHash('sha256')
    for await (const chunk of layerOf(files)) hash.update(chunk)
    const config = JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      created: '1970-01-01T00:00:00Z',
      config: { Entrypoint: ['/node', '--no-warnings', '/engine/swarm/proxy/proxy.ts'], User: '65534:65534' },
      rootfs: { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] },
      history: [{ created: '1970-01-01T00:00:00Z' }],
    })
    return { files, config, tag: `devdeck-proxy:${createHash('sha256').update(config).digest('hex').slice(0, 12)}` }
  }

  /** Resolves with the image's ID on a node. */
  const ensure = async (api: EngineApi): Promise<string> => {
    built ??= build()
    built.catch(() => {
      built = undefined
    })
    const { files, config, tag } = await built
    const find = () => api.json<{ Id: string }>('GET', `/images/${tag}/json`).catch(ifMissing)
    const found = await find()
    if (found) return found.Id
    const file = Readable.from(archiveOf(files, config, tag))
    for await (const _ of await api.stream('POST', '/images/load', { file, timeoutMs: loadTimeoutMs }));
    const loaded = await find()
    if (!loaded) throw new Error(`the node at ${api.url} could not load the image of the proxy`)
    return loaded.Id
  }

  return { ensure }
}

const listFiles = async (): Promise<ImageFile[]> => {
  const text = (name: string, content: string): ImageFile => {
    return { name, content, size: Buffer.byteLength(content), mode: 0o644 }
  }
  const copy = async (name: string, file: string): Promise<ImageFile> => {
    return { name, content: { file }, size: (await stat(file)).size, mode: 0o755 }
  }
  const own = sources.map(async (name) => text(`engine/${name}`, await readFile(join(engineFolder, name), 'utf8')))
  const libraries = (await findLibraries()).map((path) => copy(path.slice(1), path))
  return [
    await copy('node', process.execPath),
    ...(await Promise.all(libraries)),
    text('engine/package.json', '{"type":"module"}'),
    ...(await Promise.all(own)),
  ]
}

const findLibraries = async (): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('ldd', [process.execPath])
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)].map(([, path = '']) => path).sort()
}

/** A tar archive of an image's only layer. */
async function* layerOf(files: readonly ImageFile[]): AsyncGenerator<Buffer> {
  for (const name of foldersOf(files)) yield tarHeader({ name: `${name}/`, size: 0, mode: 0o755 })
  for (const { name, size, mode, content } of files) {
    yield tarHeader({ name, size, mode })
    if (typeof content === 'string') yield Buffer.from(content)
    else yield* createReadStream(content.file, { highWaterMark: 2 ** 20 })
    yield tarPadding(size)
  }
  yield endOfTar
}

const foldersOf = (files: readonly ImageFile[]): string[] => {
  const parents = (path: string): string[] => (path === '.' ? [] : [...parents(dirname(path)), path])
  return [...new Set(files.flatMap(({ name }) => parents(dirname(name))))]
}

/** As `docker save` writes it. */
async function* archiveOf(files: readonly ImageFile[], config: string, tag: string): AsyncGenerator<Buffer> {
  const padded = (size: number) => size + tarPadding(size).length
  const blocks = files.reduce((sum, { size }) => sum + 512 + padded(size), 512 * foldersOf(files).length)
  yield tarHeader({ name: 'layer.tar', size: blocks + endOfTar.length, mode: 0o644 })
  yield* layerOf(files)
  const manifest = JSON.stringify([{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }])
  for (const [name, text] of Object.entries({ 'config.json': config, 'manifest.json': manifest })) {
    const bytes = Buffer.from(text)
    yield Buffer.concat([tarHeader({ name, size: bytes.length, mode: 0o644 }), bytes, tarPadding(bytes.length)])
  }
  yield endOfTar
}
