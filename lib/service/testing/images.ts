import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const run = (file: string, args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file}: ${stderr}`)
  return stdout
}

const layers = {
  /** A shell without bash, perl or python. */
  async busybox(archive: string, folder: string) {
    // The root folder of the image.
    await chmod(folder, 0o755)
    await mkdir(join(folder, 'bin'))
    run('cp', ['-L', run('/bin/sh', ['-c', 'command -v busybox']).trim(), join(folder, 'bin/busybox')])
    const applets = run('busybox', ['--list']).split('\n').filter(Boolean)
    for (const name of applets) if (name !== 'busybox') await symlink('busybox', join(folder, 'bin', name))
    run('tar', ['-C', folder, '-cf', archive, '.'])
  },
  /** No program at all. */
  async empty(archive: string) {
    await writeFile(archive, Buffer.alloc(1024))
  },
  async base(archive: string) {
    const excluded = ['doc', 'locale', 'man'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
    const options = ['--variant=apt', '--include=python3-minimal,procps', '--format=tar', ...excluded]
    run('mmdebstrap', [...options, 'bookworm', archive])
  },
  async node(archive: string, folder: string) {
    await mkdir(join(folder, 'usr/local/bin'), { recursive: true })
    await copyFile(process.execPath, join(folder, 'usr/local/bin/node'))
    run('tar', ['-C', folder, '-cf', archive, 'usr'])
  },
}

type LayerName = keyof typeof layers

const images = {
  busybox: ['busybox'],
  empty: ['empty'],
  base: ['base'],
  /** The image `base` with Node. */
  node: ['base', 'node'],
} satisfies Record<string, LayerName[]>

export type TestImage = keyof typeof images

const folder = join(tmpdir(), 'devdeck-test-images')

/** Makes an archive for `docker load` when it is first needed. The image has the same ID in every engine. */
export const imageArchive = (name: TestImage): Promise<string> =>
  makeOnce(`${name}-image.tar`, async (archive, scratch) => {
    const names: LayerName[] = images[name]
    const digests: string[] = []
    for (const each of names) {
      const layer = await makeOnce(`${each}.tar`, layers[each])
      const hash = createHash('sha256')
      await pipeline(createReadStream(layer), hash)
      digests.push(`sha256:${hash.digest('hex')}`)
      await link(layer, join(scratch, `${each}.tar`))
    }
    const created = new Date().toISOString()
    const config = {
      architecture: { x64: 'amd64' }[process.arch as string] ?? process.arch,
      os: 'linux',
      created,
      config: {},
      // The engine reports the size of a layer with its entry here.
      history: names.map(() => ({ created })),
      rootfs: { type: 'layers', diff_ids: digests },
    }
    const manifest = { Config: 'config.json', RepoTags: [`${name}:latest`], Layers: names.map((each) => `${each}.tar`) }
    await writeFile(join(scratch, 'config.json'), JSON.stringify(config))
    await writeFile(join(scratch, 'manifest.json'), JSON.stringify([manifest]))
    run('tar', ['-C', scratch, '-cf', archive, '.'])
  })

const makeOnce = async (name: string, make: (file: string, contents: string) => Promise<void>): Promise<string> => {
  const file = join(folder, name)
  if (existsSync(file)) return file
  await mkdir(folder, { recursive: true })
  const scratch = await mkdtemp(join(folder, 'unfinished-'))
  const contents = join(scratch, 'contents')
  await mkdir(contents)
  await make(join(scratch, name), contents)
  await rename(join(scratch, name), file)
  await rm(scratch, { recursive: true })
  return file
}
