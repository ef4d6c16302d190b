'use client'
import { type ComponentType, useEffect, useState } from 'react'

/**
 * A component whose code the page downloads when it is first drawn; with a property `open`, when that is first true.
 * Until then it draws nothing. A download that fails, as a browser lets all fail whose network changes, is begun once
 * more by itself. When that fails too (no network, or a console that was updated meanwhile), it says so, and offers to
 * try again, which keeps what is typed, or to load the page again.
 */
export const loadOnUse = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  let loaded: ComponentType<Props> | undefined
  return (props) => {
    const [Drawn, setDrawn] = useState(() => loaded)
    const [failures, setFailures] = useState(0)
    const isUsed = !('open' in props) || props.open === true
    useEffect(() => {
      if (Drawn || !isUsed || failures === 2) return
      let isGone = false
      load().then(
        (component) => {
          loaded = component
          if (!isGone) setDrawn(() => component)
        },
        () => !isGone && setFailures((count) => count + 1),
      )
      return () => {
        isGone = true
      }
    }, [Drawn, isUsed, failures])
    if (Drawn) return <Drawn {...props} />
    return failures === 2 ? <NotLoaded tryAgain={() => setFailures(0)} /> : null
  }
}

const NotLoaded = ({ tryAgain }: { tryAgain: () => void }) => (
  <div
    role="alert"
    className="fixed right-4 bottom-4 z-50 flex max-w-96 items-center gap-3 rounded-md bg-overlay p-3 shadow-overlay"
  >
    <p>This part of the console could not be loaded.</p>
    <button type="button" onClick={tryAgain} className="text-accent hover:underline">
      Try again
    </button>
    <button type="button" onClick={() => location.reload()} className="text-accent hover:underline">
      Load the page again
    </button>
  </div>
)
