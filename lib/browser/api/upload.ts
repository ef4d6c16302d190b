import { ApiError, readError } from '#lib/client/api-error.ts'
import { fillPath } from '#lib/contract/endpoint.ts'
import { files } from '#lib/contract/files.ts'
import { accountHeader } from '#lib/protocol/session.ts'
import { leaveForSignIn } from './ask-console.ts'
import { browserApi } from './browser-api.ts'
import { isPassing } from './failures.ts'
import { namedAccount, setOther } from './page-account.ts'

export interface UploadOptions {
  signal?: AbortSignal
  /** From 0 to 1, as often as the browser says it. */
  onProgress?: (part: number) => void
}

/** Writes a file of this computer in a devbox. */
export const uploadFile = async (
  devboxId: string,
  path: string,
  file: Blob,
  options?: UploadOptions,
): Promise<void> => {
  await sendForm(fillPath(files.upload.path, { id: devboxId }), { path }, file, options)
}

/** Sends a file with the text parts it belongs to; resolves to the answer. Not by fetch, which does not tell how far it is. */
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
    for (const [name, value] of Object.entries(namedAccount())) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0)
    request.onload = async () => {
      if (request.status >= 200 && request.status < 300) return resolve(request.responseText)
      if (request.status === 401) void leaveForSignIn()
      if (request.status === 409 && request.getResponseHeader(accountHeader) !== null) setOther(true)
      const headers = { 'content-type': request.getResponseHeader('content-type') ?? '' }
      reject(await readError(new Response(request.responseText, { status: request.status, headers })))
    }
    request.onerror = () => reject(new ApiError('unreachable', 0, 'The connection broke while the file was sent'))
    request.onabort = () => reject(signal?.reason)
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    const form = new FormData()
    // A service that knows where the file goes takes it as it comes.
    for (const [name, value] of Object.entries(parts)) form.append(name, value)
    form.append('file', file)
    request.send(form)
  })

/** Whether there is a file already. Asked for by beginning to read it: the service has no cheaper question. */
export const fileExists = async (devboxId: string, path: string): Promise<boolean> => {
  const enough = new AbortController()
  try {
    await browserApi({ files }).files.download({ params: { id: devboxId }, body: { path }, signal: enough.signal })
    return true
  } catch (error) {
    // What cannot be asked about now is not written over. Whatever else is wrong with it the upload itself tells.
    if (error instanceof ApiError && !isPassing(error)) return false
    throw error
  } finally {
    enough.abort()
  }
}

/** `name` in `folder`; what a person leaves empty means home, as for the service. */
export const pathIn = (folder: string, name: string): string => {
  const base = folder.trim().replace(/(.)\/+$/, '$1')
  // A name may itself begin as a path does that leads elsewhere.
  if (base === '' || base === '.') return name.startsWith('~') ? `./${name}` : name
  return base === '/' ? `/${name}` : `${base}/${name}`
}
