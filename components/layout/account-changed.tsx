'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { accountChange, isPageAccount, setAccountChanged } from '#lib/browser/api/page-account.ts'
import { sessionMutations, sessionQueries } from './session-queries.ts'

/** Hides server-rendered content of another account than the page's. */
export const PageOfAccount = ({ id, children }: { id: string; children: ReactNode }) => {
  const isOwn = isPageAccount(id)
  useEffect(() => {
    if (!isOwn) setAccountChanged(true)
  }, [isOwn])
  return isOwn && children
}

/** Warns that another tab signed in to a different account. Unsaved input stays on the page. */
export const AccountChanged = ({ name }: { name: string }) => {
  const isOther = useSyncExternalStore(accountChange.subscribe, accountChange.getSnapshot, () => false)
  return isOther && <OtherAccount name={name} />
}

const OtherAccount = ({ name }: { name: string }) => {
  // Navigation re-renders the frame with the other account's name.
  const [own] = useState(name.slice(0, 60))
  const client = useQueryClient()
  const { data } = useQuery(sessionQueries.now())
  const isBack = data !== undefined && isPageAccount(data.account.id)
  useEffect(() => {
    if (!isBack) return
    setAccountChanged(false)
    void client.invalidateQueries()
  }, [isBack, client])
  const switchBack = useMutation({ ...sessionMutations.switchTo(), onSuccess: () => client.invalidateQueries() })
  const signedIn = data?.others?.find(({ id }) => isPageAccount(id))
  const other = data ? data.account.name.slice(0, 60) : 'another account'
  return (
    <Banner
      tone="attention"
      role="alert"
      className="border-x-0 md:px-6"
      title={`This tab belongs to ${own}; you are now signed in as ${other}`}
      actions={
        <>
          <Button size="sm" onClick={() => location.reload()}>
            Reload as {other}
          </Button>
          {signedIn ? (
            <Button size="sm" busy={switchBack.isPending} onClick={() => switchBack.mutate(signedIn.id)}>
              Switch back to {own}
            </Button>
          ) : (
            <ButtonLink size="sm" href={paths.signIn()} target="_blank" prefetch={false}>
              Sign in as {own}
            </ButtonLink>
          )}
        </>
      }
    >
      {signedIn
        ? `This page still works as ${own}. Switch back to open other pages of that account.`
        : 'Requests are paused until you sign in again. Your input is kept.'}
    </Banner>
  )
}
