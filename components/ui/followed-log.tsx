'use client'
import { ArrowDown } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'

interface FollowedLogProps {
  label: string
  /** Changes whenever the end moves. */
  end: unknown
  className: string
  /** False for a person who comes for one place in the log and does not want to be carried away from it. */
  startsAtEnd?: boolean
  onFollowing?: (isFollowing: boolean) => void
  /** On the button that leads back to the end. */
  endWord?: string
  region?: RefObject<HTMLDivElement | null>
  children: ReactNode
}

/** What scrolls and grows at its end; follows the end unless the reader has scrolled away from it. */
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
  // Known at once: what comes into view as a reader scrolls away is measured before React draws that.
  const following = useRef(startsAtEnd)
  const follow = (next: boolean) => {
    following.current = next
    if (next === isFollowing) return
    setIsFollowing(next)
    onFollowing?.(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what moves the end
  useLayoutEffect(() => {
    const box = region.current
    if (isFollowing && box) box.scrollTop = box.scrollHeight
    // What fits whole is at its end.
    if (!isFollowing && box && box.scrollHeight <= box.clientHeight) follow(true)
  }, [end, isFollowing])
  useEffect(() => {
    if (!content.current) return
    // Lines are as tall as they are only once they are in view.
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
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
