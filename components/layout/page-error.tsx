'use client'
import { useEffect, useState } from 'react'
import { ErrorState } from '#components/ui/error-state.tsx'

const retryDelaysMs = [3_000, 6_000, 12_000, 24_000]

export interface PageErrorProps {
  error: unknown
  retry: () => void
}

/** Error boundary of a page. Retries by itself a few times, because most failures are temporary. */
export const PageError = ({ error, retry: renderAgain }: PageErrorProps) => {
  // React caches a failed dynamic import, so only a reload can load it.
  const retry = isLoadError(error) ? reload : renderAgain
  const [attempt, setAttempt] = useState(0)
  const waitMs = retryDelaysMs[attempt]
  useEffect(() => {
    if (waitMs === undefined) return
    const timer = setTimeout(() => {
      setAttempt((count) => count + 1)
      retry()
    }, waitMs)
    return () => clearTimeout(timer)
  }, [waitMs, retry])
  return (
    <ErrorState
      title="This page could not be loaded"
      error={problemFrom(error)}
      onRetry={retry}
      recovers={waitMs !== undefined}
    />
  )
}

const reload = () => location.reload()

const isLoadError = (error: unknown) => error instanceof Error && error.name === 'ChunkLoadError'

/** Server errors reach the browser without their message; the digest identifies them in the log. */
const problemFrom = (error: unknown) => {
  const { digest } = Object(error) as { digest?: unknown }
  return typeof digest === 'string'
    ? {
        message: 'The console failed to render the page. Search its log for this ID.',
        requestId: digest,
      }
    : error
}
