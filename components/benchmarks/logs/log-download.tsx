'use client'
import { Download, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { saveFile } from '#lib/browser/lists/export.ts'

type DownloadState = { phase: 'loading' | 'done'; bytes: number } | { phase: 'failed'; bytes: number; reason: string }

interface LogDownloadProps {
  id: string
  name: string | null | undefined
  request: (id: string, signal: AbortSignal) => Promise<Response>
}

/** Downloads a log archive with progress and saves it only if complete. */
export const LogDownload = ({ id, name, request }: LogDownloadProps) => {
  const [state, setState] = useState<DownloadState | null>(null)
  const abortController = useRef<AbortController>(undefined)
  useEffect(() => () => abortController.current?.abort(), [])
  const start = async () => {
    const abort = new AbortController()
    abortController.current = abort
    let bytes = 0
    setState({ phase: 'loading', bytes })
    try {
      const zip = await readZip(await request(id, abort.signal), (received) => {
        bytes = received
        setState({ phase: 'loading', bytes })
      })
      saveFile(zip, fileNameOf(name ?? '', id))
      setState({ phase: 'done', bytes: zip.size })
    } catch (error) {
      setState(abort.signal.aborted ? null : { phase: 'failed', bytes, reason: problemOf(error).message })
    }
  }
  return (
    <>
      {state?.phase === 'loading' ? (
        <Button icon={X} onClick={() => abortController.current?.abort()}>
          Stop download
        </Button>
      ) : (
        <Button icon={Download} onClick={() => void start()}>
          Download logs
        </Button>
      )}
      <p role="status" className="tabular basis-full text-sm empty:hidden">
        {state?.phase === 'loading' && <span className="text-muted">{formatBytes(state.bytes)} received</span>}
        {state?.phase === 'done' && <span className="text-muted">Saved, {formatBytes(state.bytes)}</span>}
        {state?.phase === 'failed' && (
          <span className="text-danger">
            {state.reason} ({formatBytes(state.bytes)} received)
          </span>
        )}
      </p>
    </>
  )
}

const progressIntervalMs = 100

/** Reads a zip from a response, reporting progress. Rejects if the download is incomplete or not a zip. */
export const readZip = async (response: Response, onProgress: (receivedBytes: number) => void): Promise<Blob> => {
  const type = response.headers.get('content-type') ?? ''
  if (!/^application\/(zip|octet-stream|x-zip-compressed)\b/i.test(type)) {
    await response.body?.cancel()
    throw new Error(`Expected a zip file but received ${type || 'an unknown type'}. Nothing was saved.`)
  }
  const parts: Uint8Array<ArrayBuffer>[] = []
  let received = 0
  let reportedAt = 0
  try {
    const reader = response.body?.getReader()
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      parts.push(next.value as Uint8Array<ArrayBuffer>)
      received += next.value.length
      if (performance.now() - reportedAt < progressIntervalMs) continue
      reportedAt = performance.now()
      onProgress(received)
    }
  } catch (cause) {
    throw new Error('The download was interrupted. Nothing was saved.', { cause })
  }
  const zip = new Blob(parts, { type: 'application/zip' })
  if (!(await zip.slice(0, 2).text()).startsWith('PK'))
    throw new Error('The download is not a zip file. Nothing was saved.')
  return zip
}

export const fileNameOf = (name: string, id: string): string => {
  const clean = name
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80)
  return `${clean ? `${clean}-` : ''}${id}-logs.zip`
}
