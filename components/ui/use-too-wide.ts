'use client'
import { useEffect, useRef, useState } from 'react'

/** Whether the element `wrapper` is put on is narrower than what stands in it. */
export const useTooWide = (contentWidth: number) => {
  const wrapper = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY)
  useEffect(() => {
    if (!wrapper.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    observer.observe(wrapper.current)
    return () => observer.disconnect()
  }, [])
  return { wrapper, isTooWide: width < contentWidth }
}
