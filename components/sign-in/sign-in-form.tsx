'use client'
import { useMutation } from '@tanstack/react-query'
import { KeyRound, LogIn } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { sessionMutations } from '#components/layout/session-queries.ts'
import { Button, ButtonAnchor } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { safeNext } from '#lib/browser/address/paths.ts'

export interface SignInFormProps {
  /** File that holds the key of the embedded service. */
  keyFile?: string
  next?: string
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
  const { code, field, message } = problemOf(error)
  const isKeyError = error !== null && (code === 'unauthenticated' || field === 'api_key')
  const isBusy = signIn.isPending || signIn.isSuccess

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (apiKey.trim() !== '' && !isBusy) mutate({ apiKey: apiKey.trim(), add: isAdding })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <TextField
        label="API key"
        error={isKeyError && (code === 'unauthenticated' ? 'Invalid API key.' : message)}
        hint={
          keyFile && (
            <>
              The local service's key is in <code className="font-mono break-all text-text">{keyFile}</code>. You can
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
      {error !== null && !isKeyError && <InlineError error={error} />}
      <Button type="submit" variant={isSecondary ? 'secondary' : 'primary'} busy={isBusy} className="w-full">
        {isAdding ? 'Add account' : 'Sign in'}
      </Button>
    </form>
  )
}

/** A plain link, because it leaves the console for the identity provider. */
export const SignOnLink = ({ provider, href }: { provider: string; href: string }) => (
  <>
    <ButtonAnchor href={href} variant="primary" icon={LogIn} className="w-full">
      <span className="truncate">Sign in with {provider}</span>
    </ButtonAnchor>
    <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or with an API key
    </p>
  </>
)
