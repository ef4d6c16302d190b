'use client'
import { ArrowDown } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'

interface FollowedLogProps {
  label: string
  end: unknown
  className: string
  /** False if the reader came for one line of the log. */
  startsAtEnd?: boolean
  onFollowing?: (isFollowing: boolean) => void
  endWord?: string
  region?: RefObject<HTMLDivElement | null>
  children: ReactNode
}

/** Scrolls to new lines unless the reader has scrolled up. */
export const FollowedLog = ({
  label,
  end,
  className,
  startsAtEnd = true,
  onFollowing,
  endWord = 'Follow the end',
  region: given,
  children,
}: FollowedLogProps) => {
  const own = useRef<HTMLDivElement>(null)
  const region = given ?? own
  const content = useRef<HTMLDivElement>(null)
  const [isFollowing, setIsFollowing] = useState(startsAtEnd)
  // A ref: rows that come into view are measured before React renders.
  const following = useRef(startsAtEnd)
  const follow = (next: boolean) => {
    following.current = next
    if (next === isFollowing) return
    setIsFollowing(next)
    onFollowing?.(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: appended lines
  useLayoutEffect(() => {
    const box = region.current
    if (isFollowing && box) box.scrollTop = box.scrollHeight
    if (!isFollowing && box && box.scrollHeight <= box.clientHeight) follow(true)
  }, [end, isFollowing])
  useEffect(() => {
    if (!content.current) return
    // Lines have their real height only once in view.
    const observer = new ResizeObserver(() => {
      if (following.current) region.current?.scrollTo({ top: region.current.scrollHeight })
    })
    observer.observe(content.current)
    return () => observer.disconnect()
  }, [region])
  return (
    <div className="relative">
      <div
        ref={region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling needs keyboard access
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          follow(scrollHeight - scrollTop - clientHeight < 8)
        }
        className={classes('overflow-auto -outline-offset-2', className)}
      >
        <div ref={content}>{children}</div>
      </div>
      {!isFollowing && (
        <Button
          size="sm"
          icon={ArrowDown}
          className="absolute right-5 bottom-3 shadow-overlay"
          onClick={() => follow(true)}
        >
          {endWord}
        </Button>
      )}
    </div>
  )
}
