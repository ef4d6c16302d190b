'use client'
import { Download, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { saveFile } from '#lib/browser/lists/export.ts'
import { type DownloadState, fileNameOf, readZip } from './read-zip.ts'

interface LogDownloadProps {
  id: string
  name: string | null | undefined
  request: (id: string, signal: AbortSignal) => Promise<Response>
}

/** Downloads a log archive with progress and saves it only if complete. */
export const LogDownload = ({ id, name, request }: LogDownloadProps) => {
  const [state, setState] = useState<DownloadState>({ phase: 'idle' })
  const abortController = useRef<AbortController>(undefined)
  useEffect(() => () => abortController.current?.abort(), [])
  const start = async () => {
    const abort = new AbortController()
    abortController.current = abort
    setState({ phase: 'loading', receivedBytes: 0 })
    let received = 0
    try {
      const zip = await readZip(await request(id, abort.signal), (receivedBytes) => {
        received = receivedBytes
        setState({ phase: 'loading', receivedBytes })
      })
      saveFile(zip, fileNameOf(name ?? '', id))
      setState({ phase: 'done', receivedBytes: zip.size })
    } catch (error) {
      setState(
        abort.signal.aborted
          ? { phase: 'idle' }
          : { phase: 'failed', receivedBytes: received, reason: problemOf(error).message },
      )
    }
  }
  const isLoading = state.phase === 'loading'
  return (
    <>
      {isLoading ? (
        <Button icon={X} onClick={() => abortController.current?.abort()}>
          Stop download
        </Button>
      ) : (
        <Button icon={Download} onClick={() => void start()}>
          Download logs
        </Button>
      )}
      <p role="status" className="tabular basis-full text-sm empty:hidden">
        {state.phase === 'loading' && <span className="text-muted">{formatBytes(state.receivedBytes)} received</span>}
        {state.phase === 'done' && <span className="text-muted">Saved, {formatBytes(state.receivedBytes)}</span>}
        {state.phase === 'failed' && (
          <span className="text-danger">
            {state.reason} ({formatBytes(state.receivedBytes)} received)
          </span>
        )}
      </p>
    </>
  )
}
