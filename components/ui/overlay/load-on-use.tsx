'use client'
import { type ComponentType, useEffect, useState } from 'react'

/**
 * A component whose code the page downloads when it is first drawn; with a property `open`, when that is first true.
 * Until then it draws nothing. When the download fails (no network, or a console that was updated meanwhile), it says so
 * and offers to load the page again.
 */
export const loadOnUse = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  let loaded: ComponentType<Props> | undefined
  return (props) => {
    const [Drawn, setDrawn] = useState(() => loaded)
    const [hasFailed, setHasFailed] = useState(false)
    const isUsed = !('open' in props) || props.open === true
    useEffect(() => {
      if (Drawn || !isUsed) return
      let isGone = false
      load().then(
        (component) => {
          loaded = component
          if (!isGone) setDrawn(() => component)
        },
        () => !isGone && setHasFailed(true),
      )
      return () => {
        isGone = true
      }
    }, [Drawn, isUsed])
    if (Drawn) return <Drawn {...props} />
    return hasFailed ? <NotLoaded /> : null
  }
}

const NotLoaded = () => (
  <div
    role="alert"
    className="fixed right-4 bottom-4 z-50 flex max-w-96 items-center gap-3 rounded-md bg-overlay p-3 shadow-overlay"
  >
    <p>This part of the console could not be loaded.</p>
    <button type="button" onClick={() => location.reload()} className="text-accent hover:underline">
      Load the page again
    </button>
  </div>
)
