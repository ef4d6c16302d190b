import { Readable } from 'node:stream'
import { files, maxTextFileBytes } from '#lib/contract/files.ts'
import { readFile, writeFile } from '#lib/service/files/files.ts'
import { attachment } from '#lib/service/http/content-disposition.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

export const fileRoutes = ({ devboxes, logs }: Deps) => {
  /** Reports a stopped devbox instead of the error that stopping it caused. */
  const rethrow = (account: string, id: string) => (error: unknown) => {
    if (!(error instanceof ServiceError)) devboxes.running(account, id, 'use_files')
    throw error
  }

  const read = async (id: string, path: string, { account, signal, setHeader }: Caller, maxBytes = Infinity) => {
    await devboxes.adopted(id)
    const devbox = devboxes.running(account, id, 'use_files')
    const { size, bytes, close } = await readFile(devbox, path, signal).catch(rethrow(account, id))
    if (size !== undefined && size > maxBytes) {
      close()
      throw new ServiceError('payload_too_large', `${path} has ${size} bytes; use download_file instead`)
    }
    if (size !== undefined) setHeader('content-length', String(size))
    logs.append(id, { level: 'info', source: 'files', message: `read ${path}` })
    return bytes
  }

  const write = async (id: string, path: string, { account }: Caller, content: AsyncIterable<Uint8Array>) => {
    await devboxes.adopted(id)
    const devbox = devboxes.running(account, id, 'use_files')
    const size = await writeFile(devbox, path, content).catch(rethrow(account, id))
    logs.append(id, { level: 'info', source: 'files', message: `wrote ${size} bytes to ${path}` })
  }

  return implement(files, {
    read: ({ params, body, ...caller }) => read(params.id, body.file_path, caller, maxTextFileBytes),
    write: async ({ params, body, ...caller }) => {
      const content = Buffer.from(body.contents)
      if (content.length > maxTextFileBytes)
        throw new ServiceError(
          'payload_too_large',
          `contents: is longer than ${maxTextFileBytes} bytes; use upload_file instead`,
          { field: 'contents' },
        )
      await write(params.id, body.file_path, caller, Readable.from([content]))
      return { devbox_id: params.id, exit_status: 0, stdout: '', stderr: '' }
    },
    download: async ({ params, body, ...caller }) => {
      const bytes = await read(params.id, body.path, caller)
      caller.setHeader('content-disposition', attachment(body.path))
      return bytes
    },
    upload: async ({ params, body, file, ...caller }) => {
      await write(params.id, body.path, caller, file)
      return {}
    },
  })
}
