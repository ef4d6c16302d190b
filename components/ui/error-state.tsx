'use client'
import { CircleAlert, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { CopyableId } from './copyable-id.tsx'
import { type Problem, problemOf } from './problem.ts'
import { useWait } from './use-shown-error.ts'
import { VisibleText } from './visible-text.tsx'

export interface ErrorStateProps {
  title: string
  error: Problem
  query?: { isFetching: boolean; refetch: () => unknown }
  onRetry?: () => void
  /** Retries happen automatically. */
  recovers?: boolean
  action?: ReactNode
  compact?: boolean
}

export const ErrorState = ({ title, error, query, onRetry, recovers, action, compact }: ErrorStateProps) => {
  const retry = onRetry ?? (query && (() => void query.refetch()))
  const { message, code, requestId } = problemOf(error)
  const wait = useWait(error)
  return (
    <div
      role="alert"
      className={classes('flex flex-col items-center text-center', compact ? 'gap-2 p-4' : 'gap-3 px-4 py-14')}
    >
      <CircleAlert aria-hidden className="size-5 text-danger" />
      <div className="max-w-prose space-y-1">
        <p className="text-lg font-medium">{title}</p>
        <p className="break-words text-muted">
          <VisibleText max={600}>{message}</VisibleText>
        </p>
        {wait ? (
          <p className="text-muted">
            The service is limiting requests. {recovers || query ? 'Retrying' : 'Try again'}
            <Left wait={wait} />.
          </p>
        ) : (
          recovers && <p className="text-muted">Retrying automatically.</p>
        )}
        {(code || requestId) && (
          <p className="flex flex-wrap items-center justify-center gap-x-3 text-sm text-muted">
            {code && <span className="font-mono">{code}</span>}
            {requestId && (
              <span className="inline-flex items-center gap-1">
                request <CopyableId value={requestId} label="request ID" />
              </span>
            )}
          </p>
        )}
      </div>
      {(retry || action) && (
        <div className="flex flex-wrap justify-center gap-2">
          {retry && (
            <Button
              icon={RotateCw}
              busy={query?.isFetching}
              disabledReason={wait && 'the service is limiting requests'}
              onClick={retry}
            >
              Try again
            </Button>
          )}
          {action}
        </div>
      )}
    </div>
  )
}

export const InlineError = ({ error, className }: { error: Problem; className?: string }) => {
  const { message, code, requestId } = problemOf(error)
  const wait = useWait(error)
  return (
    <p role="alert" className={classes('flex gap-1.5 text-danger', className)}>
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 break-words">
        <VisibleText max={600}>{message}</VisibleText>
        {wait && (
          <>
            {' Try again'}
            <Left wait={wait} />.
          </>
        )}
        {(code || requestId) && (
          <span className="ml-2 font-mono text-xs text-muted">{[code, requestId].filter(Boolean).join(' · ')}</span>
        )}
      </span>
    </p>
  )
}

/** aria-live is off, so that screen readers don't announce each second. */
const Left = ({ wait }: { wait: string | null }) =>
  wait && (
    <>
      {' in '}
      <span role="timer" aria-live="off" className="tabular">
        {wait}
      </span>
    </>
  )
