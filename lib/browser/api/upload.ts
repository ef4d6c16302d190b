import { ApiError, readError } from '#lib/client/api-error.ts'
import { fillPath } from '#lib/contract/endpoint.ts'
import { files } from '#lib/contract/files.ts'
import { accountHeader } from '#lib/protocol/session.ts'
import { browserApi } from './browser-api.ts'
import { redirectToSignIn } from './console-api.ts'
import { isTransient } from './failures.ts'
import { accountHeaders, setAccountChanged } from './page-account.ts'

export interface UploadOptions {
  signal?: AbortSignal
  onProgress?: (fraction: number) => void
}

export const uploadFile = async (
  devboxId: string,
  path: string,
  file: Blob,
  options?: UploadOptions,
): Promise<void> => {
  await sendForm(fillPath(files.upload.path, { id: devboxId }), { path }, file, options)
}

/** Posts a multipart form and resolves to the response body. Uses XMLHttpRequest because fetch reports no upload progress. */
export const sendForm = (
  address: string,
  parts: Readonly<Record<string, string>>,
  file: Blob,
  { signal, onProgress }: UploadOptions = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const request = new XMLHttpRequest()
    request.open('POST', `/api${address}`)
    request.setRequestHeader('accept', 'application/json')
    for (const [name, value] of Object.entries(accountHeaders())) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0)
    request.onload = async () => {
      if (request.status >= 200 && request.status < 300) return resolve(request.responseText)
      if (request.status === 401) void redirectToSignIn()
      if (request.status === 409 && request.getResponseHeader(accountHeader) !== null) setAccountChanged(true)
      const headers = { 'content-type': request.getResponseHeader('content-type') ?? '' }
      reject(await readError(new Response(request.responseText, { status: request.status, headers })))
    }
    request.onerror = () => reject(new ApiError('unreachable', 0, 'The connection was lost during the upload'))
    request.onabort = () => reject(signal?.reason)
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    const form = new FormData()
    // The path goes first, so that the service can stream the file to it.
    for (const [name, value] of Object.entries(parts)) form.append(name, value)
    form.append('file', file)
    request.send(form)
  })

/** Starts a download and cancels it: the API has no cheaper check. */
export const fileExists = async (devboxId: string, path: string): Promise<boolean> => {
  const rest = new AbortController()
  try {
    await browserApi({ files }).files.download({ params: { id: devboxId }, body: { path }, signal: rest.signal })
    return true
  } catch (error) {
    // A transient error must not lead to an overwrite; the upload itself reports any other.
    if (error instanceof ApiError && !isTransient(error)) return false
    throw error
  } finally {
    rest.abort()
  }
}

export const pathIn = (folder: string, name: string): string => {
  const base = folder.trim().replace(/(.)\/+$/, '$1')
  // A leading ~ would be expanded to a home folder.
  if (base === '' || base === '.') return name.startsWith('~') ? `./${name}` : name
  return base === '/' ? `/${name}` : `${base}/${name}`
}
