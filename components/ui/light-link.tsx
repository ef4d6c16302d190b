'use client'
import { useRouter } from 'next/navigation'
import { type ComponentProps, type MouseEvent, useCallback } from 'react'

interface LightLinkProps extends ComponentProps<'a'> {
  href: string
}

/** A link as next/link makes it, but without what that does for prefetching: rows that scroll by hold hundreds. */
export const LightLink = ({ href, ...rest }: LightLinkProps) => {
  const router = useRouter()
  // The same function for every address: a listener given anew with each draw is what the garbage collector sees most of.
  const follow = useCallback(
    (event: MouseEvent<HTMLAnchorElement>) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
      if (event.defaultPrevented || !isPlain || event.button !== 0) return
      event.preventDefault()
      router.push(event.currentTarget.getAttribute('href') ?? '')
    },
    [router],
  )
  return <a {...rest} href={href} onClick={follow} />
}
