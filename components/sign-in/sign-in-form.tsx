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
  /** Where the embedded service keeps its key. */
  keyFile?: string
  next?: string
  /** Beside the account the browser is on. */
  isAdding?: boolean
  /** Below another way to sign in, which comes first. */
  isSecond?: boolean
}

export const SignInForm = ({ keyFile, next, isAdding = false, isSecond = false }: SignInFormProps) => {
  const [apiKey, setApiKey] = useState('')
  const signIn = useMutation({
    ...sessionMutations.signIn(),
    // A full load: what an earlier session left in memory is gone.
    onSuccess: () => location.assign(safeNext(next)),
  })
  const { error, mutate } = signIn
  const submitKey = () => mutate({ apiKey: apiKey.trim(), add: isAdding })
  const outage = useOutage(signIn, () => submitKey())
  const { code, field, message } = problemOf(error)
  const isKeyAtFault = error !== null && (code === 'unauthenticated' || field === 'api_key')
  const isBusy = (signIn.isPending && !outage) || signIn.isSuccess

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (apiKey.trim() !== '' && !signIn.isPending && !signIn.isSuccess) submitKey()
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <TextField
        label="API key"
        error={isKeyAtFault && (code === 'unauthenticated' ? 'Key refused: the service does not know it.' : message)}
        hint={
          keyFile && (
            <>
              The key of this console’s own service is in{' '}
              <code className="font-mono break-all text-text">{keyFile}</code>. The link printed when the console
              started signs in without it.
            </>
          )
        }
        autoFocus={!isSecond}
        required
        mono
        type="password"
        name="api_key"
        icon={KeyRound}
        value={apiKey}
        onText={setApiKey}
      />
      {error !== null && !isKeyAtFault && !outage && <InlineError error={error} />}
      {outage && (
        <Banner tone="attention" icon={PlugZap} role="status" title={outage.message}>
          <p>
            This page keeps trying and signs in as soon as there is an answer
            {outage.inSeconds > 0 ? (
              <span className="tabular">; next try in {outage.inSeconds} s.</span>
            ) : (
              '; trying now.'
            )}
          </p>
        </Banner>
      )}
      <Button type="submit" variant={isSecond ? 'secondary' : 'primary'} busy={isBusy} className="w-full">
        {outage ? 'Try now' : isAdding ? 'Add account' : 'Sign in'}
      </Button>
    </form>
  )
}

const firstWaitSeconds = 2
const longestWaitSeconds = 15

interface Attempt {
  status: string
  error: unknown
  submittedAt: number
}

/** While the service is away: what is wrong and when `retry` is called next. Null otherwise. */
const useOutage = ({ status, error, submittedAt }: Attempt, retry: () => void) => {
  const [outage, setOutage] = useState<{ message: string; waitSeconds: number } | null>(null)
  const [inSeconds, setInSeconds] = useState(0)
  const [seen, setSeen] = useState(0)
  if (status === 'error' && seen !== submittedAt) {
    setSeen(submittedAt)
    const waitSeconds = Math.min(longestWaitSeconds, outage ? outage.waitSeconds * 2 : firstWaitSeconds)
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
