'use client'
import { type ReactNode, useEffect, useRef, useState } from 'react'

interface WhenNearProps {
  /** About how high the content will be, so that the page does not grow under the reader; a CSS length. */
  minHeight: string
  children: ReactNode
}

/** Draws its content once the reader comes near: what is far down the page costs nothing before. */
export const WhenNear = ({ minHeight, children }: WhenNearProps) => {
  const place = useRef<HTMLDivElement>(null)
  const [isNear, setIsNear] = useState(false)
  useEffect(() => {
    if (!place.current || isNear) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setIsNear(true), {
      rootMargin: '300px',
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [isNear])
  return isNear ? children : <div ref={place} style={{ minHeight }} />
}
