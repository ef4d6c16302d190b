'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { accountChange, isPageAccount, setAccountChanged } from '#lib/browser/api/page-account.ts'
import { sessionMutations, sessionQueries } from '#lib/browser/queries/session.ts'

/** A part of the page that the server drew. Of another account than the page's own it is not shown. */
export const PageOfAccount = ({ id, children }: { id: string; children: ReactNode }) => {
  const isOwn = isPageAccount(id)
  useEffect(() => {
    if (!isOwn) setAccountChanged(true)
  }, [isOwn])
  return isOwn && children
}

/** Says that the browser was signed in to another account elsewhere. What was typed stays on the page. */
export const AccountChanged = ({ name }: { name: string }) => {
  const isOther = useSyncExternalStore(accountChange.subscribe, accountChange.getSnapshot, () => false)
  return isOther && <OtherAccount name={name} />
}

const OtherAccount = ({ name }: { name: string }) => {
  // Navigation draws the frame anew with the other account's name.
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
  const kept = data?.others?.find(({ id }) => isPageAccount(id))
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
          {kept ? (
            <Button size="sm" busy={switchBack.isPending} onClick={() => switchBack.mutate(kept.id)}>
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
      {kept
        ? 'What is open here is still read and written as the former; to open its other pages, switch back.'
        : 'Nothing is sent from here until then, and what you typed stays.'}
    </Banner>
  )
}
