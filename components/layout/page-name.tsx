'use client'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'

interface PageName {
  /** Id and name of what the page shows. */
  shown: { id: string; name: string } | undefined
  show: (shown: PageName['shown']) => void
}

const Context = createContext<PageName>({ shown: undefined, show: () => {} })

/** Around a page and its frame, so that the frame can call by its name what the page shows. */
export const PageNameProvider = ({ children }: { children: ReactNode }) => {
  const [shown, show] = useState<PageName['shown']>()
  return <Context value={useMemo(() => ({ shown, show }), [shown])}>{children}</Context>
}

/** The name of the thing with this id, once the page that shows it has read it. */
export const usePageName = (id: string | undefined): string | undefined => {
  const { shown } = useContext(Context)
  return shown?.id === id ? shown?.name : undefined
}

/** Tells the frame what the page shows, while the component lives. What has no name is called by its id. */
export const useShownName = ({ id, name }: { id?: string; name?: string | null | undefined } = {}) => {
  const { show } = useContext(Context)
  useEffect(() => {
    if (!id || !name) return
    show({ id, name })
    return () => show(undefined)
  }, [id, name, show])
}
