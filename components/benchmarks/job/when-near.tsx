'use client'
import { type ReactNode, useEffect, useRef, useState } from 'react'

interface WhenNearProps {
  /** Reserves space so that the page does not jump. */
  minHeight: string
  children: ReactNode
}

/** Renders its content once it is near the viewport. */
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
