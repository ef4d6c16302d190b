import { existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { StringMap } from '#lib/contract/common.ts'
import { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { DevboxRecord } from '#lib/service/store/devboxes.ts'
import type { ObjectRecord } from '#lib/service/store/objects.ts'
import type { SnapshotRecord } from '#lib/service/store/snapshots.ts'

// Stored next to each disk, so it can be recovered if the database is lost.
const fileName = 'record.json'

const common = {
  account: z.string(),
  name: z.nullable(z.string()),
  create_time_ms: z.number(),
  metadata: StringMap,
}

const engine = z._default(z.enum(['local', 'container', 'swarm']), 'local')

const DevboxFile = z.object({
  ...common,
  launch_parameters: LaunchParameters,
  environment_variables: StringMap,
  secrets: StringMap,
  entrypoint: z.nullable(z.string()),
  snapshot_id: z.nullable(z.string()),
  blueprint_id: z._default(z.nullable(z.string()), null),
  image: z._default(z.nullable(z.string()), null),
  engine,
  initiator_type: z.string(),
  initiator_id: z.nullable(z.string()),
})

const SnapshotFile = z.object({
  ...common,
  source_devbox_id: z.string(),
  source_blueprint_id: z._default(z.nullable(z.string()), null),
  commit_message: z.nullable(z.string()),
  size_bytes: z.nullable(z.number()),
  engine,
})

const ObjectFile = z.object({
  ...common,
  name: z.string(),
  content_type: z.string(),
  delete_after_time_ms: z.nullable(z.number()),
  size_bytes: z.nullable(z.number()),
})

export const writeDevboxFile = (folder: string, record: DevboxRecord) => writeFields(folder, DevboxFile.shape, record)
export const writeSnapshotFile = (folder: string, record: SnapshotRecord) =>
  writeFields(folder, SnapshotFile.shape, record)
export const writeObjectFile = (folder: string, record: ObjectRecord) => writeFields(folder, ObjectFile.shape, record)

export const readDevboxFile = (folder: string) => readFields(folder, DevboxFile)
export const readSnapshotFile = (folder: string) => readFields(folder, SnapshotFile)
export const readObjectFile = (folder: string) => readFields(folder, ObjectFile)

export const hasRecordFile = (folder: string): boolean => existsSync(join(folder, fileName))

const writeFields = async (folder: string, shape: object, record: object): Promise<void> => {
  const fields = Object.entries(record).filter(([name]) => name in shape)
  const part = join(folder, `${fileName}.part`)
  await writeFile(part, JSON.stringify(Object.fromEntries(fields)), { mode: 0o600 })
  await rename(part, join(folder, fileName))
}

const readFields = <T extends z.ZodMiniType>(folder: string, schema: T): z.output<T> | undefined => {
  if (!hasRecordFile(folder)) return undefined
  try {
    return schema.safeParse(JSON.parse(readFileSync(join(folder, fileName), 'utf8'))).data
  } catch {
    return undefined
  }
}
