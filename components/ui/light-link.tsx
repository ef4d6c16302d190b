'use client'
import { useRouter } from 'next/navigation'
import type { ComponentProps } from 'react'

interface LightLinkProps extends ComponentProps<'a'> {
  href: string
}

/** A link as next/link makes it, but without what that does for prefetching: rows that scroll by hold hundreds. */
export const LightLink = ({ href, ...rest }: LightLinkProps) => {
  const router = useRouter()
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
        if (event.defaultPrevented || !isPlain || event.button !== 0) return
        event.preventDefault()
        router.push(href)
      }}
    />
  )
}
