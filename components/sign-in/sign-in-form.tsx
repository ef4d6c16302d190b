'use client'
import { useMutation } from '@tanstack/react-query'
import { KeyRound, PlugZap } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { sessionMutations } from '#components/layout/session-queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { safeNext } from '#lib/browser/address/paths.ts'
import { isOutage } from '#lib/browser/api/failures.ts'

export interface SignInFormProps {
  /** File that holds the key of the embedded service. */
  keyFile?: string
  next?: string
  /** Adds an account instead of replacing the current one. */
  isAdding?: boolean
  /** Shown below single sign-on, which is the primary method. */
  isSecondary?: boolean
}

export const SignInForm = ({ keyFile, next, isAdding = false, isSecondary = false }: SignInFormProps) => {
  const [apiKey, setApiKey] = useState('')
  const signIn = useMutation({
    ...sessionMutations.signIn(),
    // A full page load clears what an earlier session left in memory.
    onSuccess: () => location.assign(safeNext(next)),
  })
  const { error, mutate } = signIn
  const submitKey = () => mutate({ apiKey: apiKey.trim(), add: isAdding })
  const outage = useOutage(signIn, submitKey)
  const { code, field, message } = problemOf(error)
  const isKeyError = error !== null && (code === 'unauthenticated' || field === 'api_key')
  const isBusy = (signIn.isPending && !outage) || signIn.isSuccess

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (apiKey.trim() !== '' && !signIn.isPending && !signIn.isSuccess) submitKey()
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <TextField
        label="API key"
        error={isKeyError && (code === 'unauthenticated' ? 'Invalid API key.' : message)}
        hint={
          keyFile && (
            <>
              The local service’s key is in <code className="font-mono break-all text-text">{keyFile}</code>. You can
              also use the sign-in link that the console printed at startup.
            </>
          )
        }
        autoFocus={!isSecondary}
        required
        mono
        type="password"
        name="api_key"
        icon={KeyRound}
        value={apiKey}
        onText={setApiKey}
      />
      {error !== null && !isKeyError && !outage && <InlineError error={error} />}
      {outage && (
        <Banner tone="attention" icon={PlugZap} role="status" title={outage.message}>
          <p>
            You will be signed in as soon as the service responds.{' '}
            {outage.inSeconds > 0 ? (
              <span className="tabular">Retrying in {outage.inSeconds} s.</span>
            ) : (
              'Retrying now.'
            )}
          </p>
        </Banner>
      )}
      <Button type="submit" variant={isSecondary ? 'secondary' : 'primary'} busy={isBusy} className="w-full">
        {outage ? 'Retry now' : isAdding ? 'Add account' : 'Sign in'}
      </Button>
    </form>
  )
}

const minWaitSeconds = 2
const maxWaitSeconds = 15

interface Attempt {
  status: string
  error: unknown
  submittedAt: number
}

/** While the service is unavailable, its error and the time until `retry` is called; otherwise null. */
const useOutage = ({ status, error, submittedAt }: Attempt, retry: () => void) => {
  const [outage, setOutage] = useState<{ message: string; waitSeconds: number } | null>(null)
  const [inSeconds, setInSeconds] = useState(0)
  const [handledAt, setHandledAt] = useState(0)
  if (status === 'error' && handledAt !== submittedAt) {
    setHandledAt(submittedAt)
    const waitSeconds = Math.min(maxWaitSeconds, outage ? outage.waitSeconds * 2 : minWaitSeconds)
    setOutage(isOutage(error) ? { message: problemOf(error).message, waitSeconds } : null)
    setInSeconds(waitSeconds)
  }
  if (status === 'success' && outage) setOutage(null)
  const isWaiting = outage !== null && status === 'error'
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => {
      setInSeconds(inSeconds - 1)
      if (inSeconds <= 1) retry()
    }, 1000)
    return () => clearTimeout(timer)
  })
  return outage && { ...outage, inSeconds: isWaiting ? inSeconds : 0 }
}
