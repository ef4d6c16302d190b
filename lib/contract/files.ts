import * as z from 'zod/mini'
import { ById, Empty } from './common.ts'
import { bytes, defineEndpoints, json, post } from './endpoint.ts'
import { SyncExecution } from './executions.ts'

export const maxTextFileBytes = 100 * 1024 * 1024
/** Unspecified: largest upload. */
export const maxUploadBytes = 4 * 1024 ** 3

/** Relative to the home directory, absolute, or starting with `~`, as seen inside the devbox. */
export const FilePath = z
  .string()
  .check(
    z.minLength(1, 'must not be empty'),
    z.maxLength(4096, 'must be at most 4096 characters'),
    z.regex(/^[^\0]*$/, 'must not contain a NUL character'),
  )

export const files = defineEndpoints('files', 'stable', {
  read: post('/v1/devboxes/:id/read_file_contents', bytes('text/plain; charset=utf-8'), {
    params: ById,
    body: z.object({ file_path: FilePath }),
  }),
  write: post('/v1/devboxes/:id/write_file_contents', json(SyncExecution), {
    params: ById,
    body: z.object({ file_path: FilePath, contents: z.string() }),
    // JSON that escapes non-ASCII text takes up to 3 bytes per byte; only control characters take more.
    maxBodyBytes: 3 * maxTextFileBytes,
  }),
  download: post('/v1/devboxes/:id/download_file', bytes('application/octet-stream'), {
    params: ById,
    body: z.object({ path: FilePath }),
  }),
  upload: post('/v1/devboxes/:id/upload_file', json(Empty), {
    params: ById,
    body: z.object({ path: FilePath }),
    bodyFormat: 'multipart',
    maxBodyBytes: maxUploadBytes,
  }),
})
