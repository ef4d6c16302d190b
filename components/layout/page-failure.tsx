'use client'
import { useEffect, useState } from 'react'
import { ErrorState } from '#components/ui/error-state.tsx'

const waitsMs = [3_000, 6_000, 12_000, 24_000]

export interface PageFailureProps {
  error: unknown
  retry: () => void
}

/** A page that could not be drawn. It tries again by itself a few times, as most such failures pass. */
export const PageFailure = ({ error, retry }: PageFailureProps) => {
  const [attempt, setAttempt] = useState(0)
  const waitMs = waitsMs[attempt]
  useEffect(() => {
    if (waitMs === undefined) return
    const timer = setTimeout(() => {
      setAttempt((before) => before + 1)
      retry()
    }, waitMs)
    return () => clearTimeout(timer)
  }, [waitMs, retry])
  return (
    <ErrorState
      title="This page could not be shown"
      error={described(error)}
      onRetry={retry}
      recovers={waitMs !== undefined}
    />
  )
}

/** An error of the server arrives without its message; its digest finds it in the log. */
const described = (error: unknown) => {
  const { digest } = Object(error) as { digest?: unknown }
  return typeof digest === 'string'
    ? {
        message: 'The console failed while it drew the page. Its log names the reason under this number.',
        requestId: digest,
      }
    : error
}
