import { existsSync } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Archive, unpackArchive } from '#lib/service/engine/local/disk-tools.ts'
import type { LocalIsolation } from '#lib/service/engine/local/launch.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { BlueprintError } from './blueprint-error.ts'
import { addedFolder, type BuildFiles, dockerfilePath } from './dockerfile.ts'

interface Options {
  files: BuildFiles
  archive: Archive | undefined
  maxBytes: number
  isolation: LocalIsolation
  serviceId: string
}

/** Writes the build context to a new folder: the files of the object, and those that the service adds. */
export const makeContext = async (
  folder: string,
  { files: { dockerfile, files }, archive, maxBytes, isolation, serviceId }: Options,
): Promise<void> => {
  await removeFolder(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (archive) {
    const marks = { DEVDECK_SERVICE_ID: serviceId, DEVDECK_COPIES: 'contexts' }
    const { problem } = await unpackArchive({ ...archive, to: folder, maxBytes, isolation, marks })
    if (problem !== undefined) throw new BlueprintError(`build_context: ${problem}`)
  }
  await removeFolder(join(folder, addedFolder))
  for (const [path, content] of [...files, [dockerfilePath, dockerfile] as const]) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 })
    await writeFile(join(folder, path), content, { mode: 0o644 })
  }
  const ignored = join(folder, '.dockerignore')
  if (existsSync(ignored)) await appendFile(ignored, `\n!${addedFolder}\n!${addedFolder}/**\n`)
}
