import { type ReactNode, useLayoutEffect, useRef } from 'react'

/** Extends to the bottom of the window. */
export const TerminalArea = ({ children }: { children: ReactNode }) => {
  const area = useRef<HTMLDivElement>(null)
  // Notices above change its position.
  useLayoutEffect(() => {
    const element = area.current
    const main = element?.closest('main')
    if (!element || !main) return
    const measure = () => {
      const top = element.getBoundingClientRect().top + window.scrollY
      element.style.setProperty('--terminal-top', `${Math.round(top)}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(main)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={area} className="h-[max(20.5rem,calc(100dvh-var(--terminal-top,20rem)-1.75rem))]">
      {children}
    </div>
  )
}
